/** Points of OTLP series, read from the store as columns. */
import { bind, ownOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { Slices } from "../../slices.ts";
import type { ListColumn } from "../../store/native-reader.ts";
import { allOf } from "../conditions.ts";
import { toNumber } from "./span-series.ts";
import { inTimeOrder, type ValueColumns } from "./value-columns.ts";

export interface PointsRequest {
  readonly metrics: readonly string[];
  /** All series of the metrics when they are too many to name. */
  readonly seriesIds: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly maxSeries: number;
}

type NumberJson = number | string;
type PointTuple = readonly [timeMs: NumberJson, startUnixNano: NumberJson, stale: number];
type DistributionTuple = readonly [
  ...PointTuple,
  count: NumberJson,
  sum: NumberJson,
  bounds: readonly NumberJson[],
  counts: readonly NumberJson[],
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
  /** 0 when unknown. */
  readonly startMs: number;
  /** The series says that it has no value any more. */
  readonly isStale: boolean;
}

export interface DistributionPoint extends Point {
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: { readonly offset: number; readonly counts: readonly number[] };
  readonly negative: { readonly offset: number; readonly counts: readonly number[] };
  readonly quantiles: readonly number[];
  readonly quantileValues: readonly number[];
}

/** More IDs than this make a statement larger than they make its answer smaller. */
const maximumNamedSeries = 20_000;

/** Gauges and sums by the series' ID. */
export async function readValues(reader: TenantReader, request: PointsRequest): Promise<Map<string, ValueColumns>> {
  const sinceFrom = sql`toUnixTimestamp64Milli(time) - ${bind.int64(request.fromMs)}`;
  // 32 bits hold 49 days.
  const offset = request.toMs - request.fromMs < 2 ** 32 ? sql`toUInt32(${sinceFrom})` : sql`toFloat64(${sinceFrom})`;
  // One list of tuples, since lists of single columns do not keep to one order where a column is stored sparsely.
  const blocks = await reader.columns(
    sql`SELECT series_id, points.1 AS times, points.2 AS point_values, if(has_starts, points.3, []) AS starts,
        if(has_stale, points.4, []) AS stale
      FROM (
        SELECT series_id, max(start_time) > fromUnixTimestamp64Nano(0) AS has_starts, max(bitAnd(flags, 1)) AS has_stale,
          groupArray((${offset}, value, toUnixTimestamp64Nano(start_time), bitAnd(flags, 1))) AS points
        FROM points WHERE ${condition(request)} GROUP BY series_id
      )`,
    { signal: request.signal, duplicates: "kept", maximumRows: request.maxSeries },
  );
  const found = new Map<string, ValueColumns>();
  const slices = new Slices();
  for (const block of blocks) {
    const ids = block.columns.get("series_id") as BigUint64Array;
    const [times, values, starts, stale] = ["times", "point_values", "starts", "stale"].map(
      (name) => block.columns.get(name) as ListColumn,
    );
    for (const [row, id] of ids.entries()) {
      const startsOfRow = listOf<BigInt64Array>(starts!, row);
      const staleOfRow = listOf<Uint8Array>(stale!, row);
      const columns = {
        timestampsMs: Float64Array.from(
          listOf<Uint32Array | Float64Array>(times!, row),
          (time) => request.fromMs + time,
        ),
        values: listOf<Float64Array>(values!, row),
        startTimestampsMs: startsOfRow.length === 0 ? undefined : Float64Array.from(startsOfRow, toMilliseconds),
        stale: staleOfRow.length === 0 ? undefined : staleOfRow,
      };
      found.set(String(id), inTimeOrder(columns));
      if (slices.isOver()) await slices.next();
    }
  }
  return found;
}

function listOf<Numbers>({ ends, items }: ListColumn, row: number): Numbers {
  return (items as Uint8Array).subarray(row === 0 ? 0 : ends[row - 1], ends[row]) as Numbers;
}

function toMilliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e6;
}

/** Histograms and summaries by the series' ID; in rising order of time, of doubles the last. */
export async function readDistributions(
  reader: TenantReader,
  request: PointsRequest,
): Promise<Map<string, DistributionPoint[]>> {
  const rows = await reader.query<SeriesOfPoints<DistributionTuple>>(
    sql`SELECT series_id, groupArray((${timeColumns}, count, sum, bounds, counts, scale, zero_count, zero_threshold,
        positive_offset, positive_counts, negative_offset, negative_counts, quantiles, quantile_values)) AS point_tuples
      FROM distribution_points WHERE ${condition(request)} GROUP BY series_id`,
    { signal: request.signal, duplicates: "kept", maximumRows: request.maxSeries },
  );
  return new Map(rows.map((row) => [row.series_id, inOrder(row.point_tuples.map(distributionOf))]));
}

const timeColumns = sql`toUnixTimestamp64Milli(time), toUnixTimestamp64Nano(start_time), bitAnd(flags, 1)`;

function condition({ fromMs, metrics, seriesIds, toMs }: PointsRequest): Statement {
  const from = BigInt(Math.max(0, fromMs)) * 1_000_000n;
  const to = BigInt(Math.max(0, toMs + 1)) * 1_000_000n;
  return allOf([
    sql`organization = ${ownOrganization}`,
    sql`metric IN ${bind.texts(metrics)}`,
    seriesIds.length > maximumNamedSeries ? undefined : sql`series_id IN ${bind.uint64s(seriesIds)}`,
    sql`time >= ${bind.time(from)} AND time < ${bind.time(to)}`,
  ]);
}

function pointOf([timeMs, startUnixNano, stale]: DistributionTuple): Point {
  return { timeMs: Number(timeMs), startMs: Number(startUnixNano) / 1e6, isStale: stale === 1 };
}

function distributionOf(tuple: DistributionTuple): DistributionPoint {
  const [, , , count, sum, bounds, counts, scale, zeroCount, zeroThreshold, ...buckets] = tuple;
  const [positiveOffset, positives, negativeOffset, negatives, quantiles, quantileValues] = buckets;
  return {
    ...pointOf(tuple),
    count: toNumber(count),
    sum: toNumber(sum),
    bounds: bounds.map(toNumber),
    counts: counts.map(toNumber),
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
