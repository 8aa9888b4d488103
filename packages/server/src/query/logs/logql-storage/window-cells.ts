/** Divides the windows of a query into cells, and adds cells up to windows. */
import type { CountsRequest } from "@sounding/logql/storage";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import type { TimeRange } from "../../time-window.ts";
import { lastUnixNano } from "./store-times.ts";

export interface Cells {
  /** The start of the first window, which belongs to no window. */
  readonly originNano: bigint;
  readonly lengthNano: bigint;
  readonly perStep: number;
  readonly perWindow: number;
  readonly count: number;
}

const maximumCells = 200_000;
const nanosPerMilli = 1_000_000n;

/** The cell length is the greatest common divisor of step and window; null if that gives too many cells. */
export function cellsOf({ windowEndMs, windowMs }: Pick<CountsRequest, "windowEndMs" | "windowMs">): Cells | null {
  const { count, first, stepMs } = windowEndMs;
  const lengthMs = count === 1 ? windowMs : greatestCommonDivisor(windowMs, stepMs);
  const perWindow = windowMs / lengthMs;
  const perStep = count === 1 ? 0 : stepMs / lengthMs;
  const total = perWindow + (count - 1) * perStep;
  if (![perWindow, perStep, first].every(Number.isSafeInteger) || total > maximumCells) return null;
  const originNano = BigInt(first - windowMs) * nanosPerMilli;
  if (originNano < 0n || originNano >= lastUnixNano) return null;
  return { originNano, lengthNano: BigInt(lengthMs) * nanosPerMilli, perStep, perWindow, count: total };
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}

/** The cell of a time. A cell excludes its start, as windows do. */
export function cellOf({ lengthNano, originNano }: Cells, unixNano: Statement): Statement {
  return sql`intDiv(${unixNano} - ${bind.int64(originNano + 1n)}, ${bind.int64(lengthNano)})`;
}

/** The nanoseconds of all cells that are in the range of the query, both included. Cells between windows that do not touch belong to no window. */
export function rangeOf(
  { count, lengthNano, originNano }: Cells,
  { fromUnixNano, toUnixNano }: Pick<CountsRequest, "fromUnixNano" | "toUnixNano">,
): TimeRange {
  const first = originNano + 1n;
  const last = originNano + BigInt(count) * lengthNano;
  return {
    fromUnixNano: first > fromUnixNano ? first : fromUnixNano,
    toUnixNano: last < toUnixNano ? last : toUnixNano - 1n,
  };
}

/** Sums of whole numbers, which are exact in any order. */
export function sumWindows(amounts: Float64Array, { perStep, perWindow }: Cells, windows: number): Float64Array {
  const sums = new Float64Array(windows);
  let sum = 0;
  let from = 0;
  let to = 0;
  for (let window = 0; window < windows; window += 1) {
    const begin = window * perStep;
    const end = begin + perWindow;
    if (begin >= to) [sum, from, to] = [0, begin, begin];
    for (; to < end; to += 1) sum += amounts[to]!;
    for (; from < begin; from += 1) sum -= amounts[from]!;
    sums[window] = sum;
  }
  return sums;
}
