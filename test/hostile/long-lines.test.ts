/**
 * Long log lines that are read again and again: they must not use up the telemetry store for everyone; and lines of tens of
 * thousands of pairs, each of which would become a label.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { childProcesses } from "../support/child-processes.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const lines: readonly string[] = [
  " ".repeat(700_000),
  "a".repeat(700_000),
  "1.1.1.1 ".repeat(90_000),
  `{"a":[${"1,".repeat(300_000)}1]}`,
  Array.from({ length: 40_000 }, (_, index) => `k${index}=v${index}`).join(" "),
];
const queries = [
  '{service_name=~"h."} | line_format `x`',
  // RE2 takes seconds for each of these lines, and ends no statement meanwhile.
  '{service_name="h1"} |~ "(?:a?){900}b"',
  '{service_name="h2"} |= ip("2.0.0.0/8")',
  '{service_name="h3"} | json',
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

describe("long log lines", { timeout: 600_000 }, () => {
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
    for (let round = 0; round < 8; round += 1) {
      const path = `/loki/api/v1/query_range?limit=100&query=${encodeURIComponent(queries[round % queries.length]!)}`;
      const [, victim, ready] = await Promise.all([
        call(path, attacker),
        call("/observability/logs", server.neighborKey, { limit: 1 }),
        call("/readyz", server.neighborKey),
      ]);
      assert.deepEqual({ victim, ready }, { victim: 200, ready: 200 }, `in round ${round}`);
      peakBytes = Math.max(peakBytes, storeBytes());
    }
    assert.ok(peakBytes < 900_000_000, `the store took ${peakBytes} bytes`);
  });
});

const pairs = Array.from({ length: 40_000 }, (_, index) => index);
const members = pairs.map((index) => `"k${index}":"v"`).join();
const widePairs = {
  logfmt: pairs.map((index) => `k${index}=v`).join(" "),
  json: `{${members}}`,
  nested: `{"o":{${members}}}`,
  packed: `{${members},"_entry":"x"}`,
};
/** A few lines as they are, and the labels that they may have. */
const maximumAnswerBytes = 5_000_000;

async function read(endpoint: string, query: string): Promise<{ readonly status: number; readonly text: string }> {
  const parameters = new URLSearchParams({ query }).toString();
  const response = await fetch(`http://127.0.0.1:${server.port}/loki/api/v1/${endpoint}?${parameters}`, {
    headers: {
      authorization: `Bearer ${server.placeholders["key"]}`,
      "x-loki-response-encoding-flags": "categorize-labels",
    },
  });
  return { status: response.status, text: await response.text() };
}

describe("a line of 40,000 pairs", { timeout: 300_000 }, () => {
  beforeTests(async () => {
    for (const [name, line] of Object.entries(widePairs)) {
      for (let each = 0; each < 4; each += 1) {
        const values = [[`${BigInt(Date.now()) * 1_000_000n + BigInt(each)}`, line]];
        const streams = [{ stream: { service_name: name }, values }];
        assert.equal(await call("/loki/api/v1/push", server.placeholders["key"]!, { streams }), 204);
      }
    }
  });

  test("becomes a bounded number of labels, whichever stage reads it", async () => {
    const report = await attack(server, async () => {
      for (const [name, stages] of [
        ["logfmt", "| logfmt"],
        ["logfmt", "| logfmt | keep k1, __error__"],
        ["logfmt", "| logfmt | label_format x=`{{ .k1 }}`"],
        ["json", "| json"],
        ["nested", "| json"],
        ["packed", "| unpack"],
      ] as const) {
        const { status, text } = await read("query_range", `{service_name="${name}"} ${stages}`);
        assert.equal(status, 200, text.slice(0, 500));
        assert.match(text, /"__error__":"LabelLimitErr"/);
        assert.ok(text.length < maximumAnswerBytes, `${text.length} bytes`);
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 150_000_000 });
  });

  test("still has the one label that a metric query groups by, and fields", async () => {
    const report = await attack(server, async () => {
      const query = 'sum by (k39999) (count_over_time({service_name="logfmt"} | logfmt [5m]))';
      const { status, text } = await read("query", query);
      assert.equal(status, 200, text);
      assert.match(text, /"k39999":"v"/);
      const fields = await read("detected_fields", '{service_name="logfmt"}');
      assert.equal(fields.status, 200, fields.text);
      assert.match(fields.text, /"k1"/);
    });
    assertUnharmed(report, { maximumPeakBytes: 150_000_000 });
  });
});
