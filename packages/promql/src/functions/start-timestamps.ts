/**
 * Counter resets found by start timestamps: a sample whose count started after the previous sample.
 * https://github.com/prometheus/proposals/blob/main/proposals/0060-promql-start-timestamps.md
 */

/** Whether the counter restarted between samples `index - 1` and `index`; false if starts are unknown or inconsistent. */
export function isRestart(times: Float64Array, starts: Float64Array | null, index: number): boolean {
  if (starts === null) return false;
  const start = starts[index]!;
  const previousTime = times[index - 1]!;
  // A start at the sample's own time is OpenTelemetry's "unknown".
  if (start === 0 || start >= times[index]! || start < previousTime) return false;
  if (start > previousTime) return true;
  // It starts exactly at the previous sample: a delta, or a cumulative series whose start was never known.
  const previousStart = starts[index - 1]!;
  return previousStart !== 0 && previousStart < previousTime;
}

/** Whether sample `index` overlaps the previous one without continuing it. */
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
