/**
 * Counter resets that start timestamps tell: a sample that began to count after the previous sample was taken.
 * https://github.com/prometheus/proposals/blob/main/proposals/0060-promql-start-timestamps.md
 */

/** Whether sample `index` began anew after sample `index - 1`; false where starts are unknown or make no sense. */
export function isRestart(times: Float64Array, starts: Float64Array | null, index: number): boolean {
  if (starts === null) return false;
  const start = starts[index]!;
  const previousTime = times[index - 1]!;
  // A start at the sample's own time is OpenTelemetry's "unknown".
  if (start === 0 || start >= times[index]! || start < previousTime) return false;
  if (start > previousTime) return true;
  // It starts exactly where the previous sample is: a delta, or a cumulative series whose start was never known.
  const previousStart = starts[index - 1]!;
  return previousStart !== 0 && previousStart < previousTime;
}

/** Whether sample `index` claims to have begun before the previous one ended, without being its continuation. */
export function overlapsPrevious(times: Float64Array, starts: Float64Array | null, index: number): boolean {
  if (starts === null) return false;
  const start = starts[index]!;
  return start !== 0 && start < times[index - 1]! && start !== starts[index - 1]!;
}

/** The indexes in rising order for which a test holds. */
export function indexesWhere(length: number, test: (index: number) => boolean): Int32Array {
  const found: number[] = [];
  for (let index = 1; index < length; index++) {
    if (test(index)) found.push(index);
  }
  return Int32Array.from(found);
}
