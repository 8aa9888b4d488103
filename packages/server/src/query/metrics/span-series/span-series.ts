/**
 * Reads metrics over spans as samples. Each sample is a delta: the sum over spans that ended in one millisecond, with a start
 * time just before it, so `rate` and `increase` add up the deltas without extrapolation. For these two functions, a sample
 * of zero ends each window, because a counter without new spans is known to be unchanged.
 */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { bucketBounds, bucketOf, endMs } from "../../../store/row-expressions.ts";
import { join, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import type { SelectRequest, StoredSeries } from "@sounding/promql/storage";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { isMatchedBy } from "../label-matching.ts";
import type { SpanLabel } from "../../../store/span-labels.ts";
import { withMatchingValues } from "./matching-values.ts";
import type { SpanMetric } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { selectSpans, type SelectedSpans } from "./span-selection.ts";

export interface SpanQuery {
  readonly reader: TenantReader;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  /** Labels that the query mentions anywhere. */
  readonly namedLabels: ReadonlySet<string>;
}

interface SampleRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  /** With an amount for each part of the metric that was read. */
  readonly samples: readonly (readonly [timeMs: string, amounts: readonly (number | string)[]])[];
}

/** Half a millisecond, which is less than the distance between two samples. */
const startBeforeMs = 0.5;

/** The labels of a metric's series in one query. */
export function seriesLabels(metric: SpanMetric, namedLabels: ReadonlySet<string>): readonly SpanLabel[] {
  return [...metric.labels, ...metric.labelsWhenNamed.filter((label) => namedLabels.has(label))];
}

/** The samples of the series of the names. @throws AppError as the store does */
export async function selectSpanSeries(
  names: readonly SpanSeriesName[],
  request: SelectRequest,
  query: SpanQuery,
): Promise<StoredSeries[]> {
  const found: StoredSeries[] = [];
  for (const [metric, ofMetric] of byMetric(names)) {
    for (const series of await selectMetric(metric, { names: ofMetric, request, query })) found.push(series);
  }
  return found;
}

/** The parts of a metric are read together: a selector without a name, such as `{__name__=~".+"}`, selects them all. */
export function byMetric(names: readonly SpanSeriesName[]): Map<SpanMetric, SpanSeriesName[]> {
  return Map.groupBy(names, ({ metric }) => metric);
}

interface MetricRead {
  /** Of one metric. */
  readonly names: readonly SpanSeriesName[];
  readonly request: SelectRequest;
  readonly query: SpanQuery;
}

async function selectMetric(metric: SpanMetric, { names, query, request }: MetricRead): Promise<StoredSeries[]> {
  const { namedLabels, project, reader } = query;
  const labels = seriesLabels(metric, namedLabels);
  const selection = { ...request, metric, project, labels };
  const selected = selectSpans(await withMatchingValues(selection, { ...request, reader }));
  if (selected === null) return [];
  const parts = names.map(({ part }) => part);
  const rows = await reader.query<SampleRow>(samplesStatement(metric, { selected, parts }), {
    signal: request.signal,
    memory: { add: request.charge },
    duplicates: "kept",
    maximumRows: request.hints.maxSeries,
  });
  const windowEnds = metric.type === "gauge" ? [] : windowEndsOf(request);
  const found: StoredSeries[] = [];
  const yielder = new CooperativeYield();
  for (const [at, { name, part }] of names.entries()) {
    const build = { name, at, labels, windowEnds, isDelta: metric.type !== "gauge" };
    const groups = parts.includes("bucket") ? rowsOfLabels(rows) : rows.map((row) => [row]);
    for (const series of part === "bucket" ? bucketSeries(groups, build) : eachSeries(groups, build)) {
      if (await matchesLe(series.labels, request)) found.push(series);
      // The memory of zeros and buckets, which are added after reading: each bucket has the labels once more.
      request.charge(series.timestampsMs.length * bytesPerSample + series.labels.key.length);
      if (yielder.isDue(longStep)) await yielder.yield();
    }
  }
  return found;
}

/** A sample's time, start and value. */
const bytesPerSample = 24;

interface SamplesParts {
  readonly selected: SelectedSpans;
  readonly parts: readonly SpanSeriesName["part"][];
}

function samplesStatement(metric: SpanMetric, { selected, parts }: SamplesParts): Statement {
  const amounts = parts.map((part) => {
    const amount = part === "bucket" || part === "count" ? sql`1.` : metric.value;
    return sql`toFloat64(${totalOf(metric)}(${amount}))`;
  });
  const bucket = parts.includes("bucket") ? bucketOf(metric.value) : sql`0.`;
  return sql`SELECT label_values, bucket, groupArray((ended, amounts)) AS samples FROM (
      SELECT ${selected.labelList} AS label_values, ${bucket} AS bucket, ${endMs} AS ended,
        [${join(amounts, sql`, `)}] AS amounts
      FROM ${selected.rows} GROUP BY label_values, bucket, ended
    ) GROUP BY label_values, bucket`;
}

const totals = { sum: sql`sum`, min: sql`min`, max: sql`max` } as const;

/** The store's aggregate function that combines the values of spans. */
export function totalOf({ edge }: SpanMetric): Statement {
  return totals[edge ?? "sum"];
}

interface Build {
  readonly name: string;
  /** Which of the amounts. */
  readonly at: number;
  readonly labels: readonly SpanLabel[];
  readonly windowEnds: readonly number[];
  readonly isDelta: boolean;
}

export function toLabels(
  values: readonly string[],
  { labels, name }: Pick<Build, "labels" | "name">,
  le?: number,
): Labels {
  const entries = labels.map((label, index): [string, string] => [label, values[index]!]);
  if (le !== undefined) entries.push(["le", formatPlain(le)]);
  return labelsFrom([["__name__", name], ...entries]);
}

type RowGroup = readonly SampleRow[];

/** The rows of each series, which are several if they are split by bucket. */
function rowsOfLabels(rows: readonly SampleRow[]): RowGroup[] {
  return [...Map.groupBy(rows, (row) => JSON.stringify(row.label_values)).values()];
}

function* eachSeries(groups: readonly RowGroup[], build: Build): Generator<StoredSeries> {
  for (const group of groups) {
    const samples = new Map<number, number>();
    for (const row of group) {
      for (const [time, amount] of samplesOf(row, build)) samples.set(time, (samples.get(time) ?? 0) + amount);
    }
    yield fromSamples(toLabels(group[0]!.label_values, build), samples, build);
  }
}

function samplesOf({ samples }: SampleRow, { at }: Build): Map<number, number> {
  return new Map(samples.map(([time, amounts]) => [Number(time), toNumber(amounts[at]!)]));
}

function fromSamples(
  labels: Labels,
  samples: ReadonlyMap<number, number>,
  { isDelta, windowEnds }: Build,
): StoredSeries {
  const all = new Map(samples);
  for (const end of windowEnds) if (!all.has(end)) all.set(end, 0);
  const timestampsMs = Float64Array.from(all.keys()).sort();
  const values = timestampsMs.map((time) => all.get(time)!);
  if (!isDelta) return { labels, timestampsMs, values };
  return { labels, timestampsMs, values, startTimestampsMs: timestampsMs.map((time) => time - startBeforeMs) };
}

/** Converts a histogram's buckets to cumulative ones. */
function* bucketSeries(groups: readonly RowGroup[], build: Build): Generator<StoredSeries> {
  for (const group of groups) {
    const byBound = new Map(group.map((row) => [toNumber(row.bucket), samplesOf(row, build)]));
    const running = new Map<number, number>();
    for (const row of group) for (const [time] of row.samples) running.set(Number(time), 0);
    for (const bound of [...bucketBounds, Infinity]) {
      for (const [time, amount] of byBound.get(bound) ?? []) running.set(time, running.get(time)! + amount);
      yield fromSamples(toLabels(group[0]!.label_values, build, bound), running, build);
    }
  }
}

/** A number from the store's JSON, which writes infinity as a string. */
export function toNumber(value: number | string): number {
  if (typeof value === "number") return value;
  return value === "inf" ? Infinity : value === "-inf" ? -Infinity : Number(value);
}

export function matchesLe(
  labels: Labels,
  { matchers, yieldBudget }: Pick<SelectRequest, "matchers" | "yieldBudget">,
): boolean | Promise<boolean> {
  const ofBuckets = matchers.filter(({ name }) => name === "le");
  return isMatchedBy(labels, ofBuckets, yieldBudget);
}

const maximumWindowEnds = 11_000;

/** The ends of the windows of `rate` and `increase`; inside subqueries they are multiples of the step. */
function windowEndsOf({ fromMs, hints, toMs }: SelectRequest): number[] {
  if (hints.rangeMs === 0 || (hints.function !== "rate" && hints.function !== "increase")) return [];
  const first = fromMs + hints.rangeMs - 1;
  if (hints.stepMs === 0 || first === toMs) return [toMs];
  const ends: number[] = [];
  for (let end = first; end <= toMs && ends.length <= maximumWindowEnds; end += hints.stepMs) ends.push(end);
  for (let end = Math.ceil(first / hints.stepMs) * hints.stepMs; end <= toMs; end += hints.stepMs) {
    if (ends.length > 2 * maximumWindowEnds) break;
    ends.push(end);
  }
  return ends;
}
