/**
 * Results of telemetry queries: the server's response unchanged, so that `result["data"]` and `JSON.stringify(result)`
 * show what was sent, with additional members that are more convenient.
 */
import type { LogsAnswer, MetricsAnswer, TracesAnswer } from "../generated/types.ts";

/** A log entry. */
export interface LogEntry {
  /** UNIX time in nanoseconds. */
  readonly timestamp_ns: string;
  readonly message: string;
  /** The attributes of the log record, with `detail: true`; undefined without. */
  readonly attributes: Readonly<Record<string, string>> | undefined;
}

/** Log entries with the same labels. */
export interface LogSample {
  /** The labels, such as `severity` and `service_name`. */
  readonly stream: Readonly<Record<string, string>>;
  /** Pairs of a UNIX time in nanoseconds, as a string, and a message; newest first. */
  readonly values: readonly (readonly [timestampNs: string, message: string])[];
  /** The same with times in seconds, which are exact to about a microsecond. */
  readonly values_in_seconds: readonly (readonly [timestampSeconds: number, message: string])[];
  /** The same as objects, with attributes if they were requested by `detail: true`. */
  readonly entries: readonly LogEntry[];
}

export type LogsResult = LogsAnswer & {
  /** `streams`. */
  readonly result_type: string;
  /** The streams; the one with the newest entry comes first. */
  readonly samples: readonly LogSample[];
};

/** UNIX time in seconds, and a number as text, including `NaN`, `+Inf` and `-Inf`. */
export type MetricValue = readonly [timestampSeconds: number, value: string];

/** A series of a metric. */
export interface MetricSample {
  /** The labels. */
  readonly metric: Readonly<Record<string, string>>;
  /** In a vector: the value. */
  readonly value: MetricValue | undefined;
  /** All values in order of time; in a vector, the only one. */
  readonly values: readonly MetricValue[];
}

export type MetricsResult = MetricsAnswer & {
  /** `vector`, or `matrix` if `step` was set. */
  readonly result_type: string;
  /** The series. */
  readonly samples: readonly MetricSample[];
};

/** A span in Tempo's JSON encoding; zero and empty values are omitted. */
export interface Span {
  /** In base64. */
  readonly traceId: string;
  /** In base64. */
  readonly spanId: string;
  /** In base64; absent for a root. */
  readonly parentSpanId?: string;
  readonly name?: string;
  /** `SPAN_KIND_INTERNAL`, `…_SERVER`, `…_CLIENT`, `…_PRODUCER` or `…_CONSUMER`. */
  readonly kind?: string;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly SpanAttribute[];
  readonly events?: readonly { timeUnixNano?: string; name?: string; attributes?: readonly SpanAttribute[] }[];
  readonly links?: readonly { traceId?: string; spanId?: string; attributes?: readonly SpanAttribute[] }[];
  /** `code` is `STATUS_CODE_OK` or `STATUS_CODE_ERROR`; absent if it was not set. */
  readonly status: { readonly code?: string; readonly message?: string };
  readonly traceState?: string;
  readonly flags?: number;
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
}

/** A name and OpenTelemetry's AnyValue, such as `{ stringValue: "…" }` or `{ intValue: "5" }`. */
export interface SpanAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ScopeSpans {
  /** The instrumentation scope of the spans. */
  readonly scope: Readonly<Record<string, unknown>>;
  readonly spans: readonly Span[];
}

/** Spans of one resource. */
export interface TraceBatch {
  /** The resource that produced the spans: `attributes`. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope_spans: readonly ScopeSpans[];
}

export type TracesResult = TracesAnswer & {
  /** `success`. */
  readonly status: string;
  /** The batches of all traces. */
  readonly batches: readonly TraceBatch[];
  /** The spans of all batches. */
  readonly spans: readonly Span[];
};

export function toLogsResult(answer: LogsAnswer): LogsResult {
  return besides(answer, {
    result_type: () => answer.data.resultType,
    samples: () => answer.data.result.map(toSample),
  });
}

function toSample({ stream, values }: LogsAnswer["data"]["result"][number]): LogSample {
  return {
    stream,
    values: values.map(([timestampNs, message]) => [timestampNs, message]),
    values_in_seconds: values.map(([timestampNs, message]) => [Number(timestampNs) / 1e9, message]),
    entries: values.map(([timestamp_ns, message, details]) => ({
      timestamp_ns,
      message,
      attributes: details?.structuredMetadata,
    })),
  };
}

export function toMetricsResult(answer: MetricsAnswer): MetricsResult {
  return besides(answer, {
    result_type: () => answer.data.resultType,
    samples: () => answer.data.result.map(toMetricSample),
  });
}

function toMetricSample({ metric, value, values }: MetricsAnswer["data"]["result"][number]): MetricSample {
  const one = value as MetricValue | undefined;
  return { metric, value: one, values: (values as MetricValue[] | undefined) ?? (one === undefined ? [] : [one]) };
}

export function toTracesResult(answer: TracesAnswer): TracesResult {
  const batches = (): TraceBatch[] =>
    answer.traces
      .flatMap((trace) => trace.batches ?? [])
      .map((batch) => ({ ...batch, scope_spans: batch.scopeSpans as unknown as ScopeSpans[] }));
  return besides(answer, {
    status: () => "success",
    batches,
    spans: () => batches().flatMap((batch) => batch.scope_spans.flatMap(({ spans }) => spans)),
  });
}

/** Adds members that are computed on access and omitted from JSON. */
function besides<Answer extends object, More extends Record<string, unknown>>(
  answer: Answer,
  members: { readonly [Name in keyof More]: () => More[Name] },
): Answer & More {
  for (const [name, get] of Object.entries(members)) Object.defineProperty(answer, name, { get, enumerable: false });
  return answer as Answer & More;
}
