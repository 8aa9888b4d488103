/**
 * Reads the requests of Prometheus' remote write, whatever their version.
 * https://prometheus.io/docs/specs/prw/remote_write_spec/ (1.0), https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/ (2.0)
 */
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { MessageScan, type RangeList } from "../../protobuf/message-scan.ts";
import { message, type MessageType } from "../../protobuf/message-type.ts";
import { uint32At } from "../../protobuf/numbers.ts";
import {
  doubleOf,
  messagesOf,
  numberOf,
  numbersOf,
  rangesOf,
  textOf,
  type ReadValues,
} from "../../protobuf/scan-fields.ts";
import { histogram, histogramsIn, type WrittenHistogram } from "./written-histogram.ts";
import { isStaleAt, type WrittenTime } from "./written-time.ts";

export type Version = "1.0" | "2.0";

export interface WrittenSample extends WrittenTime {
  readonly value: number;
}

export interface WrittenExemplar {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly timeMs: number;
}

/** Samples, histograms and exemplars are read while they are iterated, which must happen before the next series is read. */
export interface WrittenSeries {
  /** At most one more than `maximumLabels`, so that series beyond the limit are recognized. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly samples: ReadValues<WrittenSample>;
  readonly histograms: ReadValues<WrittenHistogram>;
  readonly exemplars: ReadValues<WrittenExemplar>;
  /** What the metadata says; undefined if it says neither. */
  readonly isCounter: boolean | undefined;
  readonly help: string;
}

const label = message("Label", { name: [1, "string"], value: [2, "string"] });
const sample = message("Sample", { value: [1, "double"], timestamp: [2, "int64"], startTimestamp: [3, "int64"] });

const first = {
  exemplar: message("Exemplar", { labels: [1, label, "repeated"], value: [2, "double"], timestamp: [3, "int64"] }),
  metadata: message("MetricMetadata", { type: [1, "enum"], metricFamilyName: [2, "string"], help: [4, "string"] }),
};
const firstSeries = message("TimeSeries", {
  labels: [1, label, "repeated"],
  samples: [2, sample, "repeated"],
  exemplars: [3, first.exemplar, "repeated"],
  histograms: [4, histogram, "repeated"],
});
const firstRequest = message("prometheus.WriteRequest", {
  timeseries: [1, firstSeries, "repeated"],
  metadata: [3, first.metadata, "repeated"],
});

const second = {
  exemplar: message("Exemplar", { labels: [1, "uint32", "repeated"], value: [2, "double"], timestamp: [3, "int64"] }),
  metadata: message("Metadata", { type: [1, "enum"], help: [3, "uint32"], unit: [4, "uint32"] }),
};
const secondSeries = message("TimeSeries", {
  labels: [1, "uint32", "repeated"],
  samples: [2, sample, "repeated"],
  histograms: [3, histogram, "repeated"],
  exemplars: [4, second.exemplar, "repeated"],
  metadata: [5, second.metadata],
  createdTimestamp: [6, "int64"],
});
const secondRequest = message("io.prometheus.write.v2.Request", {
  symbols: [4, "string", "repeated"],
  timeseries: [5, secondSeries, "repeated"],
});

/** Labels of version 2.0 are references to symbols, so that a few bytes of a request stand for any number of long texts. */
export const maximumLabels = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Labels of a series that is sent by remote write",
  value: 128,
  error: { instead: "the samples of the series are rejected, the others are stored" },
});
/** A label's name and value together. */
export const maximumLabelCharacters = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Label of a series that is sent by remote write",
  value: 2048,
  unit: "characters",
  error: { instead: "the samples of the series are rejected, the others are stored" },
});
/** Of a text, no more is read than shows that it is too long: a character of UTF-16 has at most three bytes in UTF-8. */
const readTextBytes = (maximumLabelCharacters + 1) * 3;
/** Prometheus sends 2,000 at a time. */
const maximumMetadata = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Metric metadata in one remote write request",
  value: 10_000,
  error: "payload_too_large",
});

/** The same in both versions. Series of other types, such as those of a histogram, are known by their names. */
const isCounterByType: ReadonlyMap<number, boolean> = new Map([
  [1, true],
  [2, false],
]);

/** @throws AppError invalid_request for bytes that are no request, also while its series are read */
export function readWriteRequest(bytes: Buffer, version: Version): Iterable<WrittenSeries> {
  return version === "1.0" ? readFirst(bytes) : readSecond(bytes);
}

/** Metadata may come in another request than its series, so it is only used where it is at hand. */
function* readFirst(bytes: Buffer): Generator<WrittenSeries> {
  const request = scanned(firstRequest, bytes, 0, bytes.length);
  const families = new Map<string, { isCounter: boolean | undefined; help: string }>();
  const family = new MessageScan(first.metadata);
  const metadata = request.list(firstRequest.fields.metadata);
  if (metadata.length > maximumMetadata) {
    throw new AppError(
      "payload_too_large",
      `The request has metadata of ${metadata.length} metrics; at most ${maximumMetadata} are allowed. Send smaller requests.`,
    );
  }
  for (const [start, end] of rangesOf(metadata)) {
    family.read(bytes, start, end);
    const { help, metricFamilyName, type } = first.metadata.fields;
    const isCounter = isCounterByType.get(numberOf(family, type));
    families.set(shortText(family, metricFamilyName), { isCounter, help: shortText(family, help) });
  }
  const scan = new MessageScan(firstSeries);
  const { fields } = firstSeries;
  for (const [start, end] of rangesOf(request.list(firstRequest.fields.timeseries))) {
    scan.read(bytes, start, end);
    const labels = labelPairs(bytes, scan.list(fields.labels));
    const name = labels.find(([each]) => each === "__name__")?.[1] ?? "";
    const ofTotal = families.get(name.replace(/_total$/, ""));
    const known = families.get(name) ?? (ofTotal?.isCounter === true ? ofTotal : undefined);
    yield {
      labels,
      samples: samplesIn(bytes, scan.list(fields.samples), 0),
      histograms: histogramsIn(bytes, scan.list(fields.histograms), 0),
      exemplars: exemplarsIn(bytes, scan.list(fields.exemplars), {
        type: first.exemplar,
        labelsOf: (exemplar) => labelPairs(bytes, exemplar.list(first.exemplar.fields.labels)),
      }),
      isCounter: known?.isCounter,
      help: known?.help ?? "",
    };
  }
}

function* readSecond(bytes: Buffer): Generator<WrittenSeries> {
  const request = scanned(secondRequest, bytes, 0, bytes.length);
  const symbols = request.list(secondRequest.fields.symbols);
  const texts = new Map<number, string>();
  const symbolAt = (index: number): string => {
    const known = texts.get(index);
    if (known !== undefined) return known;
    if (index >= symbols.length) throw invalid(`a series refers to symbol ${index}, and there are ${symbols.length}`);
    const start = symbols.start(index);
    const text = bytes.toString("utf8", start, Math.min(symbols.end(index), start + readTextBytes));
    texts.set(index, text);
    return text;
  };
  const pairsOf = (list: RangeList): [string, string][] => {
    const references = numbersOf(bytes, list, { limit: (maximumLabels + 1) * 2, read: (at) => uint32At(bytes, at) });
    if (references.length % 2 !== 0) throw invalid("a list of label references has an odd length");
    return Array.from({ length: references.length / 2 }, (_, index) => [
      symbolAt(references[index * 2]!),
      symbolAt(references[index * 2 + 1]!),
    ]);
  };
  const scan = new MessageScan(secondSeries);
  const metadata = new MessageScan(second.metadata);
  const { fields } = secondSeries;
  for (const [start, end] of rangesOf(request.list(secondRequest.fields.timeseries))) {
    scan.read(bytes, start, end);
    metadata.read(bytes, scan.starts[fields.metadata]!, scan.ends[fields.metadata]!);
    const createdMs = numberOf(scan, fields.createdTimestamp);
    yield {
      labels: pairsOf(scan.list(fields.labels)),
      samples: samplesIn(bytes, scan.list(fields.samples), createdMs),
      histograms: histogramsIn(bytes, scan.list(fields.histograms), createdMs),
      exemplars: exemplarsIn(bytes, scan.list(fields.exemplars), {
        type: second.exemplar,
        labelsOf: (exemplar) => pairsOf(exemplar.list(second.exemplar.fields.labels)),
      }),
      isCounter: isCounterByType.get(numberOf(metadata, second.metadata.fields.type)),
      help: symbolAt(numberOf(metadata, second.metadata.fields.help)),
    };
  }
}

function scanned(type: MessageType, bytes: Buffer, start: number, end: number): MessageScan {
  const scan = new MessageScan(type);
  scan.read(bytes, start, end);
  return scan;
}

function labelPairs(bytes: Buffer, list: RangeList): [string, string][] {
  const pair = new MessageScan(label);
  const pairs: [string, string][] = [];
  for (const [start, end] of rangesOf(list)) {
    if (pairs.length > maximumLabels) break;
    pair.read(bytes, start, end);
    pairs.push([shortText(pair, label.fields.name), shortText(pair, label.fields.value)]);
  }
  return pairs;
}

function shortText(scan: MessageScan, field: number): string {
  return textOf(scan, field, readTextBytes);
}

function samplesIn(bytes: Buffer, list: RangeList, createdMs: number): ReadValues<WrittenSample> {
  const scan = new MessageScan(sample);
  const { startTimestamp, timestamp, value } = sample.fields;
  return messagesOf(list, (start, end) => {
    scan.read(bytes, start, end);
    const startMs = numberOf(scan, startTimestamp);
    return {
      value: doubleOf(scan, value),
      timeMs: numberOf(scan, timestamp),
      startMs: startMs === 0 ? createdMs : startMs,
      isStale: isStaleAt(bytes, scan.starts[value]!),
    };
  });
}

interface ExemplarShape {
  readonly type: typeof first.exemplar | typeof second.exemplar;
  readonly labelsOf: (scan: MessageScan) => [string, string][];
}

function exemplarsIn(bytes: Buffer, list: RangeList, { labelsOf, type }: ExemplarShape): ReadValues<WrittenExemplar> {
  const scan = new MessageScan(type);
  return messagesOf(list, (start, end) => {
    scan.read(bytes, start, end);
    const labels = new Map(labelsOf(scan));
    return { labels, value: doubleOf(scan, type.fields.value), timeMs: numberOf(scan, type.fields.timestamp) };
  });
}

function invalid(problem: string): AppError {
  return new AppError("invalid_request", `The request is not a valid remote write request: ${problem}.`);
}
