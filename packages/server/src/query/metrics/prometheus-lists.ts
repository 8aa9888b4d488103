/** Lists of Prometheus' HTTP API: series, labels, values of a label, and what metrics are. */
import type { TenantReader } from "../../store/store.ts";
import { entriesOf, getLabel, type Labels } from "../promql/series/labels.ts";
import type { LabelMatcher } from "../promql/syntax/ast.ts";
import { seriesNames, type OtlpMetric } from "./otlp-catalog.ts";
import { spanMetrics, spanSeriesNames } from "./span-metrics.ts";
import { targetInfoName } from "./target-info.ts";
import { createTenantMetrics } from "./tenant-metrics.ts";

export interface ListRequest {
  readonly reader: TenantReader;
  readonly project: string | undefined;
  /** Any of them must match; none: all series. */
  readonly selectors: readonly (readonly LabelMatcher[])[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
}

/** More series than this end a list with an error. */
const maximumSeries = 100_000;

/** The label sets, each once, in the order of their labels. */
export async function listSeries(request: ListRequest): Promise<Labels[]> {
  const found = new Map<string, Labels>();
  for (const matchers of request.selectors.length === 0 ? [[]] : request.selectors) {
    const namedLabels = new Set(matchers.map(({ name }) => name));
    const metrics = createTenantMetrics({ ...request, namedLabels });
    for (const labels of await metrics.labelSets({ ...request, matchers, maxSeries: maximumSeries })) {
      found.set(labels.key, labels);
    }
  }
  return [...found.values()];
}

export async function listLabelNames(request: ListRequest): Promise<string[]> {
  const series = await listSeries(request);
  const names = new Set(series.flatMap((labels) => [...entriesOf(labels)].map(([name]) => name)));
  return [...names].sort();
}

export async function listLabelValues(name: string, request: ListRequest): Promise<string[]> {
  if (name === "__name__" && request.selectors.length === 0) return listMetricNames(request);
  // A label that series have only when a query names it is named here.
  const present: LabelMatcher = { name, operator: "!=", value: "" };
  const selectors = request.selectors.length === 0 ? [[]] : request.selectors;
  const series = await listSeries({ ...request, selectors: selectors.map((matchers) => [...matchers, present]) });
  return [...new Set(series.map((labels) => getLabel(labels, name)))].filter((value) => value !== "").sort();
}

/** Names of metrics that were sent, and of all that are counted from spans. */
async function listMetricNames(request: ListRequest): Promise<string[]> {
  const sent = await catalogOf(request);
  const names = [...sent.flatMap(seriesNames), ...spanSeriesNames].map(({ name }) => name);
  return [...new Set([...names, ...(sent.length === 0 ? [] : [targetInfoName])])].sort();
}

async function catalogOf(request: ListRequest): Promise<readonly OtlpMetric[]> {
  return createTenantMetrics({ ...request, namedLabels: new Set() }).catalog(request);
}

export interface MetricMetadata {
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

/** What each metric is, by its name without the suffixes of a histogram's parts. */
export async function listMetadata(request: ListRequest): Promise<Map<string, MetricMetadata[]>> {
  const found = new Map<string, MetricMetadata[]>();
  const add = (name: string, metadata: MetricMetadata): void => {
    const others = found.get(name) ?? [];
    const isKnown = others.some((each) => JSON.stringify(each) === JSON.stringify(metadata));
    if (!isKnown) found.set(name, [...others, metadata]);
  };
  for (const { help, name, type, unit } of spanMetrics) add(name, { type, unit, help });
  for (const metric of await catalogOf(request)) {
    add(metric.name, { type: prometheusType(metric), unit: metric.unit, help: metric.description });
  }
  return found;
}

function prometheusType({ monotonic, type }: OtlpMetric): string {
  if (type === "sum") return monotonic ? "counter" : "gauge";
  return type === "exponential_histogram" ? "histogram" : type;
}
