/**
 * Converts the series of a remote write request to OTLP, so that they are checked, stored and acknowledged like all other
 * metrics. Floats become gauges or sums, native histograms become exponential ones, those with custom buckets explicit ones. The
 * unit marks metrics whose name is Prometheus' own (query/metrics/otlp-series/prometheus-names.ts).
 */
import { inputLimit } from "../../input-limits.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { metricExport } from "../../protobuf/otlp-messages.ts";
import { CooperativeYield, longStep } from "../../scheduling/cooperative-yield.ts";
import { prometheusUnit } from "../../store/metric-tables.ts";
import { customBucketsSchema, histogramPoint, histogramProblem, type HistogramPoint } from "./histogram-point.ts";
import type { WrittenExemplar, WrittenSample, WrittenSeries } from "./write-request.ts";
import type { WrittenHistogram } from "./written-histogram.ts";
import type { WrittenTime } from "./written-time.ts";

export interface ConvertedRequest {
  /** ExportMetricsServiceRequests of the floats and of the histograms, so that each are counted. */
  readonly floats: Buffer;
  readonly histograms: Buffer;
  /** Why series or histograms were rejected, with their number. */
  readonly rejected: ReadonlyMap<string, number>;
}

/** Labels of version 2.0 are references to symbols, so that a few bytes of a request stand for any number of long texts. */
const maximumLabelCharacters = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Label of a series that is sent by remote write",
  value: 2048,
  unit: "characters",
  error: { instead: "the samples of the series are rejected, the others are stored" },
});
/** Longer descriptions are cut. */
const maximumHelpCharacters = 1024;
/** Samples that are encoded without yielding. */
const samplesPerStep = 500;
const cumulative = 2;
const noRecordedValue = 1;

/**
 * @param charge takes the memory of the converted bytes; throws if it is too much
 * @throws AppError invalid_request from reading the series
 */
export async function toOtlp(
  series: Iterable<WrittenSeries>,
  charge: (bytes: number) => void,
): Promise<ConvertedRequest> {
  const parts = { floats: new RequestParts(charge), histograms: new RequestParts(charge) };
  const rejected = new Map<string, number>();
  const reject = (reason: string, count: number): void =>
    void rejected.set(reason, (rejected.get(reason) ?? 0) + count);
  const yielder = new CooperativeYield();
  for (const each of series) {
    const identity = identityOf(each);
    if (typeof identity === "string") {
      reject(identity, each.samples.length + each.histograms.length);
      continue;
    }
    const histograms: WrittenHistogram[] = [];
    for (const one of each.histograms) {
      const problem = histogramProblem(one);
      if (problem === undefined) histograms.push(one);
      else reject(problem, 1);
    }
    const { samples } = each;
    for (let from = 0; from < samples.length; from += samplesPerStep) {
      const slice = samples.slice(from, from + samplesPerStep);
      parts.floats.add(identity, floatMetric(each, { identity, samples: slice }), slice.length);
      if (parts.floats.encodeIfFull() && yielder.isDue(longStep)) await yielder.yield();
    }
    for (const metric of histogramMetrics(each, histograms, identity)) {
      parts.histograms.add(identity, metric, histograms.length);
    }
    if (parts.floats.encodeIfFull() || parts.histograms.encodeIfFull()) {
      if (yielder.isDue(longStep)) await yielder.yield();
    }
  }
  return { floats: parts.floats.finish(), histograms: parts.histograms.finish(), rejected };
}

interface Identity {
  readonly name: string;
  /** `job`, `instance` and `project_name`, which OpenTelemetry keeps in the resource. */
  readonly resource: readonly object[];
  readonly attributes: readonly object[];
}

const resourceNames: ReadonlyMap<string, string> = new Map([
  ["job", "service.name"],
  ["instance", "service.instance.id"],
  ["project_name", "project.name"],
]);

/** Why the series is rejected if its labels cannot identify it, as the end of "1 sample …". */
function identityOf({ labels }: WrittenSeries): Identity | string {
  const byName = new Map(labels);
  if (byName.size < labels.length) return "of a series with a repeated label name";
  const name = byName.get("__name__") ?? "";
  if (name === "") return "of a series without a name";
  const resource: object[] = [];
  const attributes: object[] = [];
  for (const [label, value] of byName) {
    if (label.length + value.length > maximumLabelCharacters) {
      return `of a series with a label of more than ${maximumLabelCharacters} characters`;
    }
    if (label === "") return "of a series with an empty label name";
    if (label === "__name__" || value === "") continue;
    const ofResource = resourceNames.get(label);
    if (ofResource === undefined) attributes.push(attribute(label, value));
    else resource.push(attribute(ofResource, value));
  }
  return { name: name.toWellFormed(), resource, attributes };
}

function attribute(key: string, value: string): object {
  return { key: key.toWellFormed(), value: { stringValue: value.toWellFormed() } };
}

function unixNano(ms: number): string {
  return ms <= 0 ? "0" : `${Math.min(ms, latestMs)}000000`;
}

/** The year 2262. */
const latestMs = 9_223_372_036_854;

function headOf({ isStale, startMs, timeMs }: WrittenTime, attributes: readonly object[]): object {
  return {
    attributes,
    timeUnixNano: unixNano(timeMs),
    startTimeUnixNano: unixNano(startMs),
    flags: isStale ? noRecordedValue : 0,
  };
}

/** Names that only counters have; the metadata of version 1.0 often comes in another request. */
const counterName = /_(?:total|count|bucket|sum)$/;

interface FloatSlice {
  readonly identity: Identity;
  readonly samples: readonly WrittenSample[];
}

function floatMetric(
  { exemplars, help, isCounter, samples: all }: WrittenSeries,
  { identity: { attributes, name }, samples }: FloatSlice,
): object {
  const last = all.at(-1);
  const dataPoints = samples.map((sample) => ({
    ...headOf(sample, attributes),
    ...(sample.isStale ? {} : { asDouble: sample.value }),
    exemplars: sample === last ? exemplars.map(exemplarOf) : [],
  }));
  const described = { name, description: help.slice(0, maximumHelpCharacters).toWellFormed(), unit: prometheusUnit };
  if (!isCounter && !counterName.test(name)) return { ...described, gauge: { dataPoints } };
  return { ...described, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } };
}

function histogramMetrics(
  { exemplars, help }: WrittenSeries,
  histograms: readonly WrittenHistogram[],
  { attributes, name }: Identity,
): object[] {
  const described = { name, description: help.slice(0, maximumHelpCharacters).toWellFormed(), unit: prometheusUnit };
  const last = histograms.at(-1);
  const pointsOf = (isCustom: boolean): object[] =>
    histograms
      .filter(({ schema }) => (schema === customBucketsSchema) === isCustom)
      .map((histogram): object & HistogramPoint => ({
        ...headOf(histogram, attributes),
        ...histogramPoint(histogram),
        exemplars: histogram === last ? exemplars.map(exemplarOf) : [],
      }));
  const [exponential, explicit] = [pointsOf(false), pointsOf(true)];
  const data = (dataPoints: readonly object[]): object => ({ dataPoints, aggregationTemporality: cumulative });
  return [
    ...(exponential.length === 0 ? [] : [{ ...described, exponentialHistogram: data(exponential) }]),
    ...(explicit.length === 0 ? [] : [{ ...described, histogram: data(explicit) }]),
  ];
}

function exemplarOf({ labels, timeMs, value }: WrittenExemplar): object {
  const idOf = (name: string, digits: number): string | undefined => {
    const id = labels.get(name) ?? "";
    return id.length === digits && /^[\da-f]+$/i.test(id) ? id : undefined;
  };
  const [traceId, spanId] = [idOf("trace_id", 32), idOf("span_id", 16)];
  const others = [...labels]
    .filter(([name, text]) => name.length + text.length <= maximumLabelCharacters)
    .filter(
      ([name]) => !((name === "trace_id" && traceId !== undefined) || (name === "span_id" && spanId !== undefined)),
    );
  const filteredAttributes = others.map(([name, text]) => attribute(name, text));
  return { timeUnixNano: unixNano(timeMs), asDouble: value, traceId, spanId, filteredAttributes };
}

/** Collects metrics by resource, and encodes them in pieces: messages of a type that follow one another are one message. */
class RequestParts {
  readonly #parts: Buffer[] = [];
  readonly #byResource = new Map<string, { readonly resource: object; readonly metrics: object[] }>();
  readonly #charge: (bytes: number) => void;
  #count = 0;

  constructor(charge: (bytes: number) => void) {
    this.#charge = charge;
  }

  /** Whether there was enough to encode. */
  encodeIfFull(): boolean {
    if (this.#count < samplesPerStep) return false;
    this.encode();
    return true;
  }

  /** @param points how many points the metric has */
  add({ resource: attributes }: Identity, metric: object, points: number): void {
    const key = JSON.stringify(attributes);
    const group = this.#byResource.get(key);
    if (group === undefined) this.#byResource.set(key, { resource: { attributes }, metrics: [metric] });
    else group.metrics.push(metric);
    this.#count += points;
  }

  encode(): void {
    if (this.#count === 0) return;
    const resourceMetrics = Array.from(this.#byResource.values(), ({ metrics, resource }) => ({
      resource,
      scopeMetrics: [{ metrics }],
    }));
    const part = encodeMessage(metricExport.request, { resourceMetrics });
    this.#charge(part.length);
    this.#parts.push(part);
    this.#byResource.clear();
    this.#count = 0;
  }

  finish(): Buffer {
    this.encode();
    return Buffer.concat(this.#parts);
  }
}
