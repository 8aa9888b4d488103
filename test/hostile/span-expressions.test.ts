/** Regular expressions of PromQL over spans with long names, each of which would take the store seconds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
const spans = 20;
/** As if by chance. */
const text = Array.from({ length: 400_000 }, (_, index) =>
  ((index * index * 7919) % 104_729) % 2 === 0 ? "a" : "b",
).join("");

async function call(
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${server.placeholders["key"]}`, "content-type": "application/json" },
    signal: signal ?? null,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

function query(endpoint: string, parameters: Readonly<Record<string, string>>, signal?: AbortSignal) {
  return call(`/prometheus/api/v1/${endpoint}?${new URLSearchParams(parameters).toString()}`, undefined, signal);
}

beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
  for (let request = 0; request < spans; request += 10) {
    const now = BigInt(Date.now()) * 1_000_000n;
    const sent = Array.from({ length: 10 }, (_, index) => ({
      traceId: "ab".repeat(16),
      spanId: (request + index + 1).toString(16).padStart(16, "0"),
      name: `${index}${text}`,
      startTimeUnixNano: `${now - 1_000_000n}`,
      endTimeUnixNano: `${now}`,
    }));
    const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans: sent }] }] };
    assert.equal((await call("/v1/traces", body)).status, 200);
  }
});

/** Which of the last 400 characters counted, no automaton of bounded size remembers. */
const hostile = '{span_name=~".[ab]*a[ab]{400}c"}';

describe("metrics over spans with long names", { timeout: 300_000 }, () => {
  test("match regular expressions in slices, and end with their request", async () => {
    const report = await attack(server, async () => {
      const patience = AbortSignal.timeout(4000);
      const selectors = [
        `count(traces_spanmetrics_calls_total${hostile})`,
        `sum(rate(traces_spanmetrics_calls_total${hostile}[5m]))`,
        `count(traces_spanmetrics_latency_bucket${hostile.replace("=~", "!~")})`,
      ];
      const answers = await Promise.allSettled(selectors.map((each) => query("query", { query: each }, patience)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        answers.map(() => "rejected"),
      );
      // The store is idle again.
      assert.equal((await query("query", { query: "count(traces_spanmetrics_calls_total)" })).status, 200);
    });
    assertUnharmed(report, { maximumPeakBytes: 600_000_000 });
  });

  test("charge the names of each bucket", async () => {
    const report = await attack(server, async () => {
      const selector = { query: "count(traces_spanmetrics_latency_bucket)" };
      const answers = await Promise.all(Array.from({ length: 3 }, () => query("query", selector)));
      for (const { status, text } of answers) assert.ok([200, 400, 413, 429, 503].includes(status), text.slice(0, 500));
    });
    assertUnharmed(report, { maximumPeakBytes: 700_000_000 });
  });
});
