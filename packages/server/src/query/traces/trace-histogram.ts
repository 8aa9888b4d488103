/** Counts traces and measures their durations over time. */
import type { TraceHistogram } from "../../api/observability-trace-histogram.ts";
import { bind, callerOrganization, sql } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import type { TimeRange } from "../time-window.ts";
import { histogramStep } from "../histogram-step.ts";
import type { SpanCondition } from "./span-filter.ts";

export interface TraceHistogramSearch {
  readonly matches: SpanCondition;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  /** Undefined lets the server choose. */
  readonly step: string | undefined;
  readonly signal: AbortSignal;
}

interface BucketRow {
  readonly bucket: string;
  readonly traces: string;
  readonly failed: string;
  /** Nanoseconds. */
  readonly durations: readonly [number, number];
}

const secondNanos = 1_000_000_000n;

/**
 * By the start of a trace. Traces that started before the range count in the first bucket.
 * @throws AppError invalid_request for an unusable step, and as the store does
 */
export async function traceHistogram(reader: TenantReader, search: TraceHistogramSearch): Promise<TraceHistogram> {
  const { nowUnixNano, project, range, signal } = search;
  const last = range.toUnixNano < nowUnixNano ? range.toUnixNano : nowUnixNano;
  const end = last > range.fromUnixNano ? last : range.fromUnixNano;
  const stepSeconds = histogramStep(search.step, Math.ceil(Number(end - range.fromUnixNano) / 1e9));
  const step = BigInt(stepSeconds) * secondNanos;
  const [firstBucket, lastBucket] = [range.fromUnixNano / step, end / step];
  const matching = search.matches.in(range);
  const ofTenant = [sql`organization = ${callerOrganization}`, projectCondition(project)];
  const conditions = allOf([
    ...ofTenant,
    startTimeCondition(widened(range)),
    matching === undefined
      ? undefined
      : sql`trace_id IN (SELECT trace_id FROM spans WHERE ${allOf([...ofTenant, startTimeCondition(range), matching])})`,
  ]);
  const statement = sql`
    SELECT bucket, count() AS traces, countIf(root_status = 2) AS failed, quantilesExact(0.5, 0.95)(duration) AS durations
    FROM (
      SELECT least(greatest(intDiv(toUnixTimestamp64Nano(min(start_time)), ${bind.int64(step)}), ${bind.int64(firstBucket)}), ${bind.int64(lastBucket)}) AS bucket,
        argMin(status_code, (parent_span_id != '', start_time)) AS root_status,
        toFloat64(greatest(toUnixTimestamp64Nano(max(end_time)) - toUnixTimestamp64Nano(min(start_time)), 0)) AS duration
      FROM spans WHERE ${conditions} GROUP BY trace_id HAVING countIf(${startTimeCondition(range)}) > 0
    ) GROUP BY bucket`;
  const rows = await reader.query<BucketRow>(statement, { signal, duplicates: "kept" });
  const found = new Map(rows.map((row) => [BigInt(row.bucket), row]));
  const numbers = Array.from(
    { length: Number(lastBucket - firstBucket) + 1 },
    (_, index) => firstBucket + BigInt(index),
  );
  return { step_seconds: stepSeconds, buckets: numbers.map((number) => toBucket(number * step, found.get(number))) };
}

function toBucket(startNano: bigint, row: BucketRow | undefined): TraceHistogram["buckets"][number] {
  return {
    start: new Date(Number(startNano / 1_000_000n)).toISOString(),
    traces: Number(row?.traces ?? 0),
    failed: Number(row?.failed ?? 0),
    duration_ms:
      row === undefined ? { p50: null, p95: null } : { p50: row.durations[0] / 1e6, p95: row.durations[1] / 1e6 },
  };
}

const hourNanos = 3_600_000_000_000n;

/**
 * Traces of the range may have begun before it and go on after it. They are read with a margin of the range's length,
 * at most an hour; the parts of longer traces beyond it do not count.
 */
function widened({ fromUnixNano, toUnixNano }: TimeRange): TimeRange {
  const length = toUnixNano - fromUnixNano;
  const margin = length < hourNanos ? length : hourNanos;
  return { fromUnixNano: fromUnixNano > margin ? fromUnixNano - margin : 0n, toUnixNano: toUnixNano + margin };
}
