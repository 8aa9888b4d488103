/** Points of OTLP series, read from the store as columns. */
import { bind, ownOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf } from "../conditions.ts";
import { toNumber } from "./span-series.ts";

export interface PointsRequest {
  readonly metrics: readonly string[];
  /** All series of the metrics when they are too many to name. */
  readonly seriesIds: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly maxSeries: number;
}

type Numbers = readonly (number | string)[];

interface PointColumns {
  readonly series_id: string;
  readonly times: readonly string[];
  readonly starts: readonly string[];
  readonly stale: readonly number[];
}

interface ValueRow extends PointColumns {
  readonly amounts: Numbers;
}

interface DistributionRow extends PointColumns {
  readonly counts: Numbers;
  readonly sums: Numbers;
  readonly bucket_bounds: readonly Numbers[];
  readonly bucket_counts: readonly Numbers[];
  readonly scales: readonly number[];
  readonly zero_counts: Numbers;
  readonly zero_thresholds: Numbers;
  readonly positive_offsets: readonly number[];
  readonly positives: readonly Numbers[];
  readonly negative_offsets: readonly number[];
  readonly negatives: readonly Numbers[];
  readonly quantiles: readonly Numbers[];
  readonly quantile_values: readonly Numbers[];
}

/** A point of any kind. */
interface Point {
  readonly timeMs: number;
  /** 0 when unknown. */
  readonly startMs: number;
  /** The series says that it has no value any more. */
  readonly isStale: boolean;
}

export interface ValuePoint extends Point {
  readonly value: number;
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

/** Gauges and sums by the series' ID; in rising order of time, of doubles the last. */
export async function readValues(reader: TenantReader, request: PointsRequest): Promise<Map<string, ValuePoint[]>> {
  const rows = await reader.query<ValueRow>(
    sql`SELECT series_id, ${timeColumns}, groupArray(value) AS amounts
      FROM points WHERE ${condition(request)} GROUP BY series_id`,
    { signal: request.signal, duplicates: "kept", maximumRows: request.maxSeries },
  );
  return new Map(
    rows.map((row) => [row.series_id, inOrder(points(row, (at) => ({ value: toNumber(row.amounts[at]!) })))]),
  );
}

/** Histograms and summaries by the series' ID; in rising order of time, of doubles the last. */
export async function readDistributions(
  reader: TenantReader,
  request: PointsRequest,
): Promise<Map<string, DistributionPoint[]>> {
  const rows = await reader.query<DistributionRow>(
    sql`SELECT series_id, ${timeColumns}, groupArray(count) AS counts, groupArray(sum) AS sums,
        groupArray(bounds) AS bucket_bounds, groupArray(distribution_points.counts) AS bucket_counts, groupArray(scale) AS scales,
        groupArray(zero_count) AS zero_counts, groupArray(zero_threshold) AS zero_thresholds,
        groupArray(positive_offset) AS positive_offsets, groupArray(positive_counts) AS positives,
        groupArray(negative_offset) AS negative_offsets, groupArray(negative_counts) AS negatives,
        groupArray(distribution_points.quantiles) AS quantiles, groupArray(distribution_points.quantile_values) AS quantile_values
      FROM distribution_points WHERE ${condition(request)} GROUP BY series_id`,
    { signal: request.signal, duplicates: "kept", maximumRows: request.maxSeries },
  );
  return new Map(rows.map((row) => [row.series_id, inOrder(points(row, (at) => distributionAt(row, at)))]));
}

const timeColumns = sql`groupArray(toUnixTimestamp64Milli(time)) AS times,
  groupArray(toUnixTimestamp64Nano(start_time)) AS starts, groupArray(bitAnd(flags, 1)) AS stale`;

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

function points<Value extends object>(row: PointColumns, valueAt: (index: number) => Value): (Point & Value)[] {
  return row.times.map((time, index) => ({
    timeMs: Number(time),
    startMs: Number(row.starts[index]) / 1e6,
    isStale: row.stale[index] === 1,
    ...valueAt(index),
  }));
}

function distributionAt(row: DistributionRow, at: number): Omit<DistributionPoint, keyof Point> {
  return {
    count: toNumber(row.counts[at]!),
    sum: toNumber(row.sums[at]!),
    bounds: row.bucket_bounds[at]!.map(toNumber),
    counts: row.bucket_counts[at]!.map(toNumber),
    scale: row.scales[at]!,
    zeroCount: toNumber(row.zero_counts[at]!),
    zeroThreshold: toNumber(row.zero_thresholds[at]!),
    positive: { offset: row.positive_offsets[at]!, counts: row.positives[at]!.map(toNumber) },
    negative: { offset: row.negative_offsets[at]!, counts: row.negatives[at]!.map(toNumber) },
    quantiles: row.quantiles[at]!.map(toNumber),
    quantileValues: row.quantile_values[at]!.map(toNumber),
  };
}

function inOrder<P extends Point>(unsorted: readonly P[]): P[] {
  const byTime = new Map(unsorted.map((point) => [point.timeMs, point]));
  return [...byTime.values()].sort((left, right) => left.timeMs - right.timeMs);
}
