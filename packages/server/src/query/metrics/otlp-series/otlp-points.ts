/** Selects the points of OTLP series in the store, and reads those of exponential histograms and summaries. */
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { ColumnBlock, ListColumn, NumberColumn } from "../../../store/native-reader.ts";
import { allOf } from "../../conditions.ts";
import { toNumber } from "../span-series/span-series.ts";
import { listsThatFit } from "./statement-lists.ts";
import type { ValueColumns } from "./value-columns.ts";

export interface PointsRequest {
  readonly metrics: readonly string[];
  /** `all`: every series of the metrics, if they are too many to list or most of them are wanted. */
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

interface ListedSeries {
  readonly metric: string;
  readonly id: string;
  /** How many series the metric has, if all of them can be read. */
  readonly seriesOfMetric?: number | undefined;
}

/** Divides the requested series into statements that stay within the store's size limit. */
export function pointLists(series: readonly ListedSeries[]): Pick<PointsRequest, "metrics" | "seriesIds">[] {
  const distinct = new Map(series.map((each) => [`${each.metric} ${each.id}`, each]));
  const counts = new Map<string, number>();
  for (const { metric } of distinct.values()) counts.set(metric, (counts.get(metric) ?? 0) + 1);
  const isListed = ({ metric, seriesOfMetric = Infinity }: ListedSeries): boolean =>
    counts.get(metric)! <= Math.min(maximumNamedSeries, seriesOfMetric / 2);
  const whole = new Set<string>();
  const listed: ListedSeries[] = [];
  for (const each of distinct.values()) {
    if (isListed(each)) listed.push(each);
    else whole.add(each.metric);
  }
  return [
    ...listsThatFit(whole, ({ length }) => length).map((metrics) => ({ metrics, seriesIds: "all" as const })),
    ...listsThatFit(listed, ({ id, metric }) => id.length + metric.length).map((list) => ({
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

/**
 * Unix milliseconds; 0 if unknown. Whole milliseconds are exact, which nanoseconds as a double are not: a delta starts exactly
 * at the previous point.
 */
export function startMsOf(startTime: Statement): Statement {
  return sql`toUnixTimestamp64Milli(${startTime}) + toUnixTimestamp64Nano(${startTime}) % 1000000 / 1e6`;
}

export const startMs = startMsOf(sql`start_time`);

/** The list in one row of a list column. */
export function listOf({ ends, items }: ListColumn, row: number): NumberColumn {
  return (items as NumberColumn).subarray(row === 0 ? 0 : ends[row - 1], ends[row]);
}

export type TimeColumns = Omit<ValueColumns, "values">;

/** The columns that `sharedStartColumns` reads. */
export function sharedStart(request: PointsRequest): Statement {
  return sql`groupArray(${offsetOf(request)}) AS times, groupArrayIf(${offsetOf(request)}, bitAnd(flags, 1) = 1) AS stale_times,
    ${startMsOf(sql`min(start_time)`)} AS first_start, ${startMsOf(sql`max(start_time)`)} AS last_start`;
}

/** The times of one row; undefined if its points have several starts. */
export function sharedStartColumns(
  columns: ColumnBlock["columns"],
  row: number,
  fromMs: number,
): TimeColumns | undefined {
  const start = (columns.get("last_start") as Float64Array)[row]!;
  if ((columns.get("first_start") as Float64Array)[row] !== start) return undefined;
  const list = (name: string): Float64Array =>
    timesFrom(listOf(columns.get(name) as ListColumn, row) as Uint32Array | Float64Array, fromMs);
  const timestampsMs = list("times");
  const stale = new Set(list("stale_times"));
  return {
    timestampsMs,
    startTimestampsMs: start === 0 ? undefined : new Float64Array(timestampsMs.length).fill(start),
    stale: stale.size === 0 ? undefined : Uint8Array.from(timestampsMs, (timeMs) => (stale.has(timeMs) ? 1 : 0)),
  };
}

/** The columns `times`, `starts` and `stale` of one row. */
export function timeColumnsOf(columns: ColumnBlock["columns"], row: number, fromMs: number): TimeColumns {
  const list = (name: string): NumberColumn => listOf(columns.get(name) as ListColumn, row);
  const starts = list("starts") as Float64Array;
  const stale = list("stale") as Uint8Array;
  return {
    timestampsMs: timesFrom(list("times") as Uint32Array | Float64Array, fromMs),
    startTimestampsMs: starts.length === 0 ? undefined : starts,
    stale: stale.length === 0 ? undefined : stale,
  };
}

/** Unix milliseconds from offsets. A plain loop: `Float64Array.from` takes 50 times as long. */
function timesFrom(offsets: Uint32Array | Float64Array, fromMs: number): Float64Array {
  const times = new Float64Array(offsets.length);
  for (let index = 0; index < offsets.length; index++) times[index] = fromMs + offsets[index]!;
  return times;
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
