/**
 * One organization's metrics as the PromQL engine reads them: what applications sent by OTLP, and what is counted from spans.
 * The organization is fixed by the reader and the project by the key, before any query is looked at.
 * docs/adr/0026-metrics-over-spans-and-pushed-series.md
 */
import type { TenantReader } from "../../store/store.ts";
import { getLabel, type Labels } from "../promql/series/labels.ts";
import type { PromqlStorage, SelectRequest, StoredSeries, WindowsRequest } from "../promql/storage.ts";
import type { LabelMatcher } from "../promql/syntax/ast.ts";
import { fillInNames, withFillIn } from "./fill-in-series.ts";
import { matchesValue } from "./label-matching.ts";
import { readCatalog, seriesNames, type OtlpMetric, type OtlpSeriesName } from "./otlp-catalog.ts";
import { otlpLabelSets, selectOtlpSeries } from "./otlp-series.ts";
import { spanSeriesNames, type SpanSeriesName } from "./span-metrics.ts";
import { selectSpanSeries, spanLabelSets, spanSources, type SpanQuery } from "./span-series.ts";
import { aggregateSpanWindows } from "./span-windows.ts";
import { selectTargetInfo, targetInfoLabels, targetInfoName } from "./target-info.ts";

export interface TenantMetricsOptions {
  readonly reader: TenantReader;
  /** The only project that may be read; undefined: all of the organization. */
  readonly project: string | undefined;
  /** Labels that the query mentions: some series have a label only then. */
  readonly namedLabels: ReadonlySet<string>;
}

/** What lists of series ask for. */
export interface LabelSetsRequest {
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly maxSeries: number;
}

export interface TenantMetrics extends PromqlStorage {
  /** The label sets that all matchers match. */
  labelSets(request: LabelSetsRequest): Promise<Labels[]>;
  /** The metrics that applications sent. */
  catalog(request: { readonly fromMs: number; readonly signal: AbortSignal }): Promise<readonly OtlpMetric[]>;
}

export function createTenantMetrics(options: TenantMetricsOptions): TenantMetrics {
  const catalogs = new Map<number, Promise<readonly OtlpMetric[]>>();
  const catalog: TenantMetrics["catalog"] = ({ fromMs, signal }) => {
    let read = catalogs.get(fromMs);
    if (read === undefined) catalogs.set(fromMs, (read = readCatalog(options.reader, { ...options, fromMs, signal })));
    return read;
  };
  const otlpNames = async (request: Pick<SelectRequest, "matchers" | "fromMs" | "signal">): Promise<OtlpSeriesName[]> =>
    (await catalog(request))
      .flatMap((metric) => [...seriesNames(metric).map(withFillIn), ...fillInNames(metric)])
      .filter(({ name }) => isNamed(name, request.matchers));
  return {
    catalog,
    select: async (request) => select(request, await otlpNames(request), options),
    aggregateWindows: async (request) => {
      const [name, ...others] = namedSpanSeries(request.matchers);
      if (name === undefined || others.length > 0) return null;
      // Where applications count what no span tells of, the engine must weigh up both.
      if (await fillsIn(name, request, { names: await otlpNames(request), options })) return null;
      return aggregateSpanWindows(name, request, options);
    },
    labelSets: async (request) => labelSets(request, await otlpNames(request), options),
  };
}

function isNamed(name: string, matchers: readonly LabelMatcher[]): boolean {
  return matchers.every((matcher) => matcher.name !== "__name__" || matchesValue(matcher, name));
}

function namedSpanSeries(matchers: readonly LabelMatcher[]): SpanSeriesName[] {
  return spanSeriesNames.filter(({ name }) => isNamed(name, matchers));
}

async function select(
  request: SelectRequest,
  names: readonly OtlpSeriesName[],
  options: SpanQuery,
): Promise<StoredSeries[]> {
  const otlpRequest = { ...request, maxSeries: request.hints.maxSeries };
  const [ofSpans, sent, info] = await Promise.all([
    Promise.all(namedSpanSeries(request.matchers).map((name) => selectSpanSeries(name, request, options))),
    selectOtlpSeries({ ...otlpRequest, names }, options),
    isNamed(targetInfoName, request.matchers) ? selectTargetInfo(otlpRequest, options) : [],
  ]);
  const counted = ofSpans.flat();
  return [...counted, ...withoutCounted(sent, counted), ...info];
}

/** Whether pushed series may add something to a series over spans. */
async function fillsIn(
  name: SpanSeriesName,
  request: WindowsRequest,
  { names, options }: { readonly names: readonly OtlpSeriesName[]; readonly options: SpanQuery },
): Promise<boolean> {
  if (names.length === 0) return false;
  const range = { ...request, maxSeries: request.hints.maxSeries };
  const sent = await otlpLabelSets({ ...range, names }, options);
  if (sent.length === 0) return false;
  const known = new Set((await spanSources(name, range, options)).map(sourceOf));
  return sent.some((labels) => !known.has(sourceOf(labels)));
}

/** What spans tell of a service is the truth; the same metric sent by that service would count everything twice. */
function withoutCounted(sent: readonly StoredSeries[], counted: readonly StoredSeries[]): readonly StoredSeries[] {
  if (counted.length === 0) return sent;
  const known = new Set(counted.map(({ labels }) => sourceOf(labels)));
  return sent.filter(({ labels }) => !known.has(sourceOf(labels)));
}

function sourceOf(labels: Labels): string {
  return JSON.stringify(["__name__", "project_name", "service_name"].map((name) => getLabel(labels, name)));
}

async function labelSets(
  request: LabelSetsRequest,
  names: readonly OtlpSeriesName[],
  options: SpanQuery,
): Promise<Labels[]> {
  const [ofSpans, sent, info] = await Promise.all([
    Promise.all(namedSpanSeries(request.matchers).map((name) => spanLabelSets(name, request, options))),
    otlpLabelSets({ ...request, names }, options),
    isNamed(targetInfoName, request.matchers) ? targetInfoLabels(request, options) : [],
  ]);
  const found = new Map([...ofSpans.flat(), ...sent, ...info].map((labels) => [labels.key, labels]));
  return [...found.values()];
}
