/**
 * Serves one organization's metrics to the PromQL engine: those that applications sent over OTLP, and those over spans.
 * The reader fixes the organization and the key fixes the project before any query is evaluated.
 * docs/adr/0025-promql-and-metrics.md
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { TenantReader } from "../../store/store.ts";
import { getLabel, type Labels } from "@sounding/promql/series/labels";
import { matchesAll } from "@sounding/promql/series/matcher";
import type {
  PromqlStorage,
  ReductionRequest,
  SelectRequest,
  StoredSeries,
  WindowsRequest,
} from "@sounding/promql/storage";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import type { ExemplarRequest, ExemplarSeries } from "./exemplar.ts";
import { otlpExemplars } from "./otlp-series/otlp-exemplars.ts";
import { semconvNames, withSpanMetric } from "./otlp-series/semconv-mapping.ts";
import { listedLabelSets } from "./otlp-series/listed-label-sets.ts";
import { readCatalog, seriesNames } from "./otlp-series/otlp-catalog.ts";
import type { OtlpMetric, OtlpSeriesName } from "./otlp-series/otlp-metric.ts";
import { otlpLabelSets, selectOtlpSeries } from "./otlp-series/otlp-series.ts";
import { namesWithSpans } from "./span-series/metrics-with-spans.ts";
import { spanSeriesNames, type SpanSeriesName } from "./span-series/span-metrics.ts";
import { spanExemplars } from "./span-series/span-exemplars.ts";
import { reduceSpanWindows, type ReducedNames } from "./span-series/reduced-windows.ts";
import { spanLabelSets, spanSources } from "./span-series/span-label-sets.ts";
import { selectSpanSeries, type SpanQuery } from "./span-series/span-series.ts";
import { aggregateSpanWindows } from "./span-series/span-windows.ts";
import { wantedLabelSets } from "./otlp-series/wanted-label-sets.ts";
import type { WantedLabels } from "./otlp-series/wanted-labels.ts";
import { selectTargetInfo, targetInfoLabels, targetInfoName } from "./otlp-series/target-info.ts";

export interface TenantMetricsOptions {
  readonly reader: TenantReader;
  /** The only project that may be read; undefined means every project of the organization. */
  readonly project: string | undefined;
  /** Labels that the query mentions: some series have a label only then. */
  readonly namedLabels: ReadonlySet<string>;
  /** Catalogs that were read before, to share them between queries of one request. */
  readonly catalogs?: MetricCatalogs;
  /** Whether metrics of the catalog have their descriptions. */
  readonly descriptions?: boolean;
}

/** By the time since which metrics were sent, in Unix milliseconds. */
export type MetricCatalogs = Map<number, Promise<readonly OtlpMetric[]>>;

/** The request of a list of series. */
export interface LabelSetsRequest {
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  readonly charge: (bytes: number) => void;
  readonly maxSeries: number;
  /** Label sets may be without the labels that are not wanted, and then stand for many series. Absent: complete ones. */
  readonly wanted?: WantedLabels | undefined;
}

export interface TenantMetrics extends PromqlStorage {
  /** The label sets that satisfy all matchers. */
  labelSets(request: LabelSetsRequest): Promise<Labels[]>;
  /** Exemplars of the series that satisfy all matchers. */
  exemplars(request: ExemplarRequest): Promise<readonly ExemplarSeries[]>;
  /** The metrics that applications sent. */
  catalog(request: Pick<SelectRequest, "fromMs" | "signal" | "charge">): Promise<readonly OtlpMetric[]>;
}

export function createTenantMetrics(options: TenantMetricsOptions): TenantMetrics {
  const catalogs: MetricCatalogs = options.catalogs ?? new Map();
  const catalog: TenantMetrics["catalog"] = ({ charge, fromMs, signal }) => {
    let read = catalogs.get(fromMs);
    if (read === undefined)
      catalogs.set(fromMs, (read = readCatalog(options.reader, { ...options, fromMs, signal, charge })));
    return read;
  };
  const otlpNames = async (request: NamesRequest): Promise<OtlpSeriesName[]> => {
    const { yieldBudget } = request;
    const names: OtlpSeriesName[] = [];
    for (const metric of await catalog(request)) {
      const ofMetric = [...seriesNames(metric).map(withSpanMetric), ...semconvNames(metric)];
      names.push(...(await namedBy(ofMetric, request)));
      if (yieldBudget.spend(nameCost)) await yieldBudget.yield();
    }
    return names;
  };
  /** The only name that the windows are of, if applications push no series that no span covers: the engine combines both. */
  const onlySpansOf = async (request: WindowsRequest): Promise<SpanSeriesName | null> => {
    const [name, ...others] = await namedBy(spanSeriesNames, request);
    if (name === undefined || others.length > 0) return null;
    return (await hasUncoveredSeries(name, request, { names: await otlpNames(request), options })) ? null : name;
  };
  const reducedNames = async (request: ReductionRequest): Promise<ReducedNames | null> => {
    const windows = await onlySpansOf(request.windows);
    const subtracted = request.kind === "average_difference" ? await onlySpansOf(request.subtracted) : undefined;
    return windows === null || subtracted === null ? null : { windows, subtracted };
  };
  return {
    catalog,
    select: async (request) => select(request, await otlpNames(request), options),
    aggregateWindows: async (request) => {
      const name = await onlySpansOf(request);
      return name && aggregateSpanWindows(name, request, options);
    },
    reduceWindows: async (request) => {
      const names = await reducedNames(request);
      return names && reduceSpanWindows(names, request, options);
    },
    labelSets: async (request) => labelSets(request, await otlpNames(request), options),
    exemplars: async (request) => exemplars(request, await otlpNames(request), options),
  };
}

type NamesRequest = Pick<SelectRequest, "matchers" | "fromMs" | "signal" | "yieldBudget" | "charge">;

/** The cost of matching a metric's names, in samples. */
const nameCost = 64;

async function namedBy<Named extends { readonly name: string }>(
  all: readonly Named[],
  { matchers, yieldBudget }: Pick<NamesRequest, "matchers" | "yieldBudget">,
): Promise<Named[]> {
  const nameMatchers = matchers.filter(({ name }) => name === "__name__");
  const named: Named[] = [];
  for (const each of all) {
    if (await matchesAll(nameMatchers, () => each.name, yieldBudget)) named.push(each);
  }
  return named;
}

async function selectsTargetInfo(request: Pick<NamesRequest, "matchers" | "yieldBudget">): Promise<boolean> {
  return (await namedBy([{ name: targetInfoName }], request)).length > 0;
}

async function select(
  request: SelectRequest,
  names: readonly OtlpSeriesName[],
  options: SpanQuery,
): Promise<StoredSeries[]> {
  const otlpRequest = { ...request, maxSeries: request.hints.maxSeries };
  const ofSpans = await namesWithSpans(await namedBy(spanSeriesNames, request), request, options);
  const selectsInfo = await selectsTargetInfo(request);
  const [counted, sent, info] = await Promise.all([
    selectSpanSeries(ofSpans, request, options),
    selectOtlpSeries({ ...otlpRequest, names }, options),
    selectsInfo ? selectTargetInfo(otlpRequest, options) : [],
  ]);
  const range = { ...request, maxSeries: request.hints.maxSeries };
  const sources = await spanSources(namesOf(sent, ofSpans), range, options);
  return [...counted, ...(await withoutSpanDuplicates(sent, sources, request.yieldBudget)), ...info];
}

/** Whether pushed series may add something to a series over spans. */
async function hasUncoveredSeries(
  name: SpanSeriesName,
  request: WindowsRequest,
  { names, options }: { readonly names: readonly OtlpSeriesName[]; readonly options: SpanQuery },
): Promise<boolean> {
  if (names.length === 0) return false;
  const range = { ...request, maxSeries: request.hints.maxSeries };
  const sent = await otlpLabelSets({ ...range, names }, options);
  if (sent.length === 0) return false;
  const known = new Set((await spanSources([name], range, options)).map(sourceOf));
  return sent.some((labels) => !known.has(sourceOf(labels)));
}

async function exemplars(
  request: ExemplarRequest,
  names: readonly OtlpSeriesName[],
  options: SpanQuery,
): Promise<readonly ExemplarSeries[]> {
  const ofSpans = await namedBy(spanSeriesNames, request);
  const counted: ExemplarSeries[] = [];
  for (const name of ofSpans) counted.push(...(await spanExemplars(name, request, options)));
  const sent = await otlpExemplars({ ...request, names }, options);
  if (sent.length === 0) return counted;
  const sources = await spanSources(namesOf(sent, ofSpans), request, options);
  return [...counted, ...(await withoutSpanDuplicates(sent, sources, request.yieldBudget))];
}

/** The names over spans that series were sent under. */
function namesOf(
  sent: readonly { readonly labels: Labels }[],
  ofSpans: readonly SpanSeriesName[],
): readonly SpanSeriesName[] {
  const names = new Set(sent.map(({ labels }) => getLabel(labels, "__name__")));
  return ofSpans.filter(({ name }) => names.has(name));
}

/** Spans take precedence: the same metric pushed by the same service would count everything twice. */
async function withoutSpanDuplicates<Series extends { readonly labels: Labels }>(
  sent: readonly Series[],
  sources: readonly Labels[],
  yieldBudget: YieldBudget,
): Promise<readonly Series[]> {
  if (sources.length === 0) return sent;
  const known = new Set(sources.map(sourceOf));
  const others: Series[] = [];
  for (const each of sent) {
    if (!known.has(sourceOf(each.labels))) others.push(each);
    if (yieldBudget.spend(nameCost)) await yieldBudget.yield();
  }
  return others;
}

function sourceOf(labels: Labels): string {
  return JSON.stringify(["__name__", "project_name", "service_name"].map((name) => getLabel(labels, name)));
}

async function labelSets(
  request: LabelSetsRequest,
  names: readonly OtlpSeriesName[],
  options: SpanQuery,
): Promise<Labels[]> {
  const { wanted } = request;
  const named = await namesWithSpans(await namedBy(spanSeriesNames, request), request, options);
  const selectsInfo = await selectsTargetInfo(request);
  const ofSpanNames = wanted === undefined ? named : oneNameEach(named, wanted);
  const [ofSpans, sent, info] = await Promise.all([
    spanLabelSets(ofSpanNames, request, options),
    wanted === undefined
      ? listedLabelSets({ ...request, names }, options)
      : wantedLabelSets({ ...request, wanted, names }, options),
    selectsInfo ? targetInfoLabels(request, options) : [],
  ]);
  const found = new Map<string, Labels>();
  for (const labels of [...ofSpans, ...sent, ...info]) {
    found.set(labels.key, labels);
    if (request.yieldBudget.spend(1)) await request.yieldBudget.yield();
  }
  return [...found.values()];
}

/** The parts of a histogram have the same labels, except for their names, and that buckets have `le`. */
function oneNameEach(named: readonly SpanSeriesName[], { names, values }: WantedLabels): readonly SpanSeriesName[] {
  if (values.has("__name__")) return named;
  const needsBuckets = names || values.has("le");
  const chosen = new Map<string, SpanSeriesName>();
  for (const each of named) {
    const before = chosen.get(each.metric.name);
    if (before === undefined || (each.part === "bucket") === needsBuckets) chosen.set(each.metric.name, each);
  }
  return [...chosen.values()];
}
