/** Small requests that say the same many times: entries of a log stream, and metrics of one name with many descriptions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { compress } from "snappyjs";
import { varint } from "../fuzz/protobuf-messages.ts";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${server.placeholders["key"]}`);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers });
  return { status: response.status, text: await response.text() };
}

function bytes(field: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(content.length)), content]);
}
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));

/** A push of one stream with equal entries. */
function equalEntries(count: number, pairs: number): Buffer {
  const time = bytes(1, Buffer.from([8]), varint(BigInt(Math.floor(Date.now() / 1000))));
  const metadata = Array.from({ length: pairs }, (_, index) => bytes(3, text(1, `k${index}`), text(2, "v")));
  const entry = bytes(2, time, text(2, "x"), ...metadata);
  return bytes(1, text(1, '{app="repeats"}'), Buffer.alloc(entry.length * count, entry));
}

describe("the same, many times", { timeout: 180_000 }, () => {
  for (const [count, pairs] of [
    [500_000, 0],
    [250_000, 20],
  ] as const) {
    test(`${count} equal log entries with ${pairs} pairs of metadata`, async () => {
      const body = Buffer.from(compress(equalEntries(count, pairs)));
      const report = await attack(server, async () => {
        const { status, text: answer } = await call("/loki/api/v1/push", {
          method: "POST",
          headers: { "content-type": "application/x-protobuf" },
          body,
        });
        assert.equal(status, 204, answer);
      });
      assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
    });
  }

  test("20,000 metrics of one name, whose metadata is listed", async () => {
    const now = BigInt(Date.now()) * 1_000_000n;
    for (let at = 0; at < 20_000; at += 5_000) {
      const metrics = Array.from({ length: 5_000 }, (_, index) => ({
        name: "same_name",
        unit: `{u${at + index}}`,
        description: `${"d".repeat(100)}${at + index}`,
        gauge: { dataPoints: [{ timeUnixNano: `${now}`, asDouble: 1 }] },
      }));
      const { status } = await call("/v1/metrics", {
        method: "POST",
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
        body: gzipSync(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })),
      });
      assert.equal(status, 200);
    }
    const report = await attack(server, async () => {
      const { status, text: answer } = await call("/prometheus/api/v1/metadata?metric=same_name");
      assert.equal(status, 200, answer);
      assert.equal((JSON.parse(answer) as { data: { same_name: unknown[] } }).data.same_name.length, 20_000);
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });
});
