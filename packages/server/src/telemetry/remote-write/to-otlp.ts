/**
 * Converts the series of a remote write request to OTLP, so that they are checked, stored and acknowledged like all other
 * metrics. Floats become gauges or sums, native histograms become exponential ones, those with custom buckets explicit ones. The
 * unit marks metrics whose name is Prometheus' own (query/metrics/otlp-series/prometheus-names.ts).
 */
import { inputLimit } from "../../input-limits.ts";
import { CooperativeYield, longStep } from "../../scheduling/cooperative-yield.ts";
import { prometheusUnit } from "../../store/metric-tables.ts";
import { customBucketsSchema, histogramPoint, histogramProblem, numberCount } from "./histogram-point.ts";
import { OtlpParts, type Metric, type PartLimits } from "./otlp-parts.ts";
import {
  maximumLabelCharacters,
  maximumLabels,
  type WrittenExemplar,
  type WrittenSample,
  type WrittenSeries,
} from "./write-request.ts";
import type { WrittenHistogram } from "./written-histogram.ts";
import type { WrittenTime } from "./written-time.ts";

export interface ConvertedRequest {
  /** ExportMetricsServiceRequests of the floats and of the histograms, so that each are counted. */
  readonly floats: Buffer;
  readonly histograms: Buffer;
  /** Why series or histograms were rejected, with their number. */
  readonly rejected: ReadonlyMap<string, number>;
  /** Exemplars beyond those that a series may have. */
  readonly rejectedExemplars: number;
}

/** Longer descriptions are cut. */
const maximumHelpCharacters = 1024;
/** The labels of a series' exemplars, which are encoded together, with `exemplarCharacters` for each. */
export const maximumExemplarCharacters = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Labels of the exemplars of a series that is sent by remote write, all together",
  value: 262_144,
  unit: "characters",
  error: { instead: "further exemplars of the series are rejected" },
});
/** A point without its labels and buckets, and an exemplar without its labels, in bytes of their encoding. */
const [pointBytes, exemplarCharacters, bucketBytes] = [64, 64, 8];
const cumulative = 2;
const noRecordedValue = 1;

/** @throws AppError invalid_request from reading the series, payload_too_large, or what the charge of the memory throws */
export async function toOtlp(series: Iterable<WrittenSeries>, limits: PartLimits): Promise<ConvertedRequest> {
  const conversion = new Conversion(limits);
  for (const each of series) await conversion.add(each);
  return conversion.finish();
}

class Conversion {
  readonly #floats: OtlpParts;
  readonly #histograms: OtlpParts;
  readonly #rejected = new Map<string, number>();
  readonly #yielder = new CooperativeYield();
  #rejectedExemplars = 0;

  constructor(limits: PartLimits) {
    this.#floats = new OtlpParts(limits);
    this.#histograms = new OtlpParts(limits);
  }

  async add(series: WrittenSeries): Promise<void> {
    const { histograms, samples } = series;
    const identity = identityOf(series);
    if (typeof identity === "string") this.#reject(identity, samples.length + histograms.length);
    else {
      const exemplars = this.#exemplarsOf(series);
      await this.#addFloats(series, identity, exemplars);
      await this.#addHistograms(series, identity, exemplars);
    }
    if (this.#yielder.isDue()) await this.#yielder.yield();
  }

  async finish(): Promise<ConvertedRequest> {
    return {
      floats: await this.#floats.finish(),
      histograms: await this.#histograms.finish(),
      rejected: this.#rejected,
      rejectedExemplars: this.#rejectedExemplars,
    };
  }

  #reject(reason: string, count: number): void {
    this.#rejected.set(reason, (this.#rejected.get(reason) ?? 0) + count);
  }

  /** The exemplars belong to the last sample. */
  async #addFloats(
    { help, isCounter, samples }: WrittenSeries,
    identity: Identity,
    exemplars: Exemplars,
  ): Promise<void> {
    const isSum = isCounter ?? counterName.test(identity.name);
    const metric = metricOf(identity, help, {
      kind: isSum ? "sum" : "gauge",
      data: isSum ? { aggregationTemporality: cumulative, isMonotonic: true } : {},
    });
    let rest = samples.length;
    for (const sample of samples) {
      rest -= 1;
      const ofLast = rest === 0 ? exemplars : noExemplars;
      const bytes = pointBytes + identity.bytes + ofLast.characters;
      this.#floats.add(metric, floatPoint(sample, identity, ofLast), bytes);
      if (this.#yielder.isDue(bytes / bytesOfStep)) await this.#yielder.yield();
    }
  }

  /** The exemplars belong to the last histogram that is not rejected. */
  async #addHistograms({ help, histograms }: WrittenSeries, identity: Identity, exemplars: Exemplars): Promise<void> {
    const data = { aggregationTemporality: cumulative };
    const exponential = metricOf(identity, help, { kind: "exponentialHistogram", data });
    const explicit = metricOf(identity, help, { kind: "histogram", data });
    let last: WrittenHistogram | undefined;
    const add = (histogram: WrittenHistogram, its: Exemplars): void => {
      const isCustom = histogram.schema === customBucketsSchema;
      const bytes = pointBytes + identity.bytes + numberCount(histogram) * bucketBytes + its.characters;
      const point = { ...headOf(histogram, identity.attributes), ...histogramPoint(histogram), exemplars: its.written };
      this.#histograms.add(isCustom ? explicit : exponential, point, bytes);
    };
    for (const histogram of histograms) {
      const problem = histogramProblem(histogram);
      if (problem === undefined) {
        if (last !== undefined) add(last, noExemplars);
        last = histogram;
      } else this.#reject(problem, 1);
      if (this.#yielder.isDue(longStep)) await this.#yielder.yield();
    }
    if (last !== undefined) add(last, exemplars);
  }

  #exemplarsOf({ exemplars }: WrittenSeries): Exemplars {
    if (exemplars.length === 0) return noExemplars;
    const written: object[] = [];
    let characters = 0;
    for (const exemplar of exemplars) {
      characters += exemplarCharacters;
      for (const [name, value] of exemplar.labels) characters += name.length + value.length;
      if (characters > maximumExemplarCharacters) break;
      written.push(exemplarOf(exemplar));
    }
    this.#rejectedExemplars += exemplars.length - written.length;
    return { written, characters: Math.min(characters, maximumExemplarCharacters) };
  }
}

interface Exemplars {
  readonly written: readonly object[];
  readonly characters: number;
}

const noExemplars: Exemplars = { written: [], characters: 0 };
/** Encoding takes a few nanoseconds for each byte. */
const bytesOfStep = 4096;

interface Identity {
  readonly name: string;
  /** `job`, `instance` and `project_name`, which OpenTelemetry keeps in the resource. */
  readonly resource: readonly object[];
  readonly attributes: readonly object[];
  /** About as many as the encoding of `attributes` has. */
  readonly bytes: number;
}

const resourceNames: ReadonlyMap<string, string> = new Map([
  ["job", "service.name"],
  ["instance", "service.instance.id"],
  ["project_name", "project.name"],
]);

/** Why the series is rejected if its labels cannot identify it, as the end of "1 sample …". */
function identityOf({ labels }: WrittenSeries): Identity | string {
  if (labels.length > maximumLabels) return `of a series with more than ${maximumLabels} labels`;
  const byName = new Map(labels);
  if (byName.size < labels.length) return "of a series with a repeated label name";
  const name = byName.get("__name__") ?? "";
  if (name === "") return "of a series without a name";
  const resource: object[] = [];
  const attributes: object[] = [];
  let bytes = 0;
  for (const [label, value] of byName) {
    if (label.length + value.length > maximumLabelCharacters) {
      return `of a series with a label of more than ${maximumLabelCharacters} characters`;
    }
    if (label === "") return "of a series with an empty label name";
    if (label === "__name__" || value === "") continue;
    const ofResource = resourceNames.get(label);
    if (ofResource === undefined) {
      attributes.push(attribute(label, value));
      bytes += label.length + value.length + attributeBytes;
    } else resource.push(attribute(ofResource, value));
  }
  return { name: name.toWellFormed(), resource, attributes, bytes };
}

/** Of an attribute besides its texts. */
const attributeBytes = 8;

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

function metricOf({ name, resource }: Identity, help: string, { data, kind }: Pick<Metric, "data" | "kind">): Metric {
  const description = help.slice(0, maximumHelpCharacters).toWellFormed();
  return { resource, head: { name, description, unit: prometheusUnit }, kind, data };
}

function floatPoint(sample: WrittenSample, { attributes }: Identity, { written }: Exemplars): object {
  return {
    ...headOf(sample, attributes),
    ...(sample.isStale ? {} : { asDouble: sample.value }),
    exemplars: written,
  };
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
