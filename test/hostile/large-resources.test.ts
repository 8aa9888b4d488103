/** Records that share a resource with much text: a small request, which queries must not expand to gigabytes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const traceId = "ab".repeat(16);
const records = 20_000;

async function call(path: string, body?: object): Promise<{ status: number; bytes: number }> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${server.placeholders["key"]}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  let bytes = 0;
  for await (const piece of response.body!) bytes += piece.length;
  return { status: response.status, bytes };
}

function resourceOf(length: number): object {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  return { attributes: [attribute("service.name", "large"), attribute("blob", "x".repeat(length))] };
}

function logs(length: number): object {
  const now = BigInt(Date.now()) * 1_000_000n;
  const logRecords = Array.from({ length: records }, (_, index) => ({
    timeUnixNano: `${now + BigInt(index)}`,
    traceId,
    body: { stringValue: "a" },
  }));
  return { resourceLogs: [{ resource: resourceOf(length), scopeLogs: [{ logRecords }] }] };
}

function spans(length: number): object {
  const now = BigInt(Date.now()) * 1_000_000n;
  const list = Array.from({ length: records }, (_, index) => ({
    traceId,
    spanId: (index + 1).toString(16).padStart(16, "0"),
    name: "a",
    startTimeUnixNano: `${now}`,
    endTimeUnixNano: `${now + BigInt(index)}`,
  }));
  return { resourceSpans: [{ resource: resourceOf(length), scopeSpans: [{ spans: list }] }] };
}

/** Answered within the limits, or refused because of them. */
function assertBounded(path: string, { status, bytes }: { status: number; bytes: number }): void {
  assert.ok([200, 413, 429, 503].includes(status), `${path} is answered with ${status}`);
  assert.ok(bytes < 32_000_000, `${path} is answered with ${bytes} bytes`);
}

describe("a resource with much text", { timeout: 180_000 }, () => {
  test("is refused if it is larger than 64 KiB, and otherwise read with little memory", async () => {
    const refused = await call("/v1/logs", logs(1_000_000));
    assert.ok(refused.status === 200 && refused.bytes > 100, "the answer says that the records are rejected");
    assert.equal((await call("/v1/logs", logs(60_000))).status, 200);
    assert.equal((await call("/v1/traces", spans(60_000))).status, 200);
    const report = await attack(server, async () => {
      const query = (text: string): string => `/loki/api/v1/query_range?limit=5000&query=${encodeURIComponent(text)}`;
      for (const path of [
        query('{service_name="large"}'),
        query('{service_name="large"} | json | line_format `{{.blob}}`'),
        query('sum by (blob) (count_over_time({service_name="large"} | logfmt [1h]))'),
        `/tempo/api/traces/${traceId}`,
        `/tempo/api/v2/traces/${traceId}`,
        `/tempo/api/search?q=${encodeURIComponent('{ resource.blob =~ "x+" }')}`,
      ]) {
        assertBounded(path, await call(path));
      }
      const body = { time_window: "1h", detail: true, limit: 1000 };
      assertBounded("/observability/logs", await call("/observability/logs", body));
    });
    assertUnharmed(report, { maximumPeakBytes: 600_000_000 });
  });
});
