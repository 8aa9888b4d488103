/** Instant selectors: at each step the newest sample that is not older than the lookback. */
import { messages } from "./annotations.ts";
import { isStaleMarker, type StoredSeries } from "../storage.ts";
import { interpolateFloat, interpolateHistogram } from "../functions/interpolate.ts";
import { usesCustomBuckets, type FloatHistogram } from "../histogram/float-histogram.ts";
import { getLabel } from "../series/labels.ts";
import type { VectorSelector } from "../syntax/ast.ts";
import { workOfHistogram } from "./budget.ts";
import { isEmpty, newColumn, setFloat, setHistogram, timeAt, type Column, type Grid } from "./grid.ts";
import { fixedTimeMs, offsetMs, type QueryContext } from "./query-context.ts";
import { firstAfter, toRangeSeries, type HistogramSamples, type RangeSeries } from "./range-series.ts";

/** What a column gets for the sample that was found. */
export type SampleReader = (stored: StoredSeries, index: number, at: { column: Column; step: number }) => void;

/** The sample itself. */
const readSample: SampleReader = (stored, index, { column, step }) => {
  const value = stored.histograms?.[index] ?? null;
  if (value === null) setFloat(column, step, stored.values[index]!);
  else setHistogram(column, step, value);
};

/** The sample's time in milliseconds. */
export const readTime: SampleReader = (stored, index, { column, step }) => {
  setFloat(column, step, stored.timestampsMs[index]!);
};

/** The sample's start timestamp in seconds. */
export const readStart: SampleReader = (stored, index, { column, step }) => {
  setFloat(column, step, (stored.startTimestampsMs?.[index] ?? 0) / 1000);
};

/** When a selector is evaluated: `@` and `offset` in milliseconds. */
export interface SelectorTime {
  readonly fixedMs: number | undefined;
  readonly offsetMs: number;
}

export function selectorTime(selector: VectorSelector, context: QueryContext): SelectorTime {
  return { fixedMs: fixedTimeMs(selector, context), offsetMs: offsetMs(selector, context) };
}

/** The selector's series on the grid. */
export async function evaluateSelector(
  selector: VectorSelector,
  grid: Grid,
  context: QueryContext,
): Promise<readonly Column[]> {
  const stored = context.selected.get(selector) ?? [];
  const time = selectorTime(selector, context);
  if (selector.boundary === "smoothed") return smooth(stored, { selector, grid, context, time });
  return readColumns(stored, { grid, context, time, read: readSample });
}

/** Each series through a reader; series without samples are dropped. */
export async function readColumns(
  series: readonly StoredSeries[],
  options: { grid: Grid; context: QueryContext; time: SelectorTime; read: SampleReader },
): Promise<readonly Column[]> {
  const { budget } = options.context;
  const columns: Column[] = [];
  for (const stored of series) {
    budget.holdSamples(options.grid.count);
    const column = readColumn(stored, options);
    if (isEmpty(column)) budget.releaseSamples(options.grid.count);
    else columns.push(column);
    // All samples are read once, however few steps there are.
    if (budget.spend(options.grid.count + stored.timestampsMs.length / 8 + 16)) await budget.yield();
  }
  return columns;
}

function readColumn(
  stored: StoredSeries,
  { grid, context, time, read }: { grid: Grid; context: QueryContext; time: SelectorTime; read: SampleReader },
): Column {
  const { timestampsMs, values } = stored;
  const column = newColumn(stored.labels, false, grid.count);
  let next = 0;
  for (let step = 0; step < grid.count; step++) {
    const referenceMs = (time.fixedMs ?? timeAt(grid, step)) - time.offsetMs;
    if (step === 0) next = firstAfter(timestampsMs, referenceMs);
    while (next < timestampsMs.length && timestampsMs[next]! <= referenceMs) next++;
    const index = next - 1;
    if (index < 0 || timestampsMs[index]! <= referenceMs - context.lookbackMs) continue;
    if ((stored.histograms?.[index] ?? null) === null && isStaleMarker(values, index)) continue;
    read(stored, index, { column, step });
  }
  return column;
}

interface SmoothOptions {
  readonly selector: VectorSelector;
  readonly grid: Grid;
  readonly context: QueryContext;
  readonly time: SelectorTime;
}

/** `smoothed`: values interpolated between the samples before and after each step. */
async function smooth(series: readonly StoredSeries[], options: SmoothOptions): Promise<readonly Column[]> {
  const { budget } = options.context;
  const columns: Column[] = [];
  for (const stored of series) {
    budget.holdSamples(options.grid.count);
    const range = toRangeSeries(stored);
    const column = newColumn(stored.labels, false, options.grid.count);
    for (let step = 0; step < options.grid.count; step++) {
      smoothStep(range, { column, step }, options);
      if (budget.spend(range.histograms.times.length === 0 ? 8 : workOfHistogram)) await budget.yield();
    }
    if (budget.spend(stored.timestampsMs.length)) await budget.yield();
    if (isEmpty(column)) budget.releaseSamples(options.grid.count);
    else columns.push(column);
  }
  return columns;
}

function smoothStep(series: RangeSeries, at: { column: Column; step: number }, options: SmoothOptions): void {
  const { context, grid, selector, time } = options;
  const { floats, histograms, labels } = series;
  const timeMs = (time.fixedMs ?? timeAt(grid, at.step)) - time.offsetMs;
  const [firstFloat, endFloat] = around(floats.times, timeMs, context.lookbackMs);
  const [firstHistogram, endHistogram] = around(histograms.times, timeMs, context.lookbackMs);
  if (endFloat > firstFloat && endHistogram > firstHistogram) {
    const message = messages.mixedFloatsHistograms(getLabel(labels, "__name__"));
    context.annotations.warn(message, selector.at);
    return;
  }
  if (endHistogram > firstHistogram) {
    const value = smoothHistogram(histograms, [firstHistogram, endHistogram], {
      timeMs,
      warn: (message) => context.annotations.warn(message, selector.at),
      report: (message) => context.annotations.inform(message, selector.at),
      metric: getLabel(labels, "__name__"),
    });
    if (value !== undefined) setHistogram(at.column, at.step, value);
    return;
  }
  const before = firstAfter(floats.times, timeMs) - 1;
  if (before < firstFloat) return;
  const isBetween = floats.times[before] !== timeMs && before + 1 < endFloat;
  setFloat(at.column, at.step, isBetween ? interpolateFloat(floats, before, timeMs, false) : floats.values[before]!);
}

/** The samples that are nearer than the lookback on either side. */
function around(times: Float64Array, timeMs: number, lookbackMs: number): readonly [first: number, end: number] {
  return [firstAfter(times, timeMs - lookbackMs), firstAfter(times, timeMs + lookbackMs)];
}

interface SmoothHistogramOptions {
  readonly timeMs: number;
  readonly metric: string;
  readonly warn: (message: string) => void;
  readonly report: (message: string) => void;
}

function smoothHistogram(
  samples: HistogramSamples,
  [first, end]: readonly [number, number],
  { timeMs, metric, warn, report }: SmoothHistogramOptions,
): FloatHistogram | undefined {
  const before = firstAfter(samples.times, timeMs) - 1;
  if (before < first) return undefined;
  const value = samples.values[before]!;
  if (samples.times[before] === timeMs) return value;
  const next = before + 1 < end ? samples.values[before + 1]! : undefined;
  // The hint refers to a sample that no longer precedes this one.
  if (next === undefined) return { ...value, counterResetHint: "unknown" };
  if (usesCustomBuckets(value) !== usesCustomBuckets(next)) {
    warn(messages.mixedBucketKinds(metric));
    return undefined;
  }
  const isCounter = value.counterResetHint !== "gauge" || next.counterResetHint !== "gauge";
  return interpolateHistogram(samples, before, { timeMs, isCounter, report });
}
