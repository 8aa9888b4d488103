/** Generated queries: each has a result, or an error that says why not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "@sounding/promql/query-error";
import { queryLogqlInstant, queryLogqlRange } from "../src/engine.ts";
import type { LogqlResult } from "../src/query-result.ts";
import { MemoryLogStorage } from "../src/memory-storage.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const second = 1_000_000_000n;

describe("any query", () => {
  const storage = (): MemoryLogStorage => {
    const lines = [
      "a=1 b=x",
      '{"a":2,"b":{"c":[1]}}',
      "GET /x 200 12ms",
      "",
      "\u0000\uD800",
      "a=NaN b=+Inf",
      "a=1e999",
    ];
    const all = new MemoryLogStorage();
    for (const [index, line] of lines.entries()) {
      const structuredMetadata = ["a", String(index), "level", "info"];
      all.add({ app: index % 2 === 0 ? "x" : "y", a: "s" }, [
        { unixNano: BigInt(index) * second, line, structuredMetadata },
      ]);
    }
    return all;
  };

  const stage = fc.constantFrom(
    '|= "a"',
    '!~ "G.T"',
    '|> "<_> /x <_>"',
    "| json",
    '| json c="b.c[0]"',
    "| logfmt",
    "| logfmt --strict",
    '| regexp "(?P<verb>\\\\w+) (?P<a>.*)"',
    '| pattern "<verb> <path> <_>"',
    "| unpack",
    '| a="1"',
    "| a > 1",
    "| b > 10ms or a <= 1KB",
    '| __error__=""',
    '| line_format "{{.a}}{{.b | ToUpper}}"',
    '| label_format a=b, c="{{.a}}!"',
    "| decolorize",
    "| drop a, b",
    '| keep a, app="x"',
  );
  const logQuery = fc.array(stage, { maxLength: 4 }).map((stages) => ['{app=~".+"}', ...stages].join(" "));
  const grouping = fc.constantFrom("", "by (a)", "by ()", "without (a, app)", "without ()");
  const window = fc.constantFrom("[1s]", "[5s]", "[1m] offset 1s", "[1ms] offset -1m", "[1y]");
  const rangeAggregation = fc.oneof(
    fc
      .tuple(
        fc.constantFrom("rate", "count_over_time", "bytes_rate", "bytes_over_time", "absent_over_time"),
        logQuery,
        window,
      )
      .map(([name, query, of]) => `${name}(${query} ${of})`),
    fc
      .tuple(
        fc.constantFrom(
          "avg_over_time(",
          "max_over_time(",
          "stddev_over_time(",
          "first_over_time(",
          "quantile_over_time(0.5,",
          "quantile_over_time(7,",
        ),
        logQuery,
        fc.constantFrom("unwrap a", "unwrap duration(b)", 'unwrap bytes(a) | __error__=""'),
        window,
        grouping,
      )
      .map(([name, query, unwrap, of, by]) => `${name} ${query} | ${unwrap} ${of}) ${by}`),
    fc
      .tuple(fc.constantFrom("rate", "rate_counter", "sum_over_time"), logQuery, window)
      .map(([name, query, of]) => `${name}(${query} | unwrap a ${of})`),
  );
  const { metric } = fc.letrec<{ metric: string }>((tie) => ({
    metric: fc.oneof(
      { depthSize: "small" },
      rangeAggregation,
      fc.constantFrom("1", "0", "vector(2)", "-1.5"),
      fc
        .tuple(fc.constantFrom("sum", "avg", "min", "max", "count", "stddev", "stdvar"), grouping, tie("metric"))
        .map(([operator, by, inner]) => `${operator} ${by} (${inner})`),
      fc
        .tuple(fc.constantFrom("topk", "bottomk", "approx_topk"), fc.integer({ min: -1, max: 3 }), tie("metric"))
        .map(([operator, k, inner]) => `${operator}(${k}, ${inner})`),
      fc.tuple(fc.constantFrom("sort", "sort_desc"), tie("metric")).map(([operator, inner]) => `${operator}(${inner})`),
      tie("metric").map((inner) => `label_replace(${inner}, "b", "$1-$x", "app", "(.*)")`),
      fc
        .tuple(
          tie("metric"),
          fc.constantFrom("+", "-", "*", "/", "%", "^", "==", "!= bool", ">", "<= bool", "and", "or", "unless"),
          fc.constantFrom("", "on (app)", "ignoring (a)", "on (app) group_left ()", "ignoring (a) group_right (b)"),
          tie("metric"),
        )
        .map(([left, operator, matching, right]) => `(${left}) ${operator} ${matching} (${right})`),
    ),
  }));

  async function assertAnswered(work: Promise<LogqlResult>, query: string): Promise<void> {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof QueryError && error.code === "invalid_request", `${query}: ${String(error)}`);
    }
  }

  test("of metrics has a result or an error that says why not", () =>
    fc.assert(
      fc.asyncProperty(metric, fc.nat({ max: 100_000 }), async (query, stepMs) => {
        const times = { startUnixNano: 0n, endUnixNano: 10n * second };
        await assertAnswered(queryLogqlRange(storage(), { query, ...times, stepMs }), query);
        await assertAnswered(queryLogqlInstant(storage(), { query, timeUnixNano: 7n * second }), query);
      }),
      { numRuns: propertyRuns(400) },
    ));

  test("of logs has a result or an error that says why not", () =>
    fc.assert(
      fc.asyncProperty(
        logQuery,
        fc.constantFrom("forward", "backward"),
        fc.nat({ max: 9 }),
        async (query, direction, limit) => {
          const times = { startUnixNano: 0n, endUnixNano: 10n * second, stepMs: 1 };
          await assertAnswered(queryLogqlRange(storage(), { query, ...times, direction, limit }), query);
        },
      ),
      { numRuns: propertyRuns(200) },
    ));
});
