/** TraceQL metrics from outside: push-down, exemplars, hints, limits, steps. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { defaultStepNano } from "../src/metrics/intervals.ts";
import {
  queryTraceqlInstant,
  queryTraceqlRange,
  type RangeMetricsQuery,
  type RangeMetricsResult,
} from "../src/metrics/query-metrics.ts";
import type { TraceqlStorage, TraceqlTrace } from "../src/storage.ts";
import { parseQuery } from "../src/syntax/parse-query.ts";
import { printQuery } from "../src/syntax/print.ts";
import { arbitraryMetricsQuery } from "./support/arbitrary-traceql-metrics.ts";
import { arbitraryTraces, fieldsOfTraces } from "./support/arbitrary-traces.ts";
import { MemorySpanGrid } from "./support/memory-span-grid.ts";
import { MemoryTraces } from "../src/memory-storage.ts";
import { toTrace } from "./support/traces.ts";

const second = 1_000_000_000n;
const range = { startUnixNano: 1000n * second, endUnixNano: 1060n * second, stepNano: 10n * second };

function run(
  storage: TraceqlStorage,
  query: string,
  options: Partial<RangeMetricsQuery> = {},
): Promise<RangeMetricsResult> {
  return queryTraceqlRange(storage, { query: parseQuery(query), ...range, ...options });
}

/** The points of each series, without rounding errors. */
function points({ series }: RangeMetricsResult): unknown {
  return series.map(({ labels, timestampsMs, values }) => ({
    labels,
    points: Array.from(values, (value, index) => [timestampsMs[index], value.toPrecision(9)]),
  }));
}

describe("push-down", () => {
  test("gives the same numbers as evaluation span by span", async () => {
    let pushedDown = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryTraces, arbitraryMetricsQuery(fieldsOfTraces), async (traces, query) => {
        const grid = new MemorySpanGrid(traces);
        const answers = await Promise.all(
          [new MemoryTraces(traces), new MemoryTraces(traces, { skips: true }), grid].map((storage) =>
            queryTraceqlRange(storage, { query, ...range }).then(points, (error: Error) => error.message),
          ),
        );
        pushedDown += grid.answered.length;
        assert.deepEqual(answers[1], answers[0], printQuery(query));
        assert.deepEqual(answers[2], answers[0], printQuery(query));
      }),
      { numRuns: 500 },
    );
    assert.ok(pushedDown > 50, `${pushedDown} grids`);
  });

  test("is asked for intervals that begin after the start, and with all conditions", async () => {
    const storage = new MemorySpanGrid([]);
    await run(storage, "{ status = error } | by(name) | { duration > 1s } | rate() by (name)");
    const [request] = storage.answered;
    assert.equal(storage.answered.length, 1);
    assert.equal(request!.intervals.firstUnixNano, 990n * second + 1n);
    assert.equal(request!.intervals.count, 7);
    assert.equal(request!.measure, "count");
    assert.equal(request!.condition?.kind === "field-operation" && request!.condition.operator, "&&");
  });

  test("is not asked where spans depend on others", async () => {
    const storage = new MemorySpanGrid([]);
    for (const query of ["{ } >> { } | rate()", "{ } | count() > 1 | rate()", "{ } | compare({ status = error })"]) {
      await run(storage, query);
    }
    assert.deepEqual(storage.answered, []);
  });
});

/** A trace each 100 ms, newest first; each with one span of 1 s. */
const manyTraces: readonly TraceqlTrace[] = Array.from({ length: 600 }, (_, index) =>
  toTrace(`${index + 1}`.padStart(32, "0"), [
    { id: "a", name: "GET", startMs: 1_060_000 - 100 * index, ms: 1000, is: { user: "ada" } },
  ]),
);

describe("exemplars", () => {
  for (const storage of [new MemoryTraces(manyTraces), new MemorySpanGrid(manyTraces)]) {
    const kind = storage.constructor.name;
    test(`are spread over time, one of a trace: ${kind}`, async () => {
      const { series } = await run(storage, "{ } | max_over_time(duration) by (span.user)", { exemplars: 40 });
      const [{ exemplars }] = series as [(typeof series)[0]];
      assert.ok(exemplars.length >= 20 && exemplars.length <= 40, `${exemplars.length}`);
      const traces = exemplars.map(({ labels }) => labels.find(({ name }) => name === "trace:id")?.value);
      assert.equal(
        new Set(traces.map((value) => JSON.stringify(value?.type === "string" && value.value))).size,
        exemplars.length,
      );
      const intervals = new Set(exemplars.map(({ timestampMs }) => Math.floor(timestampMs / 10_000)));
      assert.ok(intervals.size >= 3, [...intervals].join());
      assert.ok(exemplars.every(({ value }) => value === 1));
      assert.deepEqual(
        exemplars[0]!.labels.map(({ name }) => name),
        ["trace:id", "span.user", "duration"],
      );
    });
  }

  test("of counts have the value of the series", async () => {
    const { series } = await run(new MemoryTraces(manyTraces), "({ } | rate()) * 2");
    assert.ok(series[0]!.exemplars.length > 0);
    assert.ok(
      series[0]!.exemplars.every(({ value }) => value === 20),
      JSON.stringify(series[0]!.exemplars[0]!.value),
    );
  });

  test("of quantiles belong to the closest one", async () => {
    const spans = [1, 1, 1, 3000].map((ms, index) => ({ id: `${index}`, startMs: 1_005_000 + index, ms }));
    const traces = spans.map((span) => toTrace(span.id, [span]));
    const { series } = await run(new MemoryTraces(traces), "{ } | quantile_over_time(duration, .5, 1)");
    assert.deepEqual(
      series.map(({ exemplars }) => exemplars.map(({ value }) => value)),
      [[0.001, 0.001], []],
    );
  });

  for (const [query, requested, expected] of [
    ["{ } | rate()", undefined, 100],
    ["{ } | rate()", 7, 7],
    ["{ } | rate()", 100_000, 100],
    ["{ } | rate() with(exemplars=5)", 50, 5],
    ["{ } | rate() with(exemplars=false)", 50, 0],
    ["{ } | rate() with(exemplars=true)", 50, 50],
  ] as const) {
    test(`at most ${expected}: ${query}, ${requested} requested`, async () => {
      const { series } = await run(new MemoryTraces(manyTraces), query, { exemplars: requested });
      assert.ok(series[0]!.exemplars.length <= expected);
      assert.ok(series[0]!.exemplars.length >= expected / 2);
    });
  }

  test("are none of an instant query", async () => {
    const { series } = await queryTraceqlInstant(new MemoryTraces(manyTraces), {
      ...range,
      query: parseQuery("{ } | rate()"),
    });
    assert.deepEqual(Object.keys(series[0]!), ["labels", "value"]);
  });
});

describe("requests to the store", () => {
  test("name the fields, and all attributes for compare()", async () => {
    const storage = new MemoryTraces([]);
    await run(storage, "{ span.a = 1 } | max_over_time(span.b) by (resource.c)");
    await run(storage, "{ span.a = 1 } | compare({ span.d = 1 })");
    const [aggregate, compare] = storage.requests;
    const names = aggregate!.fields.map((field) => (field.kind === "attribute" ? field.name : field.intrinsic));
    assert.deepEqual([names.sort(), aggregate!.allAttributes, aggregate!.heads], [["a", "b", "c"], false, false]);
    assert.deepEqual([compare!.allAttributes, compare!.heads], [true, true]);
    assert.deepEqual([compare!.fromUnixNano, compare!.toUnixNano], [990n * second + 1n, 1060n * second + 1n]);
  });

  test("are not sent for what cannot match", async () => {
    const storage = new MemorySpanGrid([]);
    const { series } = await run(storage, "{ false } | rate()");
    assert.deepEqual([storage.requests, storage.answered, series.length], [[], [], 1]);
  });

  test("are sent once for equal parts of a query", async () => {
    const storage = new MemoryTraces([]);
    await run(storage, "({ } | rate()) / ({ } | rate()) + ({ } | count_over_time())");
    assert.equal(storage.requests.length, 2);
  });
});

describe("limits", () => {
  const storage = new MemoryTraces(manyTraces);
  test("on steps", async () => {
    await assert.rejects(run(storage, "{ } | rate()", { stepNano: 1_000_000n }), {
      param: "step",
      message: "the step of 1000000ns is too small: the smallest for this time range is 5454545ns",
    });
    await assert.rejects(run(storage, "{ } | rate()", { stepNano: 0n }), { param: "step" });
    await assert.rejects(run(storage, "{ } | rate()", { endUnixNano: 0n }), { param: "end" });
  });

  test("on series, samples, spans and memory", async () => {
    const limited = (limits: object): Promise<RangeMetricsResult> =>
      run(storage, "{ } | rate() by (trace:id)", { limits });
    await assert.rejects(limited({ maxSeries: 10 }), /has 11 series, the limit is 10/);
    await assert.rejects(limited({ maxSamples: 100 }), /too many samples/);
    await assert.rejects(limited({ maxSpans: 100 }), /too many spans/);
    const memory = {
      add: () => {
        throw new Error("no memory");
      },
      remove: () => undefined,
    };
    await assert.rejects(run(storage, "{ } | compare({ })", { memory }), /no memory/);
  });

  test("by cancellation", async () => {
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(run(storage, "{ } | rate()", { signal: controller.signal }), { code: "client_closed" });
  });

  test("to metrics", async () => {
    await assert.rejects(run(storage, "{ }"), /not a metrics query/);
  });
});

describe("the default step", () => {
  for (const [seconds, step] of [
    [0.001, 0.05],
    [59, 0.2],
    [60, 1],
    [600, 2],
    [3600, 15],
    [6 * 3600, 60],
    [86_400, 300],
    [30 * 86_400, 3 * 3600],
  ] as const) {
    test(`of ${seconds} s`, () => {
      assert.equal(Number(defaultStepNano(0n, BigInt(seconds * 1e9))) / 1e9, step);
    });
  }
});
