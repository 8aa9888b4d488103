/** Queries of spend with hostile groups, filters and ranges, over calls that have nothing in common. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
const calls = 20_000;

beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const hourNanos = 3_600_000_000_000n;
  for (let hour = 0; hour < 4; hour += 1) {
    const end = BigInt(Date.now()) * 1_000_000n - BigInt(hour) * hourNanos;
    const spans = Array.from({ length: calls / 4 }, (_, index) => ({
      traceId: "ab".repeat(16),
      spanId: (hour * calls + index + 1).toString(16).padStart(16, "0"),
      name: "chat",
      startTimeUnixNano: `${end - 1_000_000n}`,
      endTimeUnixNano: `${end - BigInt(index) * 1000n}`,
      attributes: [
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.request.model", `model ${index}`),
        attribute("user.id", `user ${hour} ${index} ${"x".repeat(100)}`),
        attribute("sounding.metadata.team", `' OR 1=1 -- ${index}`),
        { key: "gen_ai.usage.cost", value: { doubleValue: 999_999.999_999_999 } },
      ],
    }));
    const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans }] }] };
    assert.equal((await call("/v1/traces", {}, body)).status, 200);
  }
});

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

async function call(path: string, query: Readonly<Record<string, string>> = {}, body?: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${server.placeholders["key"]}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, bytes: text.length, text };
}

const longest = { start: "2024-01-01", end: "2026-12-31", time_zone: "Pacific/Chatham" };
const injections = ["'; DROP TABLE spans; --", "\\' OR 1=1", "{p0:String}", "\0", "\ud800", "💸".repeat(60), "a,b:c"];

describe("a query of spend", { timeout: 300_000 }, () => {
  test("with hostile names and values is refused or finds nothing, and harms nobody", async () => {
    const report = await attack(server, async () => {
      for (const text of injections) {
        const queries: Record<string, string>[] = [
          { by: text },
          { by: `tag:${text}` },
          { model: text, by: "model" },
          { user_id: text, by: "user" },
          { key_id: text.slice(0, 64) },
          { tags: JSON.stringify({ [text.slice(0, 64)]: text }) },
          { time_zone: text },
          { organization_id: text },
        ];
        for (const query of queries) {
          const { bytes, status } = await call("/observability/spend", query);
          assert.ok([200, 400, 403].includes(status), `${JSON.stringify(query)} is answered with ${status}`);
          assert.ok(bytes < 100_000, `${bytes} bytes`);
        }
      }
      for (const query of [
        { tags: "[".repeat(10_000) },
        { tags: JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`t${index}`, ""]))) },
        { by: "tag:a,".repeat(1000) },
        { by: `tag:${"x".repeat(5000)}` },
        { user_id: "x".repeat(5000) },
      ]) {
        const { status } = await call("/observability/spend", query);
        assert.ok([400, 431].includes(status), `${status}`);
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });

  test("with as many groups and days as it may have is bounded, and its sums are exact", async () => {
    const report = await attack(server, async () => {
      const queries = [
        { by: "user,model,tag:team,day", limit: "10000", ...longest },
        { by: "user,tag:team,tag:none,day", limit: "10000", ...longest },
        { by: "day", ...longest },
        { by: "user", limit: "1", time_window: "30d" },
      ];
      const answers = await Promise.all(
        [...queries, ...queries].map((query) => call("/observability/spend", query as Record<string, string>)),
      );
      for (const { bytes, status, text } of answers) {
        // Eight at a time may have to wait for a place.
        assert.ok(status === 200, text.slice(0, 500));
        assert.ok(bytes < 8_000_000, `${bytes} bytes`);
        const { totals } = JSON.parse(text) as { totals: { cost: string; calls: number }[] };
        assert.deepEqual(
          totals.map((total) => [total.cost, total.calls]),
          [["19999999999.99998", calls]],
        );
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 400_000_000 });
  });
});
