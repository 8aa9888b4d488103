/** Range aggregations against a plain computation from all samples of each window, and with and without push-down. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { queryLogqlInstant, queryLogqlRange } from "../src/engine.ts";
import type { CountSeries, CountsRequest } from "../src/storage.ts";
import type { MatrixSeries } from "@sounding/promql/query-value";
import { dropLabels, getLabel, keepLabels, setLabels, type Labels } from "@sounding/promql/series/labels";
import { MemoryLogStorage } from "../src/memory-storage.ts";

interface Sample {
  readonly unixNano: bigint;
  readonly value: number;
}

interface Steps {
  readonly startMs: number;
  readonly stepMs: number;
  readonly count: number;
  readonly rangeMs: number;
  readonly offsetMs: number;
}

const nanos = (ms: number): bigint => BigInt(ms) * 1_000_000n;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const variance = (values: readonly number[]): number => mean(values.map((value) => (value - mean(values)) ** 2));

function quantile(share: number, values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const rank = share * (sorted.length - 1);
  const lower = Math.floor(rank);
  const upper = Math.min(lower + 1, sorted.length - 1);
  return sorted[lower]! * (1 - (rank - lower)) + sorted[upper]! * (rank - lower);
}

/** The increase of a counter, extrapolated as https://prometheus.io/docs/prometheus/latest/querying/functions/#rate says. */
function counterRate(samples: readonly Sample[], endNano: bigint, rangeMs: number): number {
  if (samples.length < 2) return 0;
  let increase = 0;
  for (const [index, { value }] of samples.entries()) {
    const before = index === 0 ? value : samples[index - 1]!.value;
    increase += value < before ? value : value - before;
  }
  const first = samples[0]!;
  const seconds = (from: bigint, to: bigint): number => Number(to - from) / 1e9;
  const sampled = seconds(first.unixNano, samples.at(-1)!.unixNano);
  const between = sampled / (samples.length - 1);
  let before = seconds(endNano - nanos(rangeMs), first.unixNano);
  let after = seconds(samples.at(-1)!.unixNano, endNano);
  if (before >= between * 1.1) before = between / 2;
  if (after >= between * 1.1) after = between / 2;
  if (increase > 0 && first.value >= 0) before = Math.min(before, (sampled * first.value) / increase);
  return (increase * ((sampled + before + after) / sampled)) / (rangeMs / 1000);
}

type Compute = (samples: readonly Sample[], endNano: bigint, rangeMs: number) => number;
const ofValues =
  (compute: (values: readonly number[]) => number): Compute =>
  (samples) =>
    compute(samples.map(({ value }) => value));

const functions: Readonly<Record<string, Compute>> = {
  "rate(X)": (samples, _, rangeMs) => sum(samples.map(({ value }) => value)) / (rangeMs / 1000),
  "rate_counter(X)": counterRate,
  "sum_over_time(X)": ofValues(sum),
  "avg_over_time(X)": ofValues(mean),
  "min_over_time(X)": ofValues((values) => Math.min(...values)),
  "max_over_time(X)": ofValues((values) => Math.max(...values)),
  "first_over_time(X)": ofValues((values) => values[0]!),
  "last_over_time(X)": ofValues((values) => values.at(-1)!),
  "stddev_over_time(X)": ofValues((values) => Math.sqrt(variance(values))),
  "stdvar_over_time(X)": ofValues(variance),
  "quantile_over_time(0.9, X)": ofValues((values) => quantile(0.9, values)),
};

const arbitrarySteps = fc.record({
  startMs: fc.integer({ min: 0, max: 60_000 }),
  stepMs: fc.integer({ min: 1, max: 30_000 }),
  count: fc.integer({ min: 1, max: 20 }),
  rangeMs: fc.integer({ min: 1, max: 40_000 }),
  offsetMs: fc.integer({ min: -20_000, max: 20_000 }),
});

/** Samples of distinct, ascending times; some lie exactly on the bounds of windows. */
const arbitrarySamples = fc
  .uniqueArray(
    fc.oneof(
      fc.integer({ min: 0, max: 120 }).map((n) => n * 1000),
      fc.integer({ min: 0, max: 120_000 }),
    ),
    {
      maxLength: 60,
    },
  )
  .chain((times) =>
    fc.tuple(
      ...times
        .toSorted((left, right) => left - right)
        .map((ms) => fc.tuple(fc.constant(ms), fc.integer({ min: 0, max: 50 }))),
    ),
  )
  .map((pairs) => pairs.map(([ms, value]): Sample => ({ unixNano: nanos(ms), value })));

async function evaluate(storage: MemoryLogStorage, query: string, steps: Steps): Promise<readonly MatrixSeries[]> {
  const { count, startMs, stepMs } = steps;
  const { value } = await queryLogqlRange(storage, {
    query,
    startUnixNano: nanos(startMs),
    endUnixNano: nanos(startMs + (count - 1) * stepMs),
    stepMs,
    alignsSteps: false,
  });
  assert.ok(value.type === "matrix");
  return value.series;
}

function windowOf({ count, offsetMs, rangeMs }: Steps): string {
  assert.ok(count > 0);
  return `[${rangeMs}ms]${offsetMs === 0 ? "" : ` offset ${offsetMs}ms`}`;
}

describe("range aggregations", () => {
  for (const [call, compute] of Object.entries(functions)) {
    test(`${call} has the value of the samples in each window`, () =>
      fc.assert(
        fc.asyncProperty(arbitrarySamples, arbitrarySteps, async (samples, steps) => {
          const storage = new MemoryLogStorage();
          for (const { unixNano, value } of samples) {
            storage.add({ app: "a" }, [{ unixNano, line: "", structuredMetadata: ["v", String(value)] }]);
          }
          const query = call.replace("X", `{app="a"} | unwrap v ${windowOf(steps)}`);
          const [series, ...others] = await evaluate(storage, query, steps);
          assert.deepEqual(others, []);
          const expected: (readonly [ms: number, value: number])[] = [];
          for (let step = 0; step < steps.count; step++) {
            const ms = steps.startMs + step * steps.stepMs;
            const end = nanos(ms - steps.offsetMs);
            const inside = samples.filter(({ unixNano }) => unixNano > end - nanos(steps.rangeMs) && unixNano <= end);
            if (inside.length > 0) expected.push([ms, compute(inside, end, steps.rangeMs)]);
          }
          assert.deepEqual(
            [...(series?.timestampsMs ?? [])],
            expected.map(([ms]) => ms),
          );
          for (const [index, [ms, value]] of expected.entries()) {
            const found = series!.values[index]!;
            const tolerance = 1e-9 * Math.max(1, Math.abs(value));
            assert.ok(
              Object.is(found, value) || Math.abs(found - value) <= tolerance,
              `${found}, not ${value}, at ${ms} ms`,
            );
          }
        }),
      ));
  }
});

/** Computes counts itself, entry by entry and window by window. */
class CountingLogStorage extends MemoryLogStorage {
  counted = 0;

  counts(request: CountsRequest): Promise<readonly CountSeries[] | null> {
    const { lineFilters, metadataMatchers, windowEndMs } = request;
    if (lineFilters.some(({ operator }) => operator !== "|=")) return Promise.resolve(null);
    if (metadataMatchers.some(({ operator }) => operator !== "=")) return Promise.resolve(null);
    this.counted += 1;
    const results = new Map<string, CountSeries>();
    for (const { line, stream, structuredMetadata, unixNano } of this.matching(request)) {
      if (!lineFilters.every(({ operands }) => operands.some(({ value }) => line.includes(value)))) continue;
      const metadata = new Map([["region", structuredMetadata[1] ?? ""]]);
      const labels = setLabels(stream, metadata);
      if (!metadataMatchers.every(({ name, value }) => getLabel(labels, name) === value)) continue;
      const grouped = groupLabels(labels, request.groupBy);
      for (let step = 0; step < windowEndMs.count; step++) {
        const end = nanos(windowEndMs.first + step * windowEndMs.stepMs);
        if (unixNano > end || unixNano <= end - nanos(request.windowMs)) continue;
        let series = results.get(grouped.key);
        if (series === undefined) {
          const values = new Float64Array(windowEndMs.count);
          series = { labels: grouped, values, present: new Uint8Array(windowEndMs.count) };
          results.set(grouped.key, series);
        }
        series.values[step]! += request.measure === "entries" ? 1 : Buffer.byteLength(line);
        series.present[step] = 1;
      }
    }
    return Promise.resolve([...results.values()]);
  }
}

function groupLabels(labels: Labels, groupBy: CountsRequest["groupBy"]): Labels {
  if (groupBy === null) return labels;
  const names = new Set(groupBy.labels);
  return groupBy.without ? dropLabels(labels, names) : keepLabels(labels, names);
}

describe("push-down", () => {
  const entries = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 120_000 }),
      app: fc.constantFrom("a", "b", "c"),
      region: fc.constantFrom("x", "y", ""),
      line: fc.constantFrom("needle", "a needle, ünicode", "hay"),
    }),
    { maxLength: 80 },
  );
  const selector = '{app=~"a|b"}';

  for (const query of [
    `count_over_time(${selector} W)`,
    `bytes_over_time(${selector} |= "needle" W)`,
    `sum by (region) (rate(${selector} |= "needle" | region="x" W))`,
    `sum without (app) (bytes_rate(${selector} | region="x" and app="a" W))`,
    `sum(count_over_time(${selector} W)) / sum(rate(${selector} |= "hay" W))`,
    `max by (app) (count_over_time(${selector} W))`,
  ]) {
    test(`${query} has the same result with it`, () =>
      fc.assert(
        fc.asyncProperty(entries, arbitrarySteps, async (all, steps) => {
          const storages = [new CountingLogStorage(), new MemoryLogStorage()] as const;
          for (const storage of storages) {
            for (const { app, line, ms, region } of all) {
              // A store has no empty values.
              const structuredMetadata = region === "" ? [] : ["region", region];
              storage.add({ app }, [{ unixNano: nanos(ms), line, structuredMetadata }]);
            }
          }
          const text = query.replaceAll("W", windowOf(steps));
          const [pushed, read] = await Promise.all(storages.map((storage) => evaluate(storage, text, steps)));
          assert.deepEqual(pushed, read);
          assert.ok(storages[0].counted > 0);
          assert.equal(storages[0].asked.length, 0);
        }),
      ));
  }

  for (const query of [
    `count_over_time(${selector} | json W)`,
    `count_over_time(${selector} | decolorize |= "x" W)`,
    `count_over_time(${selector} | region="x" or app="a" W)`,
    `count_over_time(${selector} | __error__="" W)`,
    `rate(${selector} | unwrap bytes(size) W)`,
    `absent_over_time(${selector} W)`,
  ]) {
    test(`${query} is not pushed down`, async () => {
      const storage = new CountingLogStorage();
      storage.add({ app: "a" }, [{ unixNano: 1n, line: "{}", structuredMetadata: ["region", "x"] }]);
      await evaluate(storage, query.replace("W", "[1m]"), {
        startMs: 0,
        stepMs: 1000,
        count: 3,
        rangeMs: 0,
        offsetMs: 0,
      });
      assert.equal(storage.counted, 0);
      assert.equal(storage.asked.length, 1);
    });
  }

  test("windows that do not begin at a whole millisecond are not pushed down", async () => {
    const storage = new CountingLogStorage();
    const query = `count_over_time(${selector}[1s])`;
    await queryLogqlInstant(storage, { query, timeUnixNano: 1n });
    assert.deepEqual([storage.counted, storage.asked.length], [0, 1]);
  });
});
