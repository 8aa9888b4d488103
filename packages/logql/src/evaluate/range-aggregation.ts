/**
 * Range aggregations: entries become samples, samples become series, and each series gets a value for each window. A window
 * is open at its start and closed at its end.
 */
import { float, isEmpty, newColumn, setFloat, type Column } from "@sounding/promql/evaluate/grid";
import {
  dropLabels,
  emptyLabels,
  keepLabels,
  labelsFrom,
  printLabels,
  type Labels,
} from "@sounding/promql/series/labels";
import { compilePipeline, type Pipeline, type PipelineOutput } from "../pipeline/pipeline.ts";
import type { Grouping, RangeAggregation } from "../syntax/ast.ts";
import { conditionsOf, needsOf } from "./entry-needs.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { HeldSamples } from "./held-samples.ts";
import { checkSeriesCount, queryError } from "./limits.ts";
import { readEntries } from "./read-entries.ts";
import { MergedWindows, QuantileWindows, type SeriesWindows } from "./series-windows.ts";
import { firstWindowEnd, Panes, timeRangeOf, toNanos, type TimeGrid, type WindowTimes } from "./time-grid.ts";
import { windowFunction } from "./window-functions.ts";

/** A range aggregation that is ready to read entries. */
export interface RangePlan {
  readonly aggregation: RangeAggregation;
  /** How samples become series: the aggregation's own grouping, or that of a `sum` around it; null: by all labels. */
  readonly grouping: Grouping | null;
  readonly pipeline: Pipeline;
}

/** The aggregations whose sum over groups is the aggregation over the groups' entries. */
const additive: ReadonlySet<string> = new Set([
  "bytes_over_time",
  "bytes_rate",
  "count_over_time",
  "rate",
  "sum_over_time",
]);

const noLabels: Grouping = { labels: [], without: false };

/**
 * Compiles the pipeline; throws for invalid expressions.
 * @param sum the grouping of a `sum` right around the aggregation; undefined if there is none
 */
export function planRangeAggregation(aggregation: RangeAggregation, sum: Grouping | null | undefined): RangePlan {
  const grouping = groupingOf(aggregation, sum);
  const { query, unwrap } = aggregation;
  return {
    aggregation,
    grouping,
    pipeline: compilePipeline(query.stages, { unwrap, neededLabels: labelsIn(grouping) }),
  };
}

function groupingOf(aggregation: RangeAggregation, sum: Grouping | null | undefined): Grouping | null {
  if (aggregation.operator === "absent_over_time") return noLabels;
  const isInjected = sum !== undefined && aggregation.grouping === null && additive.has(aggregation.operator);
  return isInjected ? (sum ?? noLabels) : aggregation.grouping;
}

/** The labels that series are grouped by; undefined if they are not known before the entries are read. */
function labelsIn(grouping: Grouping | null): ReadonlySet<string> | undefined {
  return grouping === null || grouping.without ? undefined : new Set(grouping.labels);
}

/** The value of each series at each step. */
export async function evaluateRangeAggregation(
  plan: RangePlan,
  grid: TimeGrid,
  context: EvaluationContext,
): Promise<readonly Column[]> {
  const { aggregation } = plan;
  const times: WindowTimes = {
    grid,
    rangeNano: toNanos(aggregation.rangeMs),
    offsetNano: toNanos(aggregation.offsetMs),
  };
  const collector = new SeriesCollector(plan, times, context);
  await readEntries(
    {
      request: {
        matchers: aggregation.query.matchers,
        ...conditionsOf(aggregation.query.stages),
        ...timeRangeOf(times),
        direction: "forward",
        expectedEntries: undefined,
        needs: needsOf(aggregation.query, aggregation.unwrap, labelsIn(plan.grouping)),
      },
      pipeline: plan.pipeline,
      isWanted: (unixNano) => collector.isInWindow(unixNano),
      visit: (output, { lineBytes, unixNano }) => {
        collector.add(output, unixNano, lineBytes);
        return false;
      },
    },
    context,
  );
  const columns = await collector.finish();
  return aggregation.operator === "absent_over_time" ? absentColumns(aggregation, columns, grid.count) : columns;
}

/** What a series takes in memory besides its samples and the text of its labels. */
const bytesOfSeries = 400;
const bytesPerCharacter = 2;

interface Series {
  readonly labels: Labels;
  readonly windows: SeriesWindows;
}

class SeriesCollector {
  readonly #context: EvaluationContext;
  readonly #panes: Panes;
  readonly #firstEnd: bigint;
  readonly #held: HeldSamples;
  readonly #valueOf: (output: PipelineOutput, lineBytes: number) => number;
  readonly #newWindows: () => SeriesWindows;
  readonly #toSeries: (labels: Labels) => Labels;
  readonly #byKey = new Map<string, Series>();
  /** Pipelines return the same object for most equal label sets. */
  #byLabels = new WeakMap<Labels, Series>();
  #pane = -1;
  readonly #count: number;

  constructor(plan: RangePlan, times: WindowTimes, context: EvaluationContext) {
    const { aggregation } = plan;
    this.#context = context;
    this.#panes = new Panes(times);
    this.#firstEnd = firstWindowEnd(times);
    this.#held = new HeldSamples(context.budget);
    this.#count = times.grid.count;
    this.#valueOf = valueReader(aggregation);
    this.#newWindows = windowsFactory(aggregation, times, this.#held);
    this.#toSeries = seriesLabels(plan);
  }

  /** Whether any window has this time; times ascend. */
  isInWindow(unixNano: bigint): boolean {
    this.#pane = this.#panes.at(unixNano);
    return this.#pane !== -1;
  }

  /** Adds an entry of the time that `isInWindow` got. */
  add(output: PipelineOutput, unixNano: bigint, lineBytes: number): void {
    this.#seriesOf(output).windows.add(this.#pane, this.#valueOf(output, lineBytes), Number(unixNano - this.#firstEnd));
  }

  #seriesOf(output: PipelineOutput): Series {
    refuseError(output);
    const known = this.#byLabels.get(output.labels);
    if (known !== undefined) return known;
    const labels = this.#toSeries(output.labels);
    let series = this.#byKey.get(labels.key);
    if (series === undefined) {
      const { budget, limits } = this.#context;
      checkSeriesCount(this.#byKey.size + 1, limits);
      budget.holdBytes(bytesOfSeries + bytesPerCharacter * labels.key.length);
      series = { labels, windows: this.#newWindows() };
      this.#byKey.set(labels.key, series);
    }
    this.#byLabels.set(output.labels, series);
    return series;
  }

  async finish(): Promise<readonly Column[]> {
    const { budget } = this.#context;
    const columns: Column[] = [];
    for (const [key, { labels, windows }] of this.#byKey) {
      this.#held.hold(this.#count);
      const column = newColumn(labels, false, this.#count);
      await windows.fill(column, this.#panes, budget);
      this.#byKey.delete(key);
      if (!isEmpty(column)) columns.push(column);
    }
    this.#byLabels = new WeakMap();
    this.#held.releaseDownTo(columns.length * this.#count);
    return columns;
  }
}

function valueReader({ operator, unwrap }: RangeAggregation): (output: PipelineOutput, lineBytes: number) => number {
  if (unwrap !== null) return ({ value }) => value;
  if (operator === "bytes_over_time" || operator === "bytes_rate") return (_, lineBytes) => lineBytes;
  return () => 1;
}

function windowsFactory(
  { operator, parameter, unwrap }: RangeAggregation,
  { grid, rangeNano }: WindowTimes,
  held: HeldSamples,
): () => SeriesWindows {
  const ofWindow = windowFunction(operator, { hasValues: unwrap !== null, rangeNano: Number(rangeNano) });
  if (ofWindow === null) return () => new QuantileWindows(parameter ?? Number.NaN, held);
  const stepNano = Number(grid.stepNano);
  return () => new MergedWindows(ofWindow, stepNano, held);
}

/** Returns the labels of an entry's series. Unwrapping removes the label, unless the query groups by it. */
function seriesLabels({ aggregation: { unwrap }, grouping }: RangePlan): (labels: Labels) => Labels {
  if (grouping !== null && !grouping.without) {
    const names = new Set(grouping.labels);
    return names.size === 0 ? () => emptyLabels : (labels) => keepLabels(labels, names);
  }
  const names = new Set([...(grouping?.labels ?? []), ...(unwrap === null ? [] : [unwrap.label])]);
  return names.size === 0 ? (labels) => labels : (labels) => dropLabels(labels, names);
}

/** Errors of stages end a metric query, unless its pipeline filters them or the query asks for them. */
function refuseError(output: PipelineOutput): void {
  const error = output.get("__error__");
  if (error === "" || output.get("__preserve_error__") === "true") return;
  throw queryError(
    `pipeline error: '${error}' for series: '${printLabels(output.labels)}'.\n` +
      `Use a label filter to intentionally skip this error. (e.g | __error__!="${error}").\n` +
      'To skip all potential errors you can match empty errors.(e.g __error__="")\n' +
      'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n',
  );
}

/** 1 at each step at which no entry was found, with the labels that the selector fixes. */
function absentColumns(
  { query: { matchers } }: RangeAggregation,
  found: readonly Column[],
  count: number,
): readonly Column[] {
  const fixed = new Map<string, string>();
  const unknown = new Set<string>();
  for (const { name, operator, value } of matchers) {
    if (name === "__name__") continue;
    if (operator === "=" && !fixed.has(name)) fixed.set(name, value);
    else unknown.add(name);
  }
  for (const name of unknown) fixed.delete(name);
  const column = newColumn(labelsFrom(fixed), false, count);
  for (let step = 0; step < count; step++) {
    if (!found.some(({ kinds }) => kinds[step] === float)) setFloat(column, step, 1);
  }
  return isEmpty(column) ? [] : [column];
}
