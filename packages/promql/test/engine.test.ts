/** The engine from outside: instant against range queries, limits, cancellation, yielding, and its requests to a store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError, type QueryErrorCode } from "../src/query-error.ts";
import { queryInstant, queryRange } from "../src/engine.ts";
import type { QueryValue } from "../src/query-value.ts";
import { emptyHistogram } from "../src/histogram/float-histogram.ts";
import { getLabel, labelsFrom } from "../src/series/labels.ts";
import { xxHash64 } from "../src/series/labels-hash.ts";
import type { PromqlStorage, SelectRequest, StoredSeries, WindowsRequest } from "../src/storage.ts";
import { parseExpression } from "../src/syntax/parse.ts";
import { printExpression } from "../src/syntax/print.ts";
import { MemoryStorage } from "../src/memory-storage.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

/** A counter and a gauge for each of some instances, with a sample every 15 seconds. */
function someStorage(series = 3, minutes = 30): MemoryStorage {
  const storage = new MemoryStorage();
  for (let index = 0; index < series; index++) {
    for (const name of ["requests_total", "temperature"]) {
      const labels = labelsFrom([
        ["__name__", name],
        ["instance", String(index)],
        ["job", index % 2 === 0 ? "a" : "b"],
      ]);
      const samples = Array.from({ length: minutes * 4 }, (_, sample) => ({
        timeMs: sample * 15_000,
        startMs: 0,
        value: name === "temperature" ? Math.sin(sample + index) * 10 : (sample * (index + 1)) % 50,
        stale: sample % 37 === 36,
        histogram: null,
      }));
      storage.add(labels, samples);
    }
  }
  return storage;
}

function refusedWith(code: QueryErrorCode, message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof QueryError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

/** Each series' value at a time, by its labels. */
function valuesAt(value: QueryValue, timeMs: number): Map<string, number> {
  if (value.type === "vector") return new Map(value.samples.map((sample) => [sample.labels.key, sample.value]));
  if (value.type !== "matrix") return new Map([["", (value as { value: number }).value]]);
  return new Map(
    value.series.flatMap((series) => {
      const index = series.timestampsMs.indexOf(timeMs);
      return index === -1 ? [] : [[series.labels.key, series.values[index]!] as const];
    }),
  );
}

const queries = [
  "requests_total",
  "rate(requests_total[2m])",
  "sum by (job) (increase(requests_total[5m])) / count by (job) (requests_total)",
  'temperature > 0 or requests_total{job="a"}',
  "avg_over_time(temperature[3m]) - ignoring(nothing) max_over_time(temperature[1m])",
  "max_over_time(sum(rate(requests_total[1m]))[5m:30s])",
  "stddev(temperature) + on() quantile(0.3, temperature)",
  "requests_total * on(instance) group_left temperature",
  "deriv(temperature[4m]) unless temperature < 0",
  'absent(requests_total{job="c"})',
  'time() + scalar(temperature{instance="0"})',
  "count_over_time(temperature[2m] offset 1m) @ 600",
];

describe("instant and range queries", () => {
  const storage = someStorage();

  test("an instant query equals the range query at that step", async () => {
    const arbitrary = fc.record({
      query: fc.constantFrom(...queries.slice(0, -1)),
      stepMs: fc.constantFrom(7000, 15_000, 60_000, 401_000),
      startMs: fc.integer({ min: -60_000, max: 1_000_000 }),
      step: fc.nat({ max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ query, startMs, step, stepMs }) => {
        const timeMs = startMs + step * stepMs;
        const range = await queryRange(storage, { query, startMs, endMs: startMs + 9 * stepMs, stepMs });
        const instant = await queryInstant(storage, { query, timeMs });
        const expected = valuesAt(range.value, timeMs);
        const actual = valuesAt(instant.value, timeMs);
        assert.deepEqual(actual, expected, query);
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  test("a range ends at the last step that is not later than its end", async () => {
    const { value } = await queryRange(storage, { query: "vector(1)", startMs: 0, endMs: 95_000, stepMs: 30_000 });
    assert.deepEqual(value.type === "matrix" && [...value.series[0]!.timestampsMs], [0, 30_000, 60_000, 90_000]);
  });

  test("a tree is evaluated like its text", async () => {
    const query = parseExpression("sum(requests_total)");
    const { value } = await queryInstant(storage, { query, timeMs: 300_000 });
    assert.equal(value.type === "vector" && value.samples.length, 1);
  });
});

test("a query with the maximum number of operators is evaluated", async () => {
  const query = `vector(1)${" + 1".repeat(1000)}`;
  const { value } = await queryInstant(new MemoryStorage(), { query, timeMs: 0 });
  assert.equal(value.type === "vector" && value.samples[0]!.value, 1001);
  assert.equal(printExpression(parseExpression(query)), query);
});

describe("limits", () => {
  const storage = someStorage();
  const range = { startMs: 0, endMs: 1_800_000, stepMs: 15_000 };

  test("too many points are refused before anything is read", async () => {
    const query = { query: "up", startMs: 0, endMs: 11_001_000, stepMs: 1000 };
    const silent: PromqlStorage = { select: () => assert.fail("the store was asked") };
    await assert.rejects(
      queryRange(silent, query),
      refusedWith("invalid_request", /^exceeded maximum resolution of 11,000 points per timeseries/),
    );
  });

  test("too many series are refused", async () => {
    const query = { query: "requests_total", timeMs: 300_000, limits: { maxSeries: 2 } };
    await assert.rejects(queryInstant(storage, query), refusedWith("invalid_request", /has 3 series, the limit is 2/));
  });

  test("too many samples are refused", async () => {
    const query = { query: "sum(rate(requests_total[5m]))", ...range, limits: { maxSamples: 100 } };
    await assert.rejects(queryRange(storage, query), refusedWith("invalid_request", /too many samples into memory/));
  });

  test("memory of a part of a query is released when the part is done", async () => {
    const sum = "sum(rate(requests_total[5m]))";
    const samples = 3 * 120 + 5 * 121;
    const one = { query: sum, ...range, limits: { maxSamples: samples } };
    const many = { ...one, query: `${sum}${" + 1".repeat(100)}` };
    assert.deepEqual((await queryRange(storage, many)).infos, (await queryRange(storage, one)).infos);
  });

  test("a query ends at its deadline", async () => {
    const query = { query: "sum_over_time(temperature[30m])", ...range, limits: { timeoutMs: 0 } };
    await assert.rejects(queryRange(storage, query), refusedWith("timeout", /timed out/));
  });

  test("a subquery with too many steps is refused", async () => {
    const query = { query: "sum_over_time(up[10y:1ms])", timeMs: 0 };
    await assert.rejects(queryInstant(storage, query), refusedWith("invalid_request", /a subquery has \d+ steps/));
  });

  for (const [title, query, message] of [
    ["a step of zero", { query: "up", startMs: 0, endMs: 1, stepMs: 0 }, /zero or negative query resolution/],
    ["an end before the start", { query: "up", startMs: 1, endMs: 0, stepMs: 1 }, /end timestamp must not be before/],
    [
      "a range vector as a range",
      { query: "up[5m]", startMs: 0, endMs: 1, stepMs: 1 },
      /must be Scalar or instant Vector/,
    ],
    ["a time that is no number", { query: "up", startMs: Number.NaN, endMs: 1, stepMs: 1 }, /"start" must be/],
  ] as const) {
    test(`${title} is refused`, async () => {
      await assert.rejects(queryRange(storage, query), refusedWith("invalid_request", message));
    });
  }
});

describe("cancellation and sharing the thread", () => {
  const big = someStorage(40, 120);
  const query = { query: "quantile_over_time(0.9, temperature[2h])", startMs: 0, endMs: 7_200_000, stepMs: 2000 };

  test("an aborted query ends when it next yields", async () => {
    const controller = new AbortController();
    let yields = 0;
    const yielder = {
      isDue: () => true,
      async yield() {
        if (++yields === 3) controller.abort();
      },
    };
    const running = queryRange(big, { ...query, yielder, signal: controller.signal });
    await assert.rejects(running, refusedWith("client_closed", /cancelled/));
    assert.equal(yields, 3);
  });

  test("a query without a yielder lets the event loop run", async () => {
    const controller = new AbortController();
    const running = queryRange(big, { ...query, signal: controller.signal });
    // A query that never yielded would resolve before this callback could abort it.
    setImmediate(() => controller.abort());
    await assert.rejects(running, refusedWith("client_closed", /cancelled/));
  });

  test("a QueryError as the reason of an abort is what is thrown", async () => {
    const reason = new QueryError("timeout", "the request's time is up");
    const signal = AbortSignal.abort(reason);
    await assert.rejects(queryRange(big, { ...query, signal }), refusedWith("timeout", /the request's time is up/));
  });
});

describe("requests to the store", () => {
  async function requestsOf(query: string): Promise<SelectRequest[]> {
    const requests: SelectRequest[] = [];
    const storage: PromqlStorage = {
      select: (request) => {
        requests.push(request);
        return Promise.resolve([]);
      },
    };
    await queryRange(storage, { query, startMs: 1_000_000, endMs: 2_000_000, stepMs: 10_000 });
    return requests;
  }

  for (const [query, fromMs, toMs] of [
    ["a", 700_001, 2_000_000],
    ["a offset 1m", 640_001, 1_940_000],
    ["rate(a[5m])", 700_001, 2_000_000],
    ["rate(a[5m] @ 500)", 200_001, 500_000],
    ["rate(a[5m] @ end() offset 100s)", 1_600_001, 1_900_000],
    ["max_over_time(a[10m:1m])", 100_001, 2_000_000],
    ["max_over_time(rate(a[1m])[10m:1m] offset 1m)", 280_001, 1_940_000],
    ["rate(a[1m] smoothed)", 640_001, 2_300_000],
  ] as const) {
    test(`${query} needs the samples from ${fromMs} to ${toMs}`, async () => {
      const [request] = await requestsOf(query);
      assert.deepEqual([request!.fromMs, request!.toMs], [fromMs, toMs]);
    });
  }

  test("hints give the window, the step, the function and the grouping", async () => {
    const [inner, plain] = await requestsOf("sum by (job) (a) + sum(rate(b[5m]))").then((requests) =>
      requests.toReversed(),
    );
    assert.equal(inner!.hints.function, "rate");
    assert.equal(inner!.hints.rangeMs, 300_000);
    assert.equal(inner!.hints.stepMs, 10_000);
    assert.deepEqual(plain!.hints.grouping, { labels: ["job"], without: false });
  });

  test("a store that answers sums of rates is not asked for samples", async () => {
    const asked: WindowsRequest[] = [];
    const storage: PromqlStorage = {
      select: () => assert.fail("samples were asked for"),
      aggregateWindows: (request) => {
        asked.push(request);
        const values = Float64Array.from({ length: request.windowEndMs.count }, (_, step) => step);
        const present = Uint8Array.from(values, (step) => (step === 1 ? 0 : 1));
        return Promise.resolve([{ labels: labelsFrom([["job", "a"]]), values, present }]);
      },
    };
    const query = '2 * sum by (job) (rate(a_total{x!="y"}[5m] offset 1m))';
    const { value } = await queryRange(storage, { query, startMs: 600_000, endMs: 720_000, stepMs: 60_000 });
    assert.equal(asked[0]!.windowMs, 300_000);
    assert.deepEqual(asked[0]!.windowEndMs, { first: 540_000, stepMs: 60_000, count: 3 });
    assert.deepEqual(value.type === "matrix" && [...value.series[0]!.values], [0, 4]);
    assert.deepEqual(value.type === "matrix" && [...value.series[0]!.timestampsMs], [600_000, 720_000]);
  });

  test("a repeated subexpression is requested once", async () => {
    let asked = 0;
    const storage: PromqlStorage = {
      select: () => assert.fail("samples were asked for"),
      aggregateWindows: ({ function: windowFunction }) => {
        asked += 1;
        assert.equal(windowFunction, "max_over_time");
        return Promise.resolve([{ labels: labelsFrom([]), values: Float64Array.of(8), present: Uint8Array.of(1) }]);
      },
    };
    const part = "max(max_over_time(a[5m]))";
    const { value } = await queryInstant(storage, { query: `${part} / (${part} + ${part})`, timeMs: 600_000 });
    assert.deepEqual(value.type === "vector" && value.samples.map((sample) => sample.value), [0.5]);
    assert.equal(asked, 1);
  });

  for (const query of ["sum(max_over_time(a[5m]))", "max(min_over_time(a[5m]))", "min(rate(a[5m]))"]) {
    test(`${query} cannot be assembled from parts of its windows`, async () => {
      const storage: PromqlStorage = {
        select: () => Promise.resolve([]),
        aggregateWindows: () => assert.fail("the store was asked"),
      };
      const { value } = await queryInstant(storage, { query, timeMs: 600_000 });
      assert.deepEqual(value.type === "vector" && value.samples, []);
    });
  }

  test("if the store declines, its samples are requested instead", async () => {
    const memory = someStorage();
    const storage: PromqlStorage = {
      select: (request) => memory.select(request),
      aggregateWindows: () => Promise.resolve(null),
    };
    const query = { query: "sum(rate(requests_total[5m]))", timeMs: 600_000 };
    const declined = await queryInstant(storage, query);
    assert.deepEqual(declined.value, (await queryInstant(memory, query)).value);
  });

  test("an error of the store is passed on", async () => {
    const storage: PromqlStorage = { select: () => Promise.reject(new Error("the store is busy")) };
    await assert.rejects(queryInstant(storage, { query: "a", timeMs: 0 }), /^Error: the store is busy$/);
  });

  test("a store's columns are never modified", async () => {
    const stored: StoredSeries = {
      labels: labelsFrom([["__name__", "a"]]),
      timestampsMs: Float64Array.of(1000, 2000, 3000),
      values: Float64Array.of(3, 1, 2),
    };
    const storage: PromqlStorage = { select: () => Promise.resolve([stored]) };
    await queryInstant(storage, { query: "quantile_over_time(0.5, a[5s]) + on() -sum(a)", timeMs: 3000 });
    assert.deepEqual([...stored.values], [3, 1, 2]);
  });
});

test("the hash that limit_ratio samples by is xxHash64", () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  assert.equal(xxHash64(encode("")), 0xef46db3751d8e999n);
  assert.equal(xxHash64(encode("abc")), 0x44bc2cf5ad770999n);
  assert.equal(xxHash64(encode("Nobody inspects the spammish repetition")), 0xfbcea83c8a378bf1n);
});

test("a series keeps its labels through a query", async () => {
  const { value } = await queryInstant(someStorage(), { query: "requests_total", timeMs: 300_000 });
  const instances = value.type === "vector" ? value.samples.map(({ labels }) => getLabel(labels, "instance")) : [];
  assert.deepEqual(instances.sort(), ["0", "1", "2"]);
});

test("computing with many native histograms lets other work run in between", async () => {
  const storage = new MemoryStorage();
  const [steps, stepMs] = [4_000, 15_000];
  const indexes = Array.from({ length: 160 }, (_, index) => index);
  const samples = Array.from({ length: steps }, (_, at) => ({
    timeMs: at * stepMs,
    startMs: 0,
    value: 0,
    stale: false,
    histogram: {
      ...emptyHistogram,
      count: 160 * (at + 1),
      sum: at,
      positive: { indexes, counts: indexes.map(() => at + 1) },
    },
  }));
  storage.add(labelsFrom([["__name__", "h"]]), samples);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const queries = ["histogram_stddev(h)", "histogram_quantile(0.5, h)", "histogram_fraction(0, 1, h)", "sum(h)"];
  for (const query of queries) await queryRange(storage, { query, startMs: 0, endMs: (steps - 1) * stepMs, stepMs });
  isOver = true;
  assert.ok(turns > 2 * queries.length, `${turns} turns`);
});
