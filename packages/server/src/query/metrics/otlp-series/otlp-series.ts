/** Reads series that applications sent over OTLP, with Prometheus' names, labels and histogram parts. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import { markStale, type StoredSeries } from "@sounding/promql/storage";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { isMatchedBy } from "../label-matching.ts";
import { toNativeHistogram } from "./native-histogram.ts";
import type { OtlpPart, OtlpSeriesName } from "./otlp-metric.ts";
import { boundsOf, countsUpTo, readHistograms, totalsOf, type HistogramColumns } from "./otlp-histograms.ts";
import { pointLists, readDistributions, type DistributionPoint, type PointsRequest } from "./otlp-points.ts";
import { readValues } from "./otlp-values.ts";
import { buildSeries, mergeSeries, type Sample } from "./stored-series.ts";
import {
  findSeries,
  partLabels,
  seriesCost,
  type DescribedSeries,
  type OtlpQuery,
  type OtlpRequest,
} from "./series-lookup.ts";
import type { ValueColumns } from "./value-columns.ts";

/** The series of the names that have points in the range. @throws AppError as the store does */
export async function selectOtlpSeries(request: OtlpRequest, query: OtlpQuery): Promise<StoredSeries[]> {
  if (request.names.length === 0) return [];
  const found = await findSeries(request, query);
  if (found.length === 0) return [];
  // Of a metric of several projects, only one project's series are known here.
  const mayReadAll = query.project === undefined;
  const ofNames = (belongs: (name: OtlpSeriesName) => boolean): PointsRequest[] =>
    pointLists(
      found
        .filter(({ name }) => belongs(name))
        .map(({ series: { id, metric }, seriesOfMetric }) => ({
          id,
          metric,
          seriesOfMetric: mayReadAll ? seriesOfMetric : undefined,
        })),
    ).map((list) => ({ ...request, ...list }));
  const isBounded = ({ metric }: OtlpSeriesName): boolean => metric.type === "histogram";
  const has = (part: OtlpPart): boolean => request.names.some((name) => isBounded(name) && name.part === part);
  const buckets = has("bucket");
  // The bucket without a bound is the count.
  const parts = { buckets, counts: buckets || has("count"), sums: has("sum") };
  const { reader } = query;
  const [values, histograms, distributions] = await Promise.all([
    readAll(
      ofNames(({ part }) => part === "value"),
      (points) => readValues(reader, points),
    ),
    readAll(ofNames(isBounded), (points) => readHistograms(reader, points, parts)),
    readAll(
      ofNames((name) => name.part !== "value" && !isBounded(name)),
      (points) => readDistributions(reader, points),
    ),
  ]);
  const matchers = request.matchers.filter(({ name }) => partLabels.has(name));
  const built: StoredSeries[] = [];
  const { yieldBudget } = request;
  const take = async (all: readonly StoredSeries[]): Promise<void> => {
    for (const one of all) if (await isMatchedBy(one.labels, matchers, yieldBudget)) built.push(one);
  };
  for (const { name, series } of found) {
    if (name.part === "value") await take(valueSeries(labelsOf(name, series), series, values.get(series.id)));
    else if (name.metric.type !== "histogram") {
      const points = distributions.get(series.id) ?? [];
      await take(distributionSeries(name, series, points));
      if (yieldBudget.spend(points.length * 16)) await yieldBudget.yield();
    } else {
      for await (const one of histogramSeries(name, series, {
        groups: histograms.get(series.id),
        matchers,
        yieldBudget,
      })) {
        await take([one]);
        if (yieldBudget.spend(seriesCost + one.timestampsMs.length)) await yieldBudget.yield();
      }
    }
    if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
  }
  return mergeSeries(built);
}

/** Label sets of described series, which queries share, by name. */
const labelSets = new WeakMap<DescribedSeries, Map<string, Labels>>();

/** @param part the label of a histogram's or a summary's part */
export function labelsOf(
  { name }: OtlpSeriesName,
  series: DescribedSeries,
  part?: [label: string, value: string],
): Labels {
  if (part !== undefined) return labelsFrom([...series.labels, part, ["__name__", name]]);
  let known = labelSets.get(series);
  if (known === undefined) labelSets.set(series, (known = new Map()));
  let labels = known.get(name);
  if (labels === undefined) known.set(name, (labels = labelsFrom([...series.labels, ["__name__", name]])));
  return labels;
}

function valueSeries(labels: Labels, series: DescribedSeries, columns: ValueColumns | undefined): StoredSeries[] {
  if (columns === undefined || columns.timestampsMs.length === 0) return [];
  const { stale, startTimestampsMs, timestampsMs, values } = columns;
  for (let index = stale?.indexOf(1) ?? -1; index !== -1; index = stale!.indexOf(1, index + 1))
    markStale(values, index);
  // Only counters have a meaningful start time; a gauge's is ignored.
  const isRising = series.monotonic || series.type === "histogram";
  return [{ labels, timestampsMs, values, startTimestampsMs: isRising ? startTimestampsMs : undefined }];
}

/** The results of all statements, read one after the other because each can be large. */
async function readAll<Points>(
  requests: readonly PointsRequest[],
  read: (request: PointsRequest) => Promise<ReadonlyMap<string, Points>>,
): Promise<ReadonlyMap<string, Points>> {
  const [first] = requests;
  if (first !== undefined && requests.length === 1) return read(first);
  const all = new Map<string, Points>();
  for (const request of requests) for (const [id, points] of await read(request)) all.set(id, points);
  return all;
}

interface HistogramParts {
  readonly yieldBudget: YieldBudget;
  readonly groups: readonly HistogramColumns[] | undefined;
  /** Matchers on the labels of parts, so that buckets that the query does not select are not computed. */
  readonly matchers: readonly LabelMatcher[];
}

async function* histogramSeries(
  name: OtlpSeriesName,
  series: DescribedSeries,
  { groups, matchers, yieldBudget }: HistogramParts,
): AsyncGenerator<StoredSeries> {
  if (groups === undefined) return;
  if (name.part !== "bucket") {
    const totals = totalsOf(groups, name.part === "sum" ? "sums" : "counts");
    yield* valueSeries(labelsOf(name, series), series, totals);
    return;
  }
  for (const bound of boundsOf(groups)) {
    const labels = labelsOf(name, series, ["le", formatPlain(bound)]);
    if (await isMatchedBy(labels, matchers, yieldBudget)) yield* valueSeries(labels, series, countsUpTo(groups, bound));
  }
}

function distributionSeries(
  name: OtlpSeriesName,
  series: DescribedSeries,
  points: readonly DistributionPoint[],
): StoredSeries[] {
  const of = (value: (point: DistributionPoint) => Partial<Sample>): Sample[] =>
    points.map((point) => ({
      timeMs: point.timeMs,
      startMs: point.startMs,
      isStale: point.isStale,
      value: 0,
      ...value(point),
    }));
  switch (name.part) {
    case "count":
      return buildSeries(
        labelsOf(name, series),
        of(({ count }) => ({ value: count })),
      );
    case "sum":
      return buildSeries(
        labelsOf(name, series),
        // An absent sum is NaN.
        of(({ sum }) => ({ value: sum })).filter(({ isStale, value }) => isStale || !Number.isNaN(value)),
      );
    case "native":
      return buildSeries(
        labelsOf(name, series),
        of((point) => ({ histogram: point.isStale ? null : toNativeHistogram(point) })),
      );
    default:
      return parted(points, ({ quantiles }) => quantiles).flatMap((quantile) =>
        buildSeries(
          labelsOf(name, series, ["quantile", formatPlain(quantile)]),
          of((point) => ({ value: point.quantileValues[point.quantiles.indexOf(quantile)] ?? Number.NaN, startMs: 0 })),
        ),
      );
  }
}

function parted(
  points: readonly DistributionPoint[],
  values: (point: DistributionPoint) => readonly number[],
): number[] {
  return [...new Set(points.flatMap(values))].sort((left, right) => left - right);
}

/** The label sets of the names' series without the labels of parts, whether or not they have points in the range. */
export async function otlpLabelSets(request: OtlpRequest, query: OtlpQuery): Promise<Labels[]> {
  if (request.names.length === 0) return [];
  const { yieldBudget } = request;
  const sets: Labels[] = [];
  for (const { name, series } of await findSeries(request, query)) {
    sets.push(labelsOf(name, series));
    if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
  }
  return sets;
}
