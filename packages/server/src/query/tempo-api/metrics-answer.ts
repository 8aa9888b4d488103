/** The answers of metrics queries, in the JSON of Tempo's messages: 64-bit numbers as strings. */
import { convertedList, LazyList } from "../../http/incremental-json.ts";
import type {
  InstantMetricsResult,
  InstantSeries,
  MetricsExemplar,
  MetricsSeries,
  RangeMetricsResult,
} from "@sounding/traceql/metrics/query-metrics";
import type { ReadStatistics } from "@sounding/traceql/read-traces";
import { attributesJson, doubleJson } from "./value-json.ts";

export function rangeAnswer({ series, statistics }: RangeMetricsResult): unknown {
  return { series: new LazyList(rangeSeries(series)), metrics: metricsJson(statistics) };
}

function* rangeSeries(series: readonly MetricsSeries[]): Generator<object> {
  for (const { exemplars, labels, timestampsMs, values } of series) {
    yield {
      labels: attributesJson(labels),
      samples: convertedList(values, (value, index) => ({
        timestampMs: String(timestampsMs[index]),
        value: doubleJson(value),
      })),
      ...(exemplars.length === 0 ? {} : { exemplars: exemplars.map(exemplarJson) }),
    };
  }
}

function exemplarJson({ labels, timestampMs, value }: MetricsExemplar): object {
  return { labels: attributesJson(labels), value: doubleJson(value), timestampMs: String(timestampMs) };
}

export function instantAnswer({ series, statistics }: InstantMetricsResult): unknown {
  const toJson = ({ labels, value }: InstantSeries): object => ({
    labels: attributesJson(labels),
    value: doubleJson(value),
  });
  return { series: convertedList(series, toJson), metrics: metricsJson(statistics) };
}

/** What a query has read. */
export function metricsJson({ inspectedBytes, inspectedSpans, inspectedTraces }: ReadStatistics): object {
  return {
    inspectedTraces,
    inspectedBytes: String(inspectedBytes),
    inspectedSpans: String(inspectedSpans),
    completedJobs: 1,
    totalJobs: 1,
  };
}
