/** Finds the series of OTLP metrics whose labels match a selector. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { isFromPrometheus } from "../../../store/row-expressions.ts";
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { lookUpResources, type ResourceLookup } from "../../resource-lookup.ts";
import { isMatchedBy } from "../label-matching.ts";
import { seenSinceCondition, seenSinceDay } from "./otlp-catalog.ts";
import { otlpLabels, type OtlpSeriesRow } from "./otlp-labels.ts";
import { partLabelOf, type OtlpMetric, type OtlpSeriesName } from "./otlp-metric.ts";
import { remembered } from "./remembered-descriptions.ts";
import { semconvLabels } from "./semconv-mapping.ts";
import { listsThatFit } from "./statement-lists.ts";

export interface OtlpRequest {
  readonly names: readonly OtlpSeriesName[];
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  readonly charge: (bytes: number) => void;
  readonly maxSeries: number;
  /** For lists of labels: the columns that the labels are made of, and the maximum number of rows. */
  readonly columns?: { readonly statement: Statement; readonly maximumRows: number } | undefined;
}

export interface OtlpQuery {
  readonly reader: TenantReader;
  readonly project: string | undefined;
}

export interface DescribedSeries {
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

export const partLabels: ReadonlySet<string> = new Set(["__name__", "le", "quantile"]);

/** A series under one of its names. */
interface NamedSeries {
  readonly name: OtlpSeriesName;
  readonly series: DescribedSeries;
  /** How many series the name's metric has. */
  readonly seriesOfMetric: number;
}

/** The series of the names whose labels match. Labels of parts (`le`, `quantile`) are matched later. */
export async function findSeries(request: OtlpRequest, query: OtlpQuery): Promise<NamedSeries[]> {
  const { names, yieldBudget } = request;
  const described = await describedSeries(request, query);
  const matchers = request.matchers.filter(({ name }) => !partLabels.has(name));
  const found: NamedSeries[] = [];
  for (const name of names) {
    const ofMetric = described.flatMap((series) => series.get(metricKey(name.metric)) ?? []);
    for (const each of ofMetric) {
      const series = underName(each, name);
      const isMatched = matchers.length === 0 || (await isMatchedBy(series.labels, matchers, yieldBudget));
      if (isMatched && (name.mapping?.covers(series.labels) ?? true))
        found.push({ name, series, seriesOfMetric: ofMetric.length });
      if (yieldBudget.spend(matchingCost)) await yieldBudget.yield();
    }
  }
  return found;
}

/** Series by `metricKey`. */
type SeriesOfMetrics = ReadonlyMap<string, readonly DescribedSeries[]>;

/** Metrics whose series are remembered one by one. More are read in one statement, which is rare. */
const mostRemembered = 8;

async function describedSeries(request: OtlpRequest, query: OtlpQuery): Promise<SeriesOfMetrics[]> {
  const metrics = new Set(request.names.map(({ metric }) => metric.metric));
  if (request.columns !== undefined || metrics.size > mostRemembered)
    return [await describeMetrics(metrics, request, query)];
  return Promise.all(
    Array.from(metrics, (metric) =>
      remembered(query.reader, {
        key: JSON.stringify(["series", query.project ?? null, seenSinceDay(request.fromMs), metric]),
        read: () => describeMetrics(new Set([metric]), request, query),
        bytesOf,
      }),
    ),
  );
}

async function describeMetrics(
  metrics: ReadonlySet<string>,
  request: OtlpRequest,
  query: OtlpQuery,
): Promise<SeriesOfMetrics> {
  const { charge, signal, yieldBudget } = request;
  const rows = await readSeriesRows(metrics, request, query);
  const descriptions = await lookUpResources(query.reader, rows, { signal, memory: { add: charge } });
  const described = new Map<string, DescribedSeries[]>();
  for (const row of rows) {
    const one = describe(row, descriptions);
    const key = metricKey(one);
    const ofMetric = described.get(key);
    if (ofMetric === undefined) described.set(key, [one]);
    else ofMetric.push(one);
    if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
  }
  return described;
}

/** Approximate memory, with the complete label sets that are kept for each. */
function bytesOf(series: SeriesOfMetrics): number {
  let bytes = 0;
  for (const each of [...series.values()].flat()) {
    bytes += 600;
    for (const [name, value] of each.labels) bytes += 100 + name.length + 2 * value.length;
  }
  return bytes;
}

/** The cost of building and matching a series' labels, in samples. */
export const seriesCost = 128;
/** The cost of matching a series' labels, in samples. */
export const matchingCost = 32;

const allColumns = sql`series_id, project, service, resource_id, scope_id, mapKeys(attributes) AS attribute_names,
  mapValues(attributes) AS attribute_values, attribute_types, ${isFromPrometheus} AS from_prometheus`;

async function readSeriesRows(
  metrics: ReadonlySet<string>,
  request: OtlpRequest,
  { project, reader }: OtlpQuery,
): Promise<SeriesRow[]> {
  const { charge, columns = { statement: allColumns, maximumRows: request.maxSeries }, fromMs, signal } = request;
  const rows: SeriesRow[] = [];
  for (const list of listsThatFit(metrics, ({ length }) => length)) {
    const conditions = allOf([
      sql`organization = ${callerOrganization}`,
      projectCondition(project),
      sql`metric IN ${bind.texts(list)}`,
      seenSinceCondition(fromMs),
    ]);
    const found = reader.stream<SeriesRow>(
      sql`SELECT DISTINCT metric, toString(type) AS type, unit, monotonic, ${columns.statement} FROM series WHERE ${conditions}`,
      {
        signal,
        memory: { add: charge },
        duplicates: "kept",
        maximumRows: Math.max(1, columns.maximumRows - rows.length),
      },
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

function describe(row: SeriesRow, descriptions: ResourceLookup): DescribedSeries {
  return {
    id: row.series_id,
    metric: row.metric,
    unit: row.unit,
    type: row.type,
    monotonic: row.monotonic === 1,
    labels: otlpLabels(row, descriptions),
  };
}

/** The series as it is under the name; an attribute of the same name gives way to the label of a part. */
function underName(series: DescribedSeries, name: OtlpSeriesName): DescribedSeries {
  const { mapping } = name;
  const mapped = mapping === undefined ? series : { ...series, labels: semconvLabels(series.labels, mapping) };
  const label = partLabelOf(name);
  if (label === undefined || !mapped.labels.has(label)) return mapped;
  const labels = [...mapped.labels].map(
    ([each, value]) => [each === label ? `exported_${label}` : each, value] as const,
  );
  return { ...mapped, labels: new Map(labels) };
}
