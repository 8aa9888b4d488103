/** Writes results of LogQL in the JSON of Loki's HTTP API. https://grafana.com/docs/loki/latest/reference/loki-http-api/#format */
import type { LogEntry, LogqlResult, LogqlValue, LogStream } from "@sounding/logql/query-result";
import type { MatrixSeries, VectorSample } from "@sounding/promql/query-value";
import type { Labels } from "@sounding/promql/series/labels";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { labelsJson, listOf } from "../metrics/prometheus-json.ts";
import { statisticsJson } from "./statistics-json.ts";

export interface ResultOptions {
  /** Whether labels are separated by where they came from. */
  readonly categorizesLabels: boolean;
  /** When an instant query was evaluated. */
  readonly timeUnixNano: bigint;
}

/** Seconds, and the value as a string. */
type SampleJson = [seconds: number, value: string];
type EntryJson =
  | [unixNano: string, line: string]
  | [unixNano: string, line: string, labels: { structuredMetadata?: unknown; parsed?: unknown }];

export function queryJson({ statistics, value }: LogqlResult, options: ResultOptions): unknown {
  return {
    status: "success",
    data: {
      resultType: value.type,
      ...(options.categorizesLabels && value.type === "streams" ? { encodingFlags: ["categorize-labels"] } : {}),
      result: valueJson(value, options),
      stats: statisticsJson(statistics),
    },
  };
}

// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive, which tsc checks
function valueJson(value: LogqlValue, { categorizesLabels, timeUnixNano }: ResultOptions): unknown {
  const seconds = Number(timeUnixNano / 1_000_000n) / 1000;
  switch (value.type) {
    case "streams":
      return listOf(value.streams, (stream) => streamJson(stream, categorizesLabels), longestStreams);
    case "vector":
      return listOf(value.samples, ({ labels, value: sample }: VectorSample) => ({
        metric: labelsJson(labels),
        value: sampleJson(seconds, sample),
      }));
    case "matrix":
      return listOf(value.series, matrixItem);
    case "scalar":
      return sampleJson(seconds, value.value);
  }
}

/** Lines may be long: more streams than this are written one by one. */
const longestStreams = 8;

function streamJson({ entries, labels }: LogStream, categorizesLabels: boolean): unknown {
  return {
    stream: labelsJson(labels),
    values: listOf(entries, (entry) => entryJson(entry, categorizesLabels)),
  };
}

export function entryJson(entry: LogEntry, categorizesLabels: boolean): EntryJson {
  const { line, parsed, structuredMetadata, unixNano } = entry;
  if (!categorizesLabels) return [String(unixNano), line];
  return [
    String(unixNano),
    line,
    {
      ...(isEmpty(structuredMetadata) ? {} : { structuredMetadata: labelsJson(structuredMetadata) }),
      ...(isEmpty(parsed) ? {} : { parsed: labelsJson(parsed) }),
    },
  ];
}

function isEmpty({ pairs }: Labels): boolean {
  return pairs.length === 0;
}

function matrixItem({ labels, timestampsMs, values }: MatrixSeries): unknown {
  return {
    metric: labelsJson(labels),
    values: listOf(values, (value, index) => sampleJson(timestampsMs[index]! / 1000, value)),
  };
}

/** Unlike Prometheus, Loki writes no exponents. */
export function sampleJson(seconds: number, value: number): SampleJson {
  return [seconds, formatPlain(value)];
}
