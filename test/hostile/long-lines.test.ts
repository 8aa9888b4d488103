/** Long log lines that are read again and again: they must not use up the telemetry store for everyone. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { beforeTests } from "../support/hooks.ts";
import { childProcesses } from "../support/child-processes.ts";
import { startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const lines: readonly string[] = [
  " ".repeat(700_000),
  "1.1.1.1 ".repeat(90_000),
  `{"a":[${"1,".repeat(300_000)}1]}`,
  Array.from({ length: 40_000 }, (_, index) => `k${index}=v${index}`).join(" "),
];
const queries = [
  '{service_name=~"h."} | line_format `x`',
  '{service_name="h1"} |= ip("2.0.0.0/8")',
  '{service_name="h2"} | json',
];

async function call(path: string, key: string, body?: object): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

function storeBytes(): number {
  const [store] = childProcesses(/embedded/, server.pid);
  return store === undefined ? 0 : Number(readFileSync(`/proc/${store}/statm`, "utf8").split(" ")[1]) * 4096;
}

describe("long log lines", { timeout: 180_000 }, () => {
  test("that are read again and again do not use up the store", async () => {
    const attacker = server.placeholders["key"]!;
    for (const [kind, line] of lines.entries()) {
      for (let each = 0; each < 3; each += 1) {
        const values = Array.from({ length: 8 }, (_, index) => [
          `${BigInt(Date.now()) * 1_000_000n + BigInt(index)}`,
          line,
        ]);
        const streams = [{ stream: { service_name: `h${kind}` }, values }];
        assert.equal(await call("/loki/api/v1/push", attacker, { streams }), 204);
      }
    }
    let peakBytes = 0;
    for (let round = 0; round < 12; round += 1) {
      const path = `/loki/api/v1/query_range?limit=100&query=${encodeURIComponent(queries[round % queries.length]!)}`;
      await call(path, attacker);
      peakBytes = Math.max(peakBytes, storeBytes());
    }
    assert.ok(peakBytes < 1_400_000_000, `the store took ${peakBytes} bytes`);
    // A store without memory is replaced within seconds.
    const path = `/loki/api/v1/query_range?limit=100&query=${encodeURIComponent(queries[0]!)}`;
    const startMs = performance.now();
    for (let status = 0; status !== 200; status = await call(path, attacker)) {
      assert.ok(performance.now() - startMs < 30_000, `queries are still answered with ${status}`);
      await delay(250);
    }
    assert.equal(await call("/observability/logs", server.neighborKey, { limit: 1 }), 200);
  });
});
