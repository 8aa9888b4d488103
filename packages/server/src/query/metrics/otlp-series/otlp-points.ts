/** Reads the points of OTLP series from the store. */
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { ColumnBlock, ListColumn, NumberColumn } from "../../../store/native-reader.ts";
import { allOf } from "../../conditions.ts";
import { toNumber } from "../span-series/span-series.ts";
import { listsThatFit } from "./statement-lists.ts";
import { inTimeOrder, type ValueColumns } from "./value-columns.ts";

export interface PointsRequest {
  readonly metrics: readonly string[];
  /** `all`: every series of the metrics, if they are too many to list. */
  readonly seriesIds: readonly string[] | "all";
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly charge: (bytes: number) => void;
  readonly maxSeries: number;
}

type NumberJson = number | string;
type PointTuple = readonly [timeMs: NumberJson, startUnixNano: NumberJson, stale: number];
type DistributionTuple = readonly [
  ...PointTuple,
  count: NumberJson,
  sum: NumberJson,
  scale: number,
  zeroCount: NumberJson,
  zeroThreshold: NumberJson,
  positiveOffset: number,
  positiveCounts: readonly NumberJson[],
  negativeOffset: number,
  negativeCounts: readonly NumberJson[],
  quantiles: readonly NumberJson[],
  quantileValues: readonly NumberJson[],
];

interface SeriesOfPoints<Tuple> {
  readonly series_id: string;
  readonly point_tuples: readonly Tuple[];
}

/** A point of any kind. */
interface Point {
  readonly timeMs: number;
  /** 0 if unknown. */
  readonly startMs: number;
  /** The point is a stale marker: the series has ended. */
  readonly isStale: boolean;
}

export interface DistributionPoint extends Point {
  readonly count: number;
  readonly sum: number;
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: { readonly offset: number; readonly counts: readonly number[] };
  readonly negative: { readonly offset: number; readonly counts: readonly number[] };
  readonly quantiles: readonly number[];
  readonly quantileValues: readonly number[];
}

/** Above this number of series per metric, listing IDs makes the statement grow more than it makes the result shrink. */
const maximumNamedSeries = 20_000;

/** Divides the requested series into statements that stay within the store's size limit. */
export function pointLists(
  series: Iterable<{ readonly metric: string; readonly id: string }>,
): Pick<PointsRequest, "metrics" | "seriesIds">[] {
  const idsByMetric = new Map<string, Set<string>>();
  for (const { id, metric } of series) {
    const ids = idsByMetric.get(metric);
    if (ids === undefined) idsByMetric.set(metric, new Set([id]));
    else ids.add(id);
  }
  const large = [...idsByMetric].filter(([, ids]) => ids.size > maximumNamedSeries).map(([metric]) => metric);
  const pairs = [...idsByMetric]
    .filter(([, ids]) => ids.size <= maximumNamedSeries)
    .flatMap(([metric, ids]) => Array.from(ids, (id) => ({ metric, id })));
  return [
    ...listsThatFit(large, ({ length }) => length).map((metrics) => ({ metrics, seriesIds: "all" as const })),
    ...listsThatFit(pairs, ({ id, metric }) => id.length + metric.length).map((list) => ({
      metrics: [...new Set(list.map(({ metric }) => metric))],
      seriesIds: [...new Set(list.map(({ id }) => id))],
    })),
  ];
}

/** Milliseconds since the start of the requested range; 32 bits hold 49 days. */
export function offsetOf({ fromMs, toMs }: PointsRequest): Statement {
  const sinceFrom = sql`toUnixTimestamp64Milli(time) - ${bind.int64(fromMs)}`;
  return toMs - fromMs < 2 ** 32 ? sql`toUInt32(${sinceFrom})` : sql`toFloat64(${sinceFrom})`;
}

/** Whether any point of the series has a start time. */
export const hasStarts = sql`max(start_time) > fromUnixTimestamp64Nano(0)`;

/** Points of gauges and sums, by series ID. */
export async function readValues(reader: TenantReader, request: PointsRequest): Promise<Map<string, ValueColumns>> {
  // One list of tuples: separate lists can differ in order if a column is stored sparsely.
  const blocks = await reader.columns(
    sql`SELECT series_id, points.1 AS times, points.2 AS point_values, if(has_starts, points.3, []) AS starts,
        if(has_stale, points.4, []) AS stale
      FROM (
        SELECT series_id, ${hasStarts} AS has_starts, max(bitAnd(flags, 1)) AS has_stale,
          groupArray((${offsetOf(request)}, value, toUnixTimestamp64Nano(start_time), bitAnd(flags, 1))) AS points
        FROM points WHERE ${pointCondition(request)} GROUP BY series_id
      )`,
    { signal: request.signal, memory: { add: request.charge }, duplicates: "kept", maximumRows: request.maxSeries },
  );
  const found = new Map<string, ValueColumns>();
  const yielder = new CooperativeYield();
  for (const { columns } of blocks) {
    for (const [row, id] of (columns.get("series_id") as BigUint64Array).entries()) {
      const values = listOf(columns.get("point_values") as ListColumn, row) as Float64Array;
      found.set(String(id), inTimeOrder({ ...timeColumnsOf(columns, row, request.fromMs), values }));
      if (yielder.isDue(longStep)) await yielder.yield();
    }
  }
  return found;
}

/** The list in one row of a list column. */
export function listOf({ ends, items }: ListColumn, row: number): NumberColumn {
  return (items as NumberColumn).subarray(row === 0 ? 0 : ends[row - 1], ends[row]);
}

/** The columns `times`, `starts` and `stale` of one row. */
export function timeColumnsOf(
  columns: ColumnBlock["columns"],
  row: number,
  fromMs: number,
): Omit<ValueColumns, "values"> {
  const list = (name: string): NumberColumn => listOf(columns.get(name) as ListColumn, row);
  const starts = list("starts") as BigInt64Array;
  const stale = list("stale") as Uint8Array;
  return {
    timestampsMs: Float64Array.from(list("times") as Uint32Array | Float64Array, (time) => fromMs + time),
    startTimestampsMs: starts.length === 0 ? undefined : Float64Array.from(starts, (start) => Number(start) / 1e6),
    stale: stale.length === 0 ? undefined : stale,
  };
}

/** Points of exponential histograms and summaries, by series ID, in order of time; of duplicates the last. */
export async function readDistributions(
  reader: TenantReader,
  request: PointsRequest,
): Promise<Map<string, DistributionPoint[]>> {
  const rows = await reader.query<SeriesOfPoints<DistributionTuple>>(
    sql`SELECT series_id, groupArray((${timeColumns}, count, sum, scale, zero_count, zero_threshold,
        positive_offset, positive_counts, negative_offset, negative_counts, quantiles, quantile_values)) AS point_tuples
      FROM distribution_points WHERE ${pointCondition(request)} GROUP BY series_id`,
    { signal: request.signal, memory: { add: request.charge }, duplicates: "kept", maximumRows: request.maxSeries },
  );
  const found = new Map<string, DistributionPoint[]>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    const points: DistributionPoint[] = [];
    for (const tuple of row.point_tuples) {
      points.push(distributionOf(tuple));
      if (yielder.isDue()) await yielder.yield();
    }
    found.set(row.series_id, inOrder(points));
  }
  return found;
}

const timeColumns = sql`toUnixTimestamp64Milli(time), toUnixTimestamp64Nano(start_time), bitAnd(flags, 1)`;

/** Selects the points of the requested series and time range. */
export function pointCondition({ fromMs, metrics, seriesIds, toMs }: PointsRequest): Statement {
  const from = BigInt(Math.max(0, fromMs)) * 1_000_000n;
  const to = BigInt(Math.max(0, toMs + 1)) * 1_000_000n;
  return allOf([
    sql`organization = ${callerOrganization}`,
    sql`metric IN ${bind.texts(metrics)}`,
    seriesIds === "all" ? undefined : sql`series_id IN ${bind.uint64s(seriesIds)}`,
    sql`time >= ${bind.time(from)} AND time < ${bind.time(to)}`,
  ]);
}

function pointOf([timeMs, startUnixNano, stale]: DistributionTuple): Point {
  return { timeMs: Number(timeMs), startMs: Number(startUnixNano) / 1e6, isStale: stale === 1 };
}

function distributionOf(tuple: DistributionTuple): DistributionPoint {
  const [, , , count, sum, scale, zeroCount, zeroThreshold, ...buckets] = tuple;
  const [positiveOffset, positives, negativeOffset, negatives, quantiles, quantileValues] = buckets;
  return {
    ...pointOf(tuple),
    count: toNumber(count),
    sum: toNumber(sum),
    scale,
    zeroCount: toNumber(zeroCount),
    zeroThreshold: toNumber(zeroThreshold),
    positive: { offset: positiveOffset, counts: positives.map(toNumber) },
    negative: { offset: negativeOffset, counts: negatives.map(toNumber) },
    quantiles: quantiles.map(toNumber),
    quantileValues: quantileValues.map(toNumber),
  };
}

function inOrder<P extends Point>(unsorted: readonly P[]): P[] {
  const byTime = new Map(unsorted.map((point) => [point.timeMs, point]));
  return [...byTime.values()].sort((left, right) => left.timeMs - right.timeMs);
}
