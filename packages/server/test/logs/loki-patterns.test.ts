import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, property, string } from "fast-check";
import { compileLinePattern } from "@sounding/logql/pipeline/line-pattern";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { placeholder, tokenize } from "../../src/query/loki-api/patterns/line-tokens.ts";
import { PatternMiner } from "../../src/query/loki-api/patterns/pattern-miner.ts";
import { appendLogs } from "./log-records.ts";
import { startLokiServer, type LokiServer } from "./loki-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

function patternsOf(lines: readonly string[]): Record<string, number> {
  const miner = new PatternMiner();
  for (const line of lines) miner.add(line, 0);
  return Object.fromEntries(miner.patterns().map(({ counts, pattern }) => [pattern, counts.get(0) ?? 0]));
}

describe("what varies in a line is masked", () => {
  const cases: Record<string, string> = {
    "2024-05-01T10:00:00.123Z level=info msg=ready": "<_> level=info msg=ready",
    "2024-05-01 10:00:00,123 [main] INFO started in 1.5s": "<_> [main] INFO started in <_>",
    "client 10.0.0.12:5432 closed after 200ms, sent 1.2KiB (95%)": "client <_> closed after <_>, sent <_> (<_>)",
    "order 0af7651916cd43dd8448eb211c80319c failed: code=-3": "order <_> failed: code=<_>",
    "request 123e4567-e89b-12d3-a456-426614174000 done": "request <_> done",
    "GET /api/v1/items via http2 and utf8": "GET /api/v1/items via http2 and utf8",
    "jumps from 0x1f to node-17.eu": "jumps from <_> to node<_>.eu",
  };
  for (const [line, pattern] of Object.entries(cases)) {
    test(line, () => assert.equal(tokenize(line)?.join(""), pattern));
  }

  test("a line without words, a very long line and one of very many tokens have no pattern", () => {
    for (const line of ["", "123 456", "---", "x".repeat(5000), "a,".repeat(200)])
      assert.equal(tokenize(line), undefined);
  });
});

describe("lines of the same statement are one pattern", () => {
  test("with placeholders where they differ", () => {
    const users = ["ann", "bob", "cem"];
    const lines = users.flatMap((user) => [
      `user ${user} has signed in from mobile`,
      `cannot open file for user ${user}: denied`,
    ]);
    assert.deepEqual(patternsOf(lines), {
      "user <_> has signed in from mobile": 3,
      "cannot open file for user <_>: denied": 3,
    });
  });

  test("but not if most words or a separator differ", () => {
    assert.equal(Object.keys(patternsOf(["one two three four", "alpha beta gamma four"])).length, 2);
    assert.equal(Object.keys(patternsOf(["a b: c d", "a b, c d"])).length, 2);
  });

  test("by the message, if the line is JSON", () => {
    const lines = [1, 2].map((id) => JSON.stringify({ ts: `2024-05-0${id}`, msg: `user ${id} said "hi"`, id }));
    const [pattern, ...others] = Object.keys(patternsOf(lines));
    assert.deepEqual(others, []);
    assert.equal(pattern, String.raw`<_>"user <_> said \"hi\""<_>`);
    for (const line of lines) assert.equal(compileLinePattern(pattern)(line, neverYield), true);
  });

  test("and text that looks like a named capture is masked as well", () => {
    assert.deepEqual(patternsOf(["value is <nil> for key"]), { "value is <_> for key": 1 });
  });
});

test("a pattern matches the lines that it was found in, whatever they are", () => {
  const words = constantFrom(
    "user",
    "GET",
    "/api/v1",
    "<_>",
    "<nil>",
    "10.0.0.1",
    "17ms",
    "=",
    '"',
    " ",
    "é",
    "😀",
    "2024-01-01",
    "{",
  );
  const lines = array(array(words, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });
  check(
    property(lines, string(), (some, noise) => {
      for (const parts of some) {
        const line = `${parts.join(" ")}${noise.slice(0, 3)}`;
        const found = Object.keys(patternsOf([line]));
        for (const pattern of found) {
          assert.equal(compileLinePattern(pattern)(line, neverYield), true, `${pattern} does not match ${line}`);
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

test("memory and time are bounded for lines that have nothing in common", () => {
  const miner = new PatternMiner();
  let work = 0;
  for (let index = 0; index < 20_000; index += 1) {
    const letters = index.toString(26).replaceAll(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)]!);
    work += miner.add(`${letters} ${letters}a ${letters}b`, index % 7);
  }
  assert.ok(miner.patterns().length <= 300);
  assert.ok(work < 20_000 * 500);
});

describe("patterns over HTTP", () => {
  const minute = 60_000_000_000n;
  const endNano = (BigInt(Date.now()) / 3_600_000n) * 60n * minute;
  const range = { start: String(endNano - 60n * minute), end: String(endNano), step: "10m" };
  let server: LokiServer;
  beforeTests(async (stack) => {
    server = stack.use(await startLokiServer());
    const records = Array.from({ length: 600 }, (_, index) => ({
      unixNano: endNano - BigInt(index + 1) * (minute / 10n),
      recordId: BigInt(index + 1),
      service: "checkout",
      severityNumber: index % 10 === 0 ? 17 : 9,
      body: index % 10 === 0 ? `payment ${index} was refused` : `order ${index} took ${index}ms`,
    }));
    await appendLogs(server.store, "org_a", records);
  });

  test("have counts by step and level, and find their lines with |>", async () => {
    const { body, status } = await server.get("patterns", { ...range, query: '{service_name="checkout"}' });
    assert.equal(status, 200);
    assert.equal(body.status, "success");
    const start = Number(endNano / 1_000_000_000n) - 3600;
    assert.deepEqual(body.data, [
      {
        pattern: `order ${placeholder} took ${placeholder}`,
        level: "info",
        samples: Array.from({ length: 6 }, (_, index) => [start + index * 600, 90]),
      },
      {
        pattern: `payment ${placeholder} was refused`,
        level: "error",
        samples: Array.from({ length: 6 }, (_, index) => [start + index * 600, 10]),
      },
    ]);
    const query = `sum(count_over_time({service_name="checkout"} |> \`${body.data[1].pattern}\` [61m]))`;
    const counted = await server.get("query", { query, time: range.end });
    assert.equal(counted.body.data.result[0].value[1], "60");
  });

  test("are estimated from a sample where there are many entries, and spread over the steps", async () => {
    const records = Array.from({ length: 12_000 }, (_, index) => ({
      unixNano: endNano - BigInt(index + 1) * (minute / 200n),
      recordId: BigInt(index + 1),
      service: "busy",
      severityNumber: 9,
      body: `order ${index} took ${index}ms`,
    }));
    await appendLogs(server.store, "org_busy", records);
    const parameters = { ...range, query: '{service_name="busy"}', step: "1m" };
    const { body } = await server.get("patterns", parameters, "org_busy");
    const [{ samples }] = body.data as [{ samples: [number, number][] }];
    assert.equal(samples.length, 60);
    const total = samples.reduce((sum, [, count]) => sum + count, 0);
    assert.ok(Math.abs(total - 12_000) < 60, String(total));
    for (const [, count] of samples) assert.ok(count > 100 && count < 320, String(count));
    const filtered = await server.get(
      "patterns",
      { ...parameters, query: `${parameters.query} | label_format a="b"` },
      "org_busy",
    );
    const [{ samples: others }] = filtered.body.data as [{ samples: [number, number][] }];
    assert.deepEqual(others, samples);
  });

  test("are found in the lines around a burst, and in lines that need more memory than a statement may", async () => {
    const at = (index: number): bigint => endNano - 50n * minute - BigInt(index) * 1_000_000n;
    const records = Array.from({ length: 300 }, (_, index) => ({
      unixNano: index === 0 ? endNano - minute : at(index),
      recordId: BigInt(index + 1),
      service: "long",
      severityNumber: 9,
      body: index % 10 === 9 ? `order ${index} ${"x".repeat(400_000)}` : `order ${index} took ${index}ms`,
    }));
    await appendLogs(server.store, "org_long", records);
    const { body, status } = await server.get("patterns", { ...range, query: '{service_name="long"}' }, "org_long");
    assert.equal(status, 200);
    const start = Number(endNano / 1_000_000_000n) - 3600;
    assert.deepEqual(body.data[0].samples, [
      [start + 600, 269],
      [start + 3000, 1],
    ]);
  });

  test("refuse a metric query and too many steps", async () => {
    for (const [parameters, message] of [
      [{ query: "vector(1)" }, /metric query/],
      [{ query: '{a="b"}', step: "1s", start: "1" }, /step/],
      [{}, /query is missing/],
    ] as const) {
      const { body, status } = await server.get("patterns", { ...range, ...parameters });
      assert.equal(status, 400);
      assert.match(body.message, message);
    }
  });
});
