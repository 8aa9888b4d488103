/** The intervals of a metrics query. As in Tempo they are open on the left: a span on a boundary belongs to the earlier one. */
import { QueryError } from "@sounding/promql/query-error";
import { inputLimit } from "@sounding/promql/input-limit";

const maximumIntervals = inputLimit({
  area: "TraceQL",
  bounds: "Steps of a metrics query",
  value: 11_000,
  error: "invalid_request",
});

const nanosPerSecond = 1_000_000_000n;

export interface Intervals {
  /** Spans from after this time. */
  readonly startUnixNano: bigint;
  readonly stepNano: bigint;
  readonly count: number;
}

/**
 * The intervals of a range query. Its bounds are extended to multiples of the step, and it begins one interval early: the
 * first point is at the start, and stands for the spans before it.
 */
export function rangeIntervals(startUnixNano: bigint, endUnixNano: bigint, stepNano: bigint): Intervals {
  checkRange(startUnixNano, endUnixNano);
  if (stepNano <= 0n) throw invalid("step", `"step" must be greater than 0, got ${stepNano}ns`);
  const steps = (endUnixNano - startUnixNano) / stepNano;
  if (steps > BigInt(maximumIntervals)) {
    const smallest = (endUnixNano - startUnixNano) / BigInt(maximumIntervals);
    throw invalid("step", `the step of ${stepNano}ns is too small: the smallest for this time range is ${smallest}ns`);
  }
  const aligned = startUnixNano - (startUnixNano % stepNano);
  const start = aligned > stepNano ? aligned - stepNano : aligned;
  const overhang = endUnixNano % stepNano;
  const end = overhang === 0n ? endUnixNano : endUnixNano + stepNano - overhang;
  return { startUnixNano: start, stepNano, count: Number((end - start) / stepNano) };
}

/** The only interval of an instant query. */
export function instantInterval(startUnixNano: bigint, endUnixNano: bigint): Intervals {
  checkRange(startUnixNano, endUnixNano);
  return { startUnixNano, stepNano: endUnixNano - startUnixNano, count: 1 };
}

function checkRange(startUnixNano: bigint, endUnixNano: bigint): void {
  if (startUnixNano < 0n) throw invalid("start", `"start" must not be before 1970, got ${startUnixNano}ns`);
  if (endUnixNano <= startUnixNano) throw invalid("end", "end must be greater than start");
}

function invalid(param: string, problem: string): QueryError {
  return new QueryError("invalid_request", problem, { param });
}

/** The number of the interval; -1 for times outside. */
export function intervalOf({ count, startUnixNano, stepNano }: Intervals, unixNano: bigint): number {
  if (unixNano <= startUnixNano) return -1;
  const index = Number((unixNano - startUnixNano - 1n) / stepNano);
  return index < count ? index : -1;
}

/** The time of an interval's point: its end, in milliseconds. */
export function timestampMs({ startUnixNano, stepNano }: Intervals, index: number): number {
  return Number((startUnixNano + BigInt(index + 1) * stepNano) / 1_000_000n);
}

/** The times that a store has to read: from included, to excluded. */
export function timeRange(intervals: Intervals): { readonly fromUnixNano: bigint; readonly toUnixNano: bigint } {
  const fromUnixNano = intervals.startUnixNano + 1n;
  return { fromUnixNano, toUnixNano: fromUnixNano + BigInt(intervals.count) * intervals.stepNano };
}

const roundSteps = [3600n, 300n, 60n, 15n, 5n, 1n].map((seconds) => seconds * nanosPerSecond);
const smallestStep = 50_000_000n;

/** The step of a range query that names none: about 240 of them, rounded down. */
export function defaultStepNano(startUnixNano: bigint, endUnixNano: bigint): bigint {
  const length = endUnixNano - startUnixNano;
  const wanted = length / 240n;
  if (length < 60n * nanosPerSecond) {
    return wanted > smallestStep ? wanted - (wanted % smallestStep) : smallestStep;
  }
  const unit = roundSteps.find((step) => wanted > step);
  return unit === undefined ? nanosPerSecond : wanted - (wanted % unit);
}
