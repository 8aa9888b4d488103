/** Data points checked with an independent encoder: what protobufjs writes, and the same as JSON, is stored unchanged. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import type { BlockRow } from "./block-reader.ts";
import * as random from "./random-messages.ts";
import { checkGroups, pick, rowsOf } from "./sent-and-stored.ts";

const runs = { numRuns: propertyRuns(100) };

const exemplar = fc
  .record({
    filteredAttributes: random.attributes,
    timeUnixNano: random.time,
    spanId: random.id(8),
    traceId: random.id(16),
    number: fc.oneof(fc.record({ asDouble: random.number }), fc.record({ asInt: fc.maxSafeInteger().map(String) })),
  })
  .map(({ number, ...rest }) => ({ ...rest, ...number }));
const head = {
  attributes: random.attributes,
  startTimeUnixNano: random.time,
  timeUnixNano: random.time,
  flags: fc.constant(0),
};
const exemplars = fc.array(exemplar, { maxLength: 2 });
const optional = fc.option(random.number, { nil: undefined });

const numberPoint = fc
  .record({
    ...head,
    exemplars,
    number: fc.oneof(fc.record({ asDouble: random.number }), fc.record({ asInt: fc.maxSafeInteger().map(String) })),
  })
  .map(({ number, ...rest }) => ({ ...rest, ...number }));

const histogramPoint = fc
  .record({
    ...head,
    exemplars,
    count: random.uint64,
    sum: optional,
    min: optional,
    max: optional,
    explicitBounds: fc.uniqueArray(random.number, { maxLength: 6 }).map((bounds) => bounds.toSorted((a, b) => a - b)),
    counts: fc.array(random.uint64, { minLength: 7, maxLength: 7 }),
  })
  .map(({ counts, ...rest }) => ({ ...rest, bucketCounts: counts.slice(0, rest.explicitBounds.length + 1) }));

const int32 = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const buckets = fc.record({ offset: int32, bucketCounts: fc.array(random.uint64, { maxLength: 5 }) });
const exponentialPoint = fc
  .record({
    ...head,
    exemplars,
    sum: optional,
    min: optional,
    max: optional,
    scale: fc.integer({ min: -4, max: 2 ** 31 - 1 }),
    zeroCount: random.uint64,
    zeroThreshold: random.number,
    positive: buckets,
    negative: buckets,
  })
  .map((point) => {
    const inBuckets = [point.zeroCount, ...point.positive.bucketCounts, ...point.negative.bucketCounts];
    return {
      ...point,
      count: String(
        BigInt.asUintN(
          64,
          inBuckets.reduce((sum, count) => sum + BigInt(count), 0n),
        ),
      ),
    };
  });
const summaryPoint = fc.record({
  ...head,
  count: random.uint64,
  sum: random.number,
  quantileValues: fc.array(fc.record({ quantile: random.number, value: random.number }), { maxLength: 4 }),
});

const words = { name: random.name.filter((name) => name !== ""), description: random.name, unit: random.name };
const temporality = fc.integer({ min: 0, max: 2 });
const groups = { resource: random.resource, scope: random.scope, schemaUrl: random.name };

type Groups = Parameters<typeof checkGroups>[1];

/** Sends one metric and checks the rows of its series; returns all rows. */
async function send(
  metric: { name: string; description: string; unit: string },
  sent: Groups,
  points: readonly Point[],
) {
  const { resource, scope, schemaUrl } = sent;
  const rows = await rowsOf("metrics", "ExportMetricsServiceRequest", {
    resourceMetrics: [{ resource, schemaUrl, scopeMetrics: [{ scope, schemaUrl, metrics: [metric] }] }],
  });
  const stored = rows["points"]!.concat(rows["distribution_points"]!);
  assert.equal(stored.length, points.length);
  const byId = new Map(rows["series"]!.map((row) => [row["series_id"], row]));
  assert.equal(byId.size, rows["series"]!.length, "a series was written twice");
  for (const [index, point] of points.entries()) {
    const row = stored[index]!;
    const series = byId.get(row["series_id"])!;
    const attributes = random.storedAttributes(point.attributes);
    assert.deepEqual(
      [sorted(series["attributes"]), series["metric"], series["unit"], series["description"], series["days"]],
      [sorted(attributes.map), metric.name, metric.unit, metric.description, 30],
    );
    assert.deepEqual(pick(row, ["organization", "metric", "start_time", "time", "flags", "days"]), {
      organization: "org_test",
      metric: metric.name,
      start_time: BigInt(point.startTimeUnixNano),
      time: BigInt(point.timeUnixNano),
      flags: 0,
      days: 30,
    });
    checkExemplars(rows["exemplars"]!, row, point);
  }
  checkGroups(rows, sent, rows["series"]![0]!);
  return rows;
}

interface Point {
  readonly attributes: readonly random.Attribute[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly exemplars?: readonly {
    readonly filteredAttributes: readonly random.Attribute[];
    readonly timeUnixNano: string;
    readonly traceId: string;
    readonly spanId: string;
    readonly asDouble?: number;
    readonly asInt?: string;
  }[];
}

function sorted(map: unknown): unknown {
  return (map as [string, string][]).map((pair) => JSON.stringify(pair)).sort();
}

function checkExemplars(rows: readonly BlockRow[], row: BlockRow, point: Point): void {
  for (const sent of point.exemplars ?? []) {
    const attributes = random.storedAttributes(sent.filteredAttributes);
    const expected = {
      organization: "org_test",
      metric: row["metric"],
      series_id: row["series_id"],
      time: BigInt(sent.timeUnixNano),
      value: sent.asDouble ?? Number(sent.asInt),
      trace_id: random.hexOf(sent.traceId),
      span_id: random.hexOf(sent.spanId),
      attributes: attributes.map,
      attribute_types: attributes.types,
      days: 30,
    };
    const same = rows.find((each) => each["trace_id"] === expected.trace_id && each["span_id"] === expected.span_id);
    assert.deepEqual(same, expected);
  }
}

/** A metric with the given name, description and unit, and the data. */
function withData<Words extends object>(named: Words, data: object): Words {
  return { ...named, ...data };
}

const absent = (value: number | undefined): number => value ?? Number.NaN;
const many = <T>(point: fc.Arbitrary<T>) => fc.array(point, { minLength: 1, maxLength: 4 });

describe("metrics from protobuf and from JSON keep every value:", () => {
  test("gauges and sums", async () => {
    const metric = fc.record({
      ...words,
      points: many(numberPoint),
      sum: fc.boolean(),
      aggregationTemporality: temporality,
      isMonotonic: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        metric,
        fc.record(groups),
        async ({ points, sum, aggregationTemporality, isMonotonic, ...named }, sent) => {
          const data = sum
            ? { sum: { dataPoints: points, aggregationTemporality, isMonotonic } }
            : { gauge: { dataPoints: points } };
          const rows = await send({ ...named, ...data }, sent, points);
          assert.deepEqual(
            rows["points"]!.map((row) => row["value"]),
            points.map((point: { asDouble?: number; asInt?: string }) => point.asDouble ?? Number(point.asInt)),
          );
          assert.deepEqual(pick(rows["series"]![0]!, ["type", "temporality", "monotonic"]), {
            type: sum ? 2 : 1,
            temporality: sum ? aggregationTemporality : 0,
            monotonic: sum && isMonotonic ? 1 : 0,
          });
        },
      ),
      runs,
    );
  });

  test("histograms", async () => {
    const metric = fc.record({ ...words, points: many(histogramPoint), aggregationTemporality: temporality });
    await fc.assert(
      fc.asyncProperty(metric, fc.record(groups), async ({ points, aggregationTemporality, ...named }, sent) => {
        const rows = await send(
          withData(named, { histogram: { dataPoints: points, aggregationTemporality } }),
          sent,
          points,
        );
        for (const [index, point] of points.entries()) {
          assert.deepEqual(
            pick(rows["distribution_points"]![index]!, ["count", "sum", "min", "max", "bounds", "counts"]),
            {
              count: BigInt(point.count),
              sum: absent(point.sum),
              min: absent(point.min),
              max: absent(point.max),
              bounds: point.explicitBounds,
              counts: point.bucketCounts.map(BigInt),
            },
          );
        }
        assert.deepEqual(pick(rows["series"]![0]!, ["type", "temporality"]), {
          type: 3,
          temporality: aggregationTemporality,
        });
      }),
      runs,
    );
  });

  test("exponential histograms", async () => {
    const metric = fc.record({ ...words, points: many(exponentialPoint), aggregationTemporality: temporality });
    await fc.assert(
      fc.asyncProperty(metric, fc.record(groups), async ({ points, aggregationTemporality, ...named }, sent) => {
        const data = { exponentialHistogram: { dataPoints: points, aggregationTemporality } };
        const rows = await send({ ...named, ...data }, sent, points);
        for (const [index, point] of points.entries()) {
          const {
            organization: _o,
            metric: _m,
            series_id: _s,
            start_time: _a,
            time: _t,
            flags: _f,
            days: _d,
            ...row
          } = rows["distribution_points"]![index]!;
          assert.deepEqual(row, {
            count: BigInt(point.count),
            sum: absent(point.sum),
            min: absent(point.min),
            max: absent(point.max),
            bounds: [],
            counts: [],
            scale: point.scale,
            zero_count: BigInt(point.zeroCount),
            zero_threshold: point.zeroThreshold,
            positive_offset: point.positive.offset,
            positive_counts: point.positive.bucketCounts.map(BigInt),
            negative_offset: point.negative.offset,
            negative_counts: point.negative.bucketCounts.map(BigInt),
            quantiles: [],
            quantile_values: [],
          });
        }
        assert.equal(rows["series"]![0]!["type"], 4);
      }),
      runs,
    );
  });

  test("summaries", async () => {
    const metric = fc.record({ ...words, points: many(summaryPoint) });
    await fc.assert(
      fc.asyncProperty(metric, fc.record(groups), async ({ points, ...named }, sent) => {
        const rows = await send(withData(named, { summary: { dataPoints: points } }), sent, points);
        for (const [index, point] of points.entries()) {
          assert.deepEqual(
            pick(rows["distribution_points"]![index]!, ["count", "sum", "quantiles", "quantile_values"]),
            {
              count: BigInt(point.count),
              sum: point.sum,
              quantiles: point.quantileValues.map((each) => each.quantile),
              quantile_values: point.quantileValues.map((each) => each.value),
            },
          );
        }
        assert.equal(rows["series"]![0]!["type"], 5);
      }),
      runs,
    );
  });
});
