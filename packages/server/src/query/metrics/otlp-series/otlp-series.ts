/** Series of metrics that applications sent by OTLP, with Prometheus' names, labels and parts. */
import type { YieldBudget } from "../../../languages/regex/yield-budget.ts";
import { bind, ownOrganization, sql } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, inProject } from "../../conditions.ts";
import { lookUpResources, type Descriptions } from "../../resource-lookup.ts";
import { labelsFrom, type Labels } from "../../../languages/promql/series/labels.ts";
import { markStale, type StoredSeries } from "../../../languages/promql/storage.ts";
import type { LabelMatcher } from "../../../languages/promql/syntax/ast.ts";
import { formatPlain } from "../../../languages/promql/syntax/number-literal.ts";
import { semconvLabels } from "./semconv-mapping.ts";
import { isMatchedBy } from "../label-matching.ts";
import { toNativeHistogram } from "./native-histogram.ts";
import { activeSince, type OtlpMetric, type OtlpSeriesName } from "./otlp-catalog.ts";
import { otlpLabels, type OtlpSeriesRow } from "./otlp-labels.ts";
import { boundsOf, countsUpTo, readHistograms, totalsOf, type HistogramColumns } from "./otlp-histograms.ts";
import {
  pointLists,
  readDistributions,
  readValues,
  type DistributionPoint,
  type PointsRequest,
} from "./otlp-points.ts";
import { listsThatFit } from "../statement-lists.ts";
import { buildSeries, mergeSeries, type Sample } from "../stored-series.ts";
import type { ValueColumns } from "./value-columns.ts";

export interface OtlpRequest {
  readonly names: readonly OtlpSeriesName[];
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly turns: YieldBudget;
  readonly charge: (bytes: number) => void;
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
async function readSeries(request: OtlpRequest, query: OtlpQuery): Promise<NamedSeries[]> {
  const { names, turns } = request;
  const rows = await readSeriesRows(request, query);
  const descriptions = await lookUpResources(query.reader, rows, {
    signal: request.signal,
    memory: { add: request.charge },
  });
  const matchers = request.matchers.filter(({ name }) => !partLabels.has(name));
  const described = new Map<string, DescribedSeries[]>();
  for (const row of rows) {
    const one = describe(row, descriptions);
    const ofMetric = described.get(metricKey(one));
    if (ofMetric === undefined) described.set(metricKey(one), [one]);
    else ofMetric.push(one);
    if (turns.spend(workOfSeries)) await turns.yield();
  }
  const found: NamedSeries[] = [];
  for (const name of names) {
    for (const each of described.get(metricKey(name.metric)) ?? []) {
      if (turns.spend(workOfSeries)) await turns.yield();
      const series = underName(each, name);
      const isMatched = await isMatchedBy(series.labels, matchers, turns);
      if (isMatched && (name.mapping?.covers(series.labels) ?? true)) found.push({ name, series });
    }
  }
  return found;
}

/** The work of making and matching a series' labels, in samples looked at. */
const workOfSeries = 128;

async function readSeriesRows(request: OtlpRequest, { project, reader }: OtlpQuery): Promise<SeriesRow[]> {
  const { charge, fromMs, maxSeries, names, signal } = request;
  const metrics = new Set(names.map(({ metric }) => metric.metric));
  const rows: SeriesRow[] = [];
  for (const list of listsThatFit(metrics, ({ length }) => length)) {
    const conditions = allOf([
      sql`organization = ${ownOrganization}`,
      inProject(project),
      sql`metric IN ${bind.texts(list)}`,
      activeSince(fromMs),
    ]);
    const found = reader.stream<SeriesRow>(
      sql`SELECT DISTINCT metric, series_id, toString(type) AS type, unit, monotonic, project, service, resource_id, scope_id,
          mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types
        FROM series WHERE ${conditions}`,
      { signal, memory: { add: charge }, duplicates: "kept", maximumRows: Math.max(1, maxSeries - rows.length) },
    );
    for await (const row of found) rows.push(row);
  }
  return rows;
}

function metricKey({
  metric,
  monotonic,
  type,
  unit,
}: Omit<OtlpMetric, "description" | "name" | "type"> & { type: string }): string {
  return JSON.stringify([metric, unit, type, monotonic]);
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

function underName(series: DescribedSeries, { mapping }: OtlpSeriesName): DescribedSeries {
  return mapping === undefined ? series : { ...series, labels: semconvLabels(series.labels, mapping) };
}

/** The names' series that have points in the time. Errors as the store's. */
export async function selectOtlpSeries(request: OtlpRequest, query: OtlpQuery): Promise<StoredSeries[]> {
  if (request.names.length === 0) return [];
  const found = await readSeries(request, query);
  if (found.length === 0) return [];
  const ofNames = (belongs: (name: OtlpSeriesName) => boolean): PointsRequest[] =>
    pointLists(found.filter(({ name }) => belongs(name)).map(({ series }) => series)).map((list) => ({
      ...request,
      ...list,
    }));
  const isBounded = ({ metric }: OtlpSeriesName): boolean => metric.type === "histogram";
  const withBuckets = request.names.some((name) => isBounded(name) && name.part === "bucket");
  const { reader } = query;
  const [values, histograms, distributions] = await Promise.all([
    readAll(
      ofNames(({ part }) => part === "value"),
      (points) => readValues(reader, points),
    ),
    readAll(ofNames(isBounded), (points) => readHistograms(reader, points, { withBuckets })),
    readAll(
      ofNames((name) => name.part !== "value" && !isBounded(name)),
      (points) => readDistributions(reader, points),
    ),
  ]);
  const matchers = request.matchers.filter(({ name }) => partLabels.has(name));
  const built: StoredSeries[] = [];
  const { turns } = request;
  const take = async (all: readonly StoredSeries[]): Promise<void> => {
    for (const one of all) if (await isMatchedBy(one.labels, matchers, turns)) built.push(one);
  };
  for (const { name, series } of found) {
    if (name.part === "value") await take(valueSeries(labelsOf(name, series), series, values.get(series.id)));
    else if (name.metric.type !== "histogram") {
      const points = distributions.get(series.id) ?? [];
      await take(distributionSeries(name, series, points));
      if (turns.spend(points.length * 16)) await turns.yield();
    } else {
      for await (const one of histogramSeries(name, series, { groups: histograms.get(series.id), matchers, turns })) {
        await take([one]);
        if (turns.spend(workOfSeries + one.timestampsMs.length)) await turns.yield();
      }
    }
    if (turns.spend(workOfSeries)) await turns.yield();
  }
  return mergeSeries(built);
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

/** The answers of all statements, one after the other, since each may be large. */
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
  readonly turns: YieldBudget;
  readonly groups: readonly HistogramColumns[] | undefined;
  /** On the labels of parts: buckets that none asks for are not counted. */
  readonly matchers: readonly LabelMatcher[];
}

async function* histogramSeries(
  name: OtlpSeriesName,
  series: DescribedSeries,
  { groups, matchers, turns }: HistogramParts,
): AsyncGenerator<StoredSeries> {
  if (groups === undefined) return;
  if (name.part !== "bucket") {
    const totals = totalsOf(groups, name.part === "sum" ? "sums" : "counts");
    yield* valueSeries(labelsOf(name, series), series, totals);
    return;
  }
  for (const bound of boundsOf(groups)) {
    const labels = labelsOf(name, series, ["le", formatPlain(bound)]);
    if (await isMatchedBy(labels, matchers, turns)) yield* valueSeries(labels, series, countsUpTo(groups, bound));
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
  const { turns } = request;
  const sets: Labels[] = [];
  for (const { name, series } of await readSeries(request, query)) {
    sets.push(labelsOf(name, series));
    if (turns.spend(workOfSeries)) await turns.yield();
  }
  return sets;
}
