/** Series of metrics that applications sent by OTLP, with Prometheus' names, labels and parts. */
import { longStep, Slices } from "../../slices.ts";
import { bind, ownOrganization, sql } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, ofProject } from "../conditions.ts";
import { readDescriptions, type Descriptions } from "../descriptions.ts";
import { labelsFrom, type Labels } from "../promql/series/labels.ts";
import { markStale, type StoredSeries } from "../promql/storage.ts";
import type { LabelMatcher } from "../promql/syntax/ast.ts";
import { formatPlain } from "../promql/syntax/number-literal.ts";
import { fillInLabels } from "./fill-in-series.ts";
import { isMatchedBy } from "./label-matching.ts";
import { toNativeHistogram } from "./native-histogram.ts";
import { seenSince, type OtlpMetric, type OtlpSeriesName } from "./otlp-catalog.ts";
import { otlpLabels, type OtlpSeriesRow } from "./otlp-labels.ts";
import { boundsOf, countsUpTo, readHistograms, totalsOf, type HistogramColumns } from "./otlp-histograms.ts";
import { readDistributions, readValues, type DistributionPoint, type PointsRequest } from "./otlp-points.ts";
import { buildSeries, mergeSeries, type Sample } from "./stored-series.ts";
import type { ValueColumns } from "./value-columns.ts";

export interface OtlpRequest {
  readonly names: readonly OtlpSeriesName[];
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly maxSeries: number;
}

export interface OtlpQuery {
  readonly reader: TenantReader;
  readonly project: string | undefined;
}

interface DescribedSeries {
  readonly id: string;
  readonly metric: string;
  readonly unit: string;
  readonly type: string;
  readonly monotonic: boolean;
  readonly labels: ReadonlyMap<string, string>;
}

interface SeriesRow extends OtlpSeriesRow {
  readonly unit: string;
  readonly type: string;
  readonly monotonic: number;
}

const partLabels: ReadonlySet<string> = new Set(["__name__", "le", "quantile"]);

/** A series under one of the names that it has. */
interface NamedSeries {
  readonly name: OtlpSeriesName;
  readonly series: DescribedSeries;
}

/** The series of the names whose labels match, but for the labels of parts. */
async function readSeries(request: OtlpRequest, { project, reader }: OtlpQuery): Promise<NamedSeries[]> {
  const { fromMs, maxSeries, names, signal } = request;
  const metrics = [...new Set(names.map(({ metric }) => metric.metric))];
  const conditions = allOf([
    sql`organization = ${ownOrganization}`,
    ofProject(project),
    sql`metric IN ${bind.texts(metrics)}`,
    seenSince(fromMs),
  ]);
  const rows = await reader.query<SeriesRow>(
    sql`SELECT DISTINCT metric, series_id, toString(type) AS type, unit, monotonic, project, service, resource_id, scope_id,
        mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types
      FROM series WHERE ${conditions}`,
    { signal, duplicates: "kept", maximumRows: maxSeries },
  );
  const descriptions = await readDescriptions(reader, rows, signal);
  const matchers = request.matchers.filter(({ name }) => !partLabels.has(name));
  const slices = new Slices();
  const described: DescribedSeries[] = [];
  for (const row of rows) {
    described.push(describe(row, descriptions));
    if (slices.isOver()) await slices.next();
  }
  const found: NamedSeries[] = [];
  for (const name of names) {
    for (const each of described) {
      if (slices.isOver()) await slices.next();
      if (!belongsTo(each, name.metric)) continue;
      const series = underName(each, name);
      const covers = isMatchedBy(series.labels, matchers) && (name.fillIn?.covers(series.labels) ?? true);
      if (covers) found.push({ name, series });
    }
  }
  return found;
}

function describe(row: SeriesRow, descriptions: Descriptions): DescribedSeries {
  return {
    id: row.series_id,
    metric: row.metric,
    unit: row.unit,
    type: row.type,
    monotonic: row.monotonic === 1,
    labels: otlpLabels(row, descriptions),
  };
}

function underName(series: DescribedSeries, { fillIn }: OtlpSeriesName): DescribedSeries {
  return fillIn === undefined ? series : { ...series, labels: fillInLabels(series.labels, fillIn) };
}

/** The names' series that have points in the time. Errors as the store's. */
export async function selectOtlpSeries(request: OtlpRequest, query: OtlpQuery): Promise<StoredSeries[]> {
  if (request.names.length === 0) return [];
  const found = await readSeries(request, query);
  if (found.length === 0) return [];
  const ofMetrics = (names: readonly OtlpSeriesName[]): PointsRequest => ({
    ...request,
    metrics: [...new Set(names.map(({ metric }) => metric.metric))],
    seriesIds: [...new Set(found.map(({ series }) => series.id))],
  });
  const plain = request.names.filter(({ part }) => part === "value");
  const bounded = request.names.filter(({ metric }) => metric.type === "histogram");
  const others = request.names.filter(({ metric, part }) => part !== "value" && metric.type !== "histogram");
  const [values, histograms, distributions] = await Promise.all([
    plain.length === 0 ? new Map<string, ValueColumns>() : readValues(query.reader, ofMetrics(plain)),
    bounded.length === 0
      ? new Map<string, HistogramColumns[]>()
      : readHistograms(query.reader, ofMetrics(bounded), {
          withBuckets: bounded.some(({ part }) => part === "bucket"),
        }),
    others.length === 0 ? new Map<string, DistributionPoint[]>() : readDistributions(query.reader, ofMetrics(others)),
  ]);
  const matchers = request.matchers.filter(({ name }) => partLabels.has(name));
  const built: StoredSeries[] = [];
  const slices = new Slices();
  const take = (all: readonly StoredSeries[]): void => {
    for (const one of all) if (isMatchedBy(one.labels, matchers)) built.push(one);
  };
  for (const { name, series } of found) {
    if (name.part === "value") take(valueSeries(labelsOf(name, series), series, values.get(series.id)));
    else if (name.metric.type !== "histogram") {
      take(distributionSeries(name, series, distributions.get(series.id) ?? []));
    } else {
      for (const one of histogramSeries(name, series, { groups: histograms.get(series.id), matchers })) {
        take([one]);
        if (slices.isOver(longStep)) await slices.next();
      }
    }
    if (slices.isOver()) await slices.next();
  }
  return mergeSeries(built);
}

function belongsTo(series: DescribedSeries, metric: OtlpMetric): boolean {
  return (
    series.metric === metric.metric &&
    series.unit === metric.unit &&
    series.type === metric.type &&
    series.monotonic === metric.monotonic
  );
}

function labelsOf({ name }: OtlpSeriesName, series: DescribedSeries, ...more: [string, string][]): Labels {
  return labelsFrom([...series.labels, ...more, ["__name__", name]]);
}

function valueSeries(labels: Labels, series: DescribedSeries, columns: ValueColumns | undefined): StoredSeries[] {
  if (columns === undefined) return [];
  const { stale, startTimestampsMs, timestampsMs, values } = columns;
  for (let index = stale?.indexOf(1) ?? -1; index !== -1; index = stale!.indexOf(1, index + 1))
    markStale(values, index);
  // Only what rises has a begin; a gauge's start time says nothing.
  const isRising = series.monotonic || series.type === "histogram";
  return [{ labels, timestampsMs, values, startTimestampsMs: isRising ? startTimestampsMs : undefined }];
}

interface HistogramParts {
  readonly groups: readonly HistogramColumns[] | undefined;
  /** On the labels of parts: buckets that none asks for are not counted. */
  readonly matchers: readonly LabelMatcher[];
}

function* histogramSeries(
  name: OtlpSeriesName,
  series: DescribedSeries,
  { groups, matchers }: HistogramParts,
): Generator<StoredSeries> {
  if (groups === undefined) return;
  if (name.part !== "bucket") {
    const totals = totalsOf(groups, name.part === "sum" ? "sums" : "counts");
    yield* valueSeries(labelsOf(name, series), series, totals);
    return;
  }
  for (const bound of boundsOf(groups)) {
    const labels = labelsOf(name, series, ["le", formatPlain(bound)]);
    if (isMatchedBy(labels, matchers)) yield* valueSeries(labels, series, countsUpTo(groups, bound));
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
        of(({ sum }) => ({ value: sum })),
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

/** The label sets of the names' series, whether or not they have points in the time. */
export async function otlpLabelSets(request: OtlpRequest, query: OtlpQuery): Promise<Labels[]> {
  if (request.names.length === 0) return [];
  return (await readSeries(request, query)).map(({ name, series }) => labelsOf(name, series));
}
