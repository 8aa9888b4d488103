/** Counts a target's calls, errors and latency over the last 15 minutes, in constant memory. */
import type { ErrorCode } from "../errors.ts";

const slices = 15;
const sliceSeconds = 60;
/** Buckets per doubling of the latency, from 1 ms to 18 minutes: a percentile is off by 5 % at most. */
const perDoubling = 8;
const buckets = 20 * perDoubling + 1;

export interface RecentCallCounts {
  /** Length of the window. */
  readonly windowSeconds: number;
  /** Attempts that ended or began to be answered, without those that the caller cancelled. */
  readonly calls: number;
  /** Number of failures by code, most frequent first. */
  readonly errors: readonly { readonly code: ErrorCode; readonly count: number }[];
  /** Milliseconds until the answer, or until the first chunk of a stream; undefined if nothing was answered. */
  readonly latencyMs: { readonly p50: number; readonly p95: number } | undefined;
}

interface Slice {
  /** Number of the period that it counts; older slices are outside the window. */
  period: number;
  calls: number;
  readonly errors: Map<ErrorCode, number>;
  readonly latencies: Uint32Array;
}

export class RecentCalls {
  /** Created by the first call, since most models of a large vendor are never called. */
  readonly #slices: (Slice | undefined)[] = [];

  answered(nowMs: number, latencyMs: number): void {
    const slice = this.#sliceAt(nowMs);
    slice.calls++;
    slice.latencies[bucketOf(latencyMs)]!++;
  }

  /** @param counted whether the call was counted when its answer began */
  failed(nowMs: number, code: ErrorCode, counted: boolean): void {
    const slice = this.#sliceAt(nowMs);
    if (!counted) slice.calls++;
    slice.errors.set(code, (slice.errors.get(code) ?? 0) + 1);
  }

  counts(nowMs: number): RecentCallCounts {
    const oldest = periodOf(nowMs) - slices + 1;
    const recent = this.#slices.filter((slice) => slice !== undefined && slice.period >= oldest) as Slice[];
    const errors = new Map<ErrorCode, number>();
    const latencies = new Uint32Array(buckets);
    let calls = 0;
    for (const slice of recent) {
      calls += slice.calls;
      for (const [code, count] of slice.errors) errors.set(code, (errors.get(code) ?? 0) + count);
      for (const [bucket, count] of slice.latencies.entries()) latencies[bucket]! += count;
    }
    return {
      windowSeconds: slices * sliceSeconds,
      calls,
      errors: [...errors].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
      latencyMs: latencies.some((count) => count > 0)
        ? { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) }
        : undefined,
    };
  }

  #sliceAt(nowMs: number): Slice {
    const period = periodOf(nowMs);
    const known = this.#slices[period % slices];
    if (known?.period === period) return known;
    const fresh = { period, calls: 0, errors: new Map<ErrorCode, number>(), latencies: new Uint32Array(buckets) };
    this.#slices[period % slices] = fresh;
    return fresh;
  }
}

function periodOf(nowMs: number): number {
  return Math.floor(nowMs / (sliceSeconds * 1000));
}

function bucketOf(latencyMs: number): number {
  return Math.min(buckets - 1, Math.ceil(Math.max(0, Math.log2(latencyMs) * perDoubling)));
}

/** The middle of the bucket that has the percentile. */
function percentile(latencies: Uint32Array, share: number): number {
  const total = latencies.reduce((sum, count) => sum + count, 0);
  let rank = Math.ceil(share * total);
  const bucket = latencies.findIndex((count) => (rank -= count) <= 0);
  return 2 ** ((bucket - 0.5) / perDoubling);
}
