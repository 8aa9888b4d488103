/** Counts log entries by time and level. */
import type { LogHistogram } from "../../api/observability-log-histogram.ts";
import { levels } from "../../store/schema.ts";
import { bind, sql } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { histogramStep } from "../histogram-step.ts";
import type { TimeRange } from "../time-window.ts";
import { filterCondition, type LogFilter } from "./log-filter.ts";

export interface CountRequest {
  readonly filter: LogFilter;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  /** Undefined lets the server choose. */
  readonly step: string | undefined;
  readonly signal: AbortSignal;
}

interface BucketRow {
  readonly bucket: string;
  readonly debug: string;
  readonly info: string;
  readonly warning: string;
  readonly error: string;
}

const secondNanos = 1_000_000_000n;

/**
 * Entries that senders with fast clocks date after now count in the last bucket. Duplicates are removed while reading, since
 * the buckets must add up to what a search finds.
 * @throws AppError invalid_request for an unusable step, and as the store does
 */
export async function countEntries(reader: TenantReader, request: CountRequest): Promise<LogHistogram> {
  const { filter, nowUnixNano, range, signal } = request;
  const last = range.toUnixNano < nowUnixNano ? range.toUnixNano : nowUnixNano;
  const end = last > range.fromUnixNano ? last : range.fromUnixNano;
  const stepSeconds = histogramStep(request.step, Math.ceil(Number(end - range.fromUnixNano) / 1e9));
  const step = BigInt(stepSeconds) * secondNanos;
  const [firstBucket, lastBucket] = [range.fromUnixNano / step, end / step];
  const rows = await reader.query<BucketRow>(
    sql`SELECT least(intDiv(toUnixTimestamp64Nano(time), ${bind.int64(step)}), ${bind.int64(lastBucket)}) AS bucket,
        countIf(toUInt8(level) = ${bind.uint8(levels.debug)}) AS debug,
        countIf(toUInt8(level) = ${bind.uint8(levels.info)}) AS info,
        countIf(toUInt8(level) = ${bind.uint8(levels.warning)}) AS warning,
        countIf(toUInt8(level) = ${bind.uint8(levels.error)}) AS error
      FROM logs
      WHERE ${await filterCondition(reader, filter, signal)}
        AND time >= ${bind.time(range.fromUnixNano)} AND time <= ${bind.time(range.toUnixNano)}
      GROUP BY bucket`,
    { signal },
  );
  const found = new Map(rows.map((row) => [BigInt(row.bucket), row]));
  const buckets = Array.from({ length: Number(lastBucket - firstBucket) + 1 }, (_, index) => {
    const number = firstBucket + BigInt(index);
    return toBucket(number * step, found.get(number));
  });
  const total = buckets.reduce((sum, { debug, error, info, warning }) => sum + debug + info + warning + error, 0);
  return { step_seconds: stepSeconds, total, buckets };
}

function toBucket(startNano: bigint, row: BucketRow | undefined): LogHistogram["buckets"][number] {
  return {
    start: new Date(Number(startNano / 1_000_000n)).toISOString(),
    debug: Number(row?.debug ?? 0),
    info: Number(row?.info ?? 0),
    warning: Number(row?.warning ?? 0),
    error: Number(row?.error ?? 0),
  };
}
