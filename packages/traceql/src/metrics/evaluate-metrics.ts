/** Evaluates one metrics function on the spans that a query selects. */
import type { Budget } from "@sounding/promql/evaluate/budget";
import type { TraceqlLimits } from "../limits.ts";
import { TraceReader, type ReadStatistics } from "../read-traces.ts";
import { compileQuery, type CompiledQuery, type Match } from "../spans/compiled-query.ts";
import type { Field } from "../spans/read-field.ts";
import { forEachSpan } from "../spans/span-loop.ts";
import { distinctFields } from "../spans/stage-fields.ts";
import type { TraceqlStorage } from "../storage.ts";
import type { MetricsAggregate, MetricsCompare, MetricsExpression } from "../syntax/ast.ts";
import { CompareSeries } from "./compare-series.ts";
import { ExemplarChooser } from "./exemplars.ts";
import { HistogramSeries } from "./histogram-series.ts";
import { intervalOf, timeRange, type Intervals } from "./intervals.ts";
import { pushDown } from "./push-down.ts";
import { seriesSet, type SeriesSet } from "./series.ts";
import { comparedIntrinsics } from "./span-fields.ts";
import type { GridObserver, ObserverContext, SpanObserver } from "./span-observer.ts";
import { ValueSeries } from "./value-series.ts";

export type SingleQuery = Extract<MetricsExpression, { readonly kind: "metrics-query" }>;

export interface MetricsContext {
  readonly storage: TraceqlStorage;
  readonly intervals: Intervals;
  readonly budget: Budget;
  readonly limits: TraceqlLimits;
  /** Exemplars of one function. */
  readonly exemplars: number;
  /** Adds up what was read. */
  readonly addStatistics: (read: ReadStatistics) => void;
}

/** The series of a query without its second stages. */
export async function evaluateSingle(query: SingleQuery, context: MetricsContext): Promise<SeriesSet> {
  const { aggregate, stages } = query;
  const { budget, exemplars, intervals } = context;
  const otherFields = aggregate.kind === "metrics-compare" ? fieldsOfCompare(aggregate) : fieldsOf(aggregate);
  const compiled = compileQuery(stages, { budget, otherFields });
  const shown = distinctFields([...compiled.reads.map(({ field }) => field), ...otherFields]);
  const chooser = new ExemplarChooser(exemplars, intervals, aggregate.kind === "metrics-compare" ? [] : shown);
  const observing: ObserverContext = { intervals, budget, exemplars: chooser };
  if (aggregate.kind === "metrics-compare") {
    const observer = new CompareSeries(aggregate, observing);
    await observeAll(compiled, observer, { ...context, allAttributes: true });
    return seriesSet(await observer.result(), budget);
  }
  const observer = observerOf(aggregate, observing);
  const pushedDown = compiled.isImpossible
    ? null
    : await pushDown(context.storage, { stages, aggregate, intervals, budget });
  if (pushedDown === null) {
    await observeAll(compiled, observer, context);
  } else {
    await observer.addGrid(pushedDown.series, pushedDown.spans);
    const { condition } = pushedDown;
    const examples = {
      ...compiled,
      needs: { ...compiled.needs, conditions: [condition], combination: "any" as const },
    };
    await findExemplars(examples, { observer, chooser }, context);
  }
  return seriesSet(await observer.result(), budget);
}

function fieldsOf({ by, field }: MetricsAggregate): readonly Field[] {
  return field === null ? by : [...by, field];
}

/** All attributes are read, too. */
function fieldsOfCompare({ selection }: MetricsCompare): readonly Field[] {
  const { reads } = compileQuery([selection], { budget: { spend: () => false, yield: () => Promise.resolve() } });
  return [...comparedIntrinsics, ...reads.map(({ field }) => field)];
}

function observerOf(aggregate: MetricsAggregate, context: ObserverContext): GridObserver {
  const { field, operator } = aggregate;
  const isHistogram = operator === "histogram_over_time" || operator === "quantile_over_time";
  return field !== null && isHistogram
    ? new HistogramSeries({ ...aggregate, field }, context)
    : new ValueSeries(aggregate, context);
}

async function observeAll(
  compiled: CompiledQuery,
  observer: SpanObserver,
  context: MetricsContext & { readonly allAttributes?: boolean },
): Promise<void> {
  const { allAttributes = false, budget, intervals, limits, storage } = context;
  const range = { ...timeRange(intervals), heads: false, expectedTraces: undefined, allAttributes };
  const reader = new TraceReader(storage, { budget, limits, ...range });
  for await (const match of reader.matches(compiled)) {
    await visitSpans(match, context, (index, interval) => observer.observe(match.view, index, interval));
  }
  context.addStatistics(reader.statistics);
}

async function visitSpans(
  { spansets, view }: Match,
  { budget, intervals }: MetricsContext,
  visitSpan: (index: number, interval: number) => void,
): Promise<void> {
  const visit = (index: number): void => {
    const interval = intervalOf(intervals, view.spans[index]!.startUnixNano);
    if (interval !== -1) visitSpan(index, interval);
  };
  for (const { spans } of spansets) await forEachSpan(view, spans, { budget, visit });
}

/** The parts of the time range in which exemplars are found for series that the store has aggregated. */
const exemplarParts = 8;
/** Traces that are read for each exemplar. */
const tracesPerExemplar = 4;

/** The newest share of a part, in which most conditions find enough: choosing from all spans would sort them. */
const newestShare = 32n;

/** Looks at some traces of each part of the time: first near its end, and then in the rest. */
async function findExemplars(
  compiled: CompiledQuery,
  { chooser, observer }: { readonly chooser: ExemplarChooser; readonly observer: GridObserver },
  context: MetricsContext,
): Promise<void> {
  const { budget, intervals, limits, storage } = context;
  const divided = chooser.divide(Math.min(exemplarParts, chooser.left));
  const tracesPerPart = tracesPerExemplar * (divided[0]?.exemplars ?? 0);
  const cuts = divided.map(({ part }) => {
    const { fromUnixNano, toUnixNano } = timeRange(part);
    return { fromUnixNano, toUnixNano, cut: toUnixNano - (toUnixNano - fromUnixNano) / newestShare };
  });
  const newest = cuts.map(({ cut, toUnixNano }) => ({ fromUnixNano: cut, toUnixNano }));
  const rest = cuts.map(({ cut, fromUnixNano }) => ({ fromUnixNano, toUnixNano: cut }));
  for (const parts of [newest, rest]) {
    if (chooser.left === 0) break;
    const sample = { parts, tracesPerPart };
    const range = { ...timeRange(intervals), heads: false, expectedTraces: tracesPerPart * parts.length, sample };
    const reader = new TraceReader(storage, { budget, limits, ...range });
    for await (const match of reader.matches(compiled)) {
      await visitSpans(match, context, (index) => observer.observeExemplar(match.view, index));
      if (chooser.left === 0) break;
    }
    context.addStatistics(reader.statistics);
  }
}
