/** Reads points of OTLP's explicit-bounds histograms as columns, and derives the `_bucket`, `_sum` and `_count` values. */
import type { ListColumn } from "../../../store/native-reader.ts";
import { sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import {
  hasStarts,
  listOf,
  offsetOf,
  pointCondition,
  startMs,
  timeColumnsOf,
  type PointsRequest,
  type TimeColumns,
} from "./otlp-points.ts";
import { seriesRows } from "./otlp-values.ts";
import { inTimeOrder, withoutAbsent, type ValueColumns } from "./value-columns.ts";

/** All points of one series that have the same bounds. What was not requested is empty. */
export interface HistogramColumns {
  readonly times: TimeColumns;
  /** Upper bounds in rising order, without infinity. */
  readonly bounds: Float64Array;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  /** For each point and bucket, one bucket more than bounds: the observations up to the bucket's bound. */
  readonly bucketCounts: Float64Array;
}

/** What to read of histograms. */
export type HistogramParts = Readonly<Record<"counts" | "sums" | "buckets", boolean>>;

const nothing = sql`CAST([], 'Array(Float64)')`;
const upToBound = sql`arrayCumSum(arrayMap(each -> toFloat64(each), arrayResize(counts, length(bounds) + 1)))`;

/** By series ID; one entry for each list of bounds that occurs in the series. */
export async function readHistograms(
  reader: TenantReader,
  request: PointsRequest,
  { buckets, counts, sums }: HistogramParts,
): Promise<Map<string, HistogramColumns[]>> {
  // Without `materialize`, lists can differ in order if a column is stored sparsely.
  const listed = (value: Statement): Statement => sql`groupArray(materialize(${value}))`;
  const statement = sql`SELECT series_id, bounds, groupArray(materialize(${offsetOf(request)})) AS times,
      if(${hasStarts}, ${listed(startMs)}, []) AS starts, if(max(bitAnd(flags, 1)) = 1, ${listed(sql`bitAnd(flags, 1)`)}, []) AS stale,
      ${counts ? listed(sql`toFloat64(count)`) : nothing} AS point_counts, ${sums ? listed(sql`sum`) : nothing} AS sums,
      ${buckets ? sql`groupArrayArray(${upToBound})` : nothing} AS bucket_counts
    FROM distribution_points WHERE ${pointCondition(request)} GROUP BY series_id, bounds`;
  const found = new Map<string, HistogramColumns[]>();
  for await (const { columns, id, row } of seriesRows(reader, request, statement)) {
    const list = (name: string): Float64Array => listOf(columns.get(name) as ListColumn, row) as Float64Array;
    const one: HistogramColumns = {
      times: timeColumnsOf(columns, row, request.fromMs),
      bounds: list("bounds"),
      counts: list("point_counts"),
      sums: list("sums"),
      bucketCounts: list("bucket_counts"),
    };
    const known = found.get(id);
    if (known === undefined) found.set(id, [one]);
    else known.push(one);
  }
  return found;
}

/** The union of all points' bounds, including infinity. */
export function boundsOf(groups: readonly HistogramColumns[]): number[] {
  const bounds = new Set(groups.flatMap((group) => [...group.bounds]));
  return [...bounds.add(Infinity)].sort((left, right) => left - right);
}

/** The counts of all points, or the sums of those that have one. */
export function totalsOf(groups: readonly HistogramColumns[], part: "counts" | "sums"): ValueColumns {
  const totals = joined(groups, (group) => group[part]);
  return part === "sums" ? withoutAbsent(totals) : totals;
}

/** Observations at or below a bound; for points without that bound, those at or below the next lower one. */
export function countsUpTo(groups: readonly HistogramColumns[], bound: number): ValueColumns {
  return joined(groups, ({ bounds, bucketCounts, counts }) => {
    if (bound === Infinity) return counts;
    const stride = bounds.length + 1;
    const values = new Float64Array(counts.length);
    const bucket = bounds.findLastIndex((each) => each <= bound);
    if (bucket === -1) return values;
    for (let point = 0; point < values.length; point++) values[point] = bucketCounts[point * stride + bucket]!;
    return values;
  });
}

function joined(
  groups: readonly HistogramColumns[],
  valuesOf: (group: HistogramColumns) => Float64Array,
): ValueColumns {
  if (groups.length === 1) return inTimeOrder({ ...groups[0]!.times, values: valuesOf(groups[0]!).slice() });
  const all = (lists: readonly (Float64Array | Uint8Array)[]): number[] => lists.flatMap((list) => [...list]);
  const zeros = ({ times }: HistogramColumns): Float64Array => new Float64Array(times.timestampsMs.length);
  return inTimeOrder({
    timestampsMs: Float64Array.from(all(groups.map(({ times }) => times.timestampsMs))),
    values: Float64Array.from(all(groups.map(valuesOf))),
    startTimestampsMs: Float64Array.from(all(groups.map((group) => group.times.startTimestampsMs ?? zeros(group)))),
    stale: Uint8Array.from(all(groups.map((group) => group.times.stale ?? zeros(group)))),
  });
}
