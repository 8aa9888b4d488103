/** Serves the lists of Prometheus' HTTP API: series, label names, label values and metadata. */
import type { TenantReader } from "../../store/store.ts";
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import { storeAccess } from "@sounding/promql/evaluate/select-series";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import { entriesOf, getLabel, type Labels } from "@sounding/promql/series/labels";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { seriesNames } from "../metrics/otlp-series/otlp-catalog.ts";
import type { OtlpMetric } from "../metrics/otlp-series/otlp-metric.ts";
import type { WantedLabels } from "../metrics/otlp-series/wanted-labels.ts";
import { spanMetrics, spanSeriesNames } from "../metrics/span-series/span-metrics.ts";
import { targetInfoName } from "../metrics/otlp-series/target-info.ts";
import { prometheusUnit } from "../../store/metric-tables.ts";
import { createTenantMetrics, type MetricCatalogs } from "../metrics/tenant-metrics.ts";

export interface ListRequest {
  readonly reader: TenantReader;
  readonly project: string | undefined;
  /** A series must match any of them; an empty list selects all series. */
  readonly selectors: readonly (readonly LabelMatcher[])[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly budget: Budget;
}

/** The distinct label sets. */
export async function listSeries(request: ListRequest): Promise<readonly Labels[]> {
  return findLabelSets(request, undefined);
}

/** @param wanted the labels that are read; undefined for all, with one set per series */
async function findLabelSets(request: ListRequest, wanted: WantedLabels | undefined): Promise<readonly Labels[]> {
  const { budget, selectors } = request;
  const { maxSeries } = budget.limits;
  const found = new Map<string, Labels>();
  const catalogs: MetricCatalogs = new Map();
  for (const matchers of selectors.length === 0 ? [[]] : selectors) {
    const matched = matchers.map(({ name }) => name);
    const metrics = createTenantMetrics({ ...request, namedLabels: new Set(matched), catalogs });
    const needed = wanted && { ...wanted, values: new Set([...wanted.values, ...matched.filter(isNotName)]) };
    const listed = { ...request, ...storeAccess(budget), matchers, maxSeries, wanted: needed };
    for (const labels of await metrics.labelSets(listed)) {
      found.set(labels.key, labels);
      if (budget.spend(1)) await budget.yield();
    }
    budget.check();
    if (wanted === undefined) budget.checkSeries(found.size, "the list");
  }
  return [...found.values()];
}

/** The name is part of every label set. */
function isNotName(label: string): boolean {
  return label !== "__name__";
}

export async function listLabelNames(request: ListRequest): Promise<readonly string[]> {
  const { budget } = request;
  const names = new Set<string>();
  for (const labels of await findLabelSets(request, { names: true, values: new Set() })) {
    for (const [name] of entriesOf(labels)) names.add(name);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return sorted(names, budget);
}

function sorted(names: ReadonlySet<string>, budget: Budget): Promise<readonly string[]> {
  return sortInSlices([...names], (left, right) => (left < right ? -1 : left > right ? 1 : 0), budget);
}

export async function listLabelValues(name: string, request: ListRequest): Promise<readonly string[]> {
  if (name === "__name__" && request.selectors.length === 0) return listMetricNames(request);
  const { budget } = request;
  // Naming the label here includes series that have it only if a query names it.
  const present: LabelMatcher = { name, operator: "!=", value: "" };
  const selectors = request.selectors.length === 0 ? [[]] : request.selectors;
  const values = new Set<string>();
  const ofSelectors = { ...request, selectors: selectors.map((matchers) => [...matchers, present]) };
  const wanted = { names: false, values: new Set([name]) };
  for (const labels of await findLabelSets(ofSelectors, wanted)) {
    const value = getLabel(labels, name);
    if (value !== "") values.add(value);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return sorted(values, budget);
}

/** The names of all metrics that were sent, and of all metrics over spans. */
async function listMetricNames(request: ListRequest): Promise<readonly string[]> {
  const { budget } = request;
  const names = new Set(spanSeriesNames.map(({ name }) => name));
  const sent = await catalogOf(request);
  for (const metric of sent) {
    for (const { name } of seriesNames(metric)) names.add(name);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  if (sent.length > 0 && (await hasTargetInfo(request))) names.add(targetInfoName);
  return sorted(names, budget);
}

async function hasTargetInfo(request: ListRequest): Promise<boolean> {
  const matchers: LabelMatcher[] = [{ name: "__name__", operator: "=", value: targetInfoName }];
  const sets = await findLabelSets({ ...request, selectors: [matchers] }, { names: false, values: new Set() });
  return sets.length > 0;
}

function catalogOf(request: ListRequest, { descriptions = false } = {}): Promise<readonly OtlpMetric[]> {
  const metrics = createTenantMetrics({ ...request, namedLabels: new Set(), descriptions });
  return metrics.catalog({ ...request, ...storeAccess(request.budget) });
}

export interface MetricMetadata {
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

/** The metadata of each metric, by its name without the suffixes of a histogram's parts. */
export async function listMetadata(request: ListRequest): Promise<Map<string, MetricMetadata[]>> {
  const found = new Map<string, MetricMetadata[]>();
  const known = new Set<string>();
  const add = (name: string, metadata: MetricMetadata): void => {
    const key = JSON.stringify([name, metadata.type, metadata.unit, metadata.help]);
    if (known.has(key)) return;
    known.add(key);
    const others = found.get(name);
    if (others === undefined) found.set(name, [metadata]);
    else others.push(metadata);
  };
  for (const { help, name, type, unit } of spanMetrics) add(name, { type, unit, help });
  for (const metric of await catalogOf(request, { descriptions: true })) {
    if (request.budget.spend(workOfLabels)) await request.budget.yield();
    const unit = metric.unit === prometheusUnit ? "" : metric.unit;
    add(metric.name, { type: prometheusType(metric), unit, help: metric.description });
  }
  return found;
}

function prometheusType({ monotonic, type }: OtlpMetric): string {
  if (type === "sum") return monotonic ? "counter" : "gauge";
  return type === "exponential_histogram" ? "histogram" : type;
}
