/** Divides a time range into windows that grow eightfold, so that the newest or oldest few of many rows are found without reading the rest. */
import type { TimeRange } from "./time-window.ts";

const firstStepNanos = 60_000_000_000n;

/**
 * The range as windows without gaps, newest first. Times after `nowUnixNano` belong to the first window.
 * @param firstNanos the length of the first window
 */
export function* expandingWindows(
  { fromUnixNano, toUnixNano }: TimeRange,
  nowUnixNano: bigint,
  firstNanos = firstStepNanos,
): Generator<TimeRange> {
  let newest = toUnixNano;
  for (let reach = firstNanos; newest >= fromUnixNano; reach *= 8n) {
    const oldest = nowUnixNano - reach;
    if (oldest > newest) continue;
    yield { fromUnixNano: oldest > fromUnixNano ? oldest : fromUnixNano, toUnixNano: newest };
    newest = oldest - 1n;
  }
}

/** The range as windows without gaps, oldest first. */
export function* expandingWindowsForward({ fromUnixNano, toUnixNano }: TimeRange): Generator<TimeRange> {
  let oldest = fromUnixNano;
  for (let reach = firstStepNanos; oldest <= toUnixNano; reach *= 8n) {
    const newest = fromUnixNano + reach - 1n;
    yield { fromUnixNano: oldest, toUnixNano: newest < toUnixNano ? newest : toUnixNano };
    oldest = newest + 1n;
  }
}
