/**
 * Results of telemetry queries: the answer as the server sent it, so that `result["data"]` and `JSON.stringify(result)` are
 * the wire's, with members beside it that say the same more handily.
 */
import type { LogsAnswer, MetricsAnswer, TracesAnswer } from "../generated/types.ts";

/** Log entries with the same labels. */
export interface LogSample {
  /** The labels, such as `severity` and `service_name`. */
  readonly stream: Readonly<Record<string, string>>;
  /** Pairs of a time (nanoseconds since 1970, as a string) and a message; newest first. */
  readonly values: readonly (readonly [timestampNs: string, message: string])[];
  /** The same with times in seconds, which are exact to about a microsecond. */
  readonly values_in_seconds: readonly (readonly [timestampSeconds: number, message: string])[];
}

export type LogsResult = LogsAnswer & {
  /** `streams`. */
  readonly result_type: string;
  /** The streams, that with the newest entry first. */
  readonly samples: readonly LogSample[];
};

/** A time in seconds since 1970, and a number as text: `NaN`, `+Inf` and `-Inf` are numbers too. */
export type MetricValue = readonly [timestampSeconds: number, value: string];

/** A series of a metric. */
export interface MetricSample {
  /** The labels. */
  readonly metric: Readonly<Record<string, string>>;
  /** Of a vector: the one value. */
  readonly value: MetricValue | undefined;
  /** All values in order of time; of a vector the one. */
  readonly values: readonly MetricValue[];
}

export type MetricsResult = MetricsAnswer & {
  /** `vector`, or `matrix` when `step` was given. */
  readonly result_type: string;
  /** The series. */
  readonly samples: readonly MetricSample[];
};

/** A span in Tempo's JSON; what is zero or empty is absent. */
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
  /** `code` is `STATUS_CODE_OK` or `STATUS_CODE_ERROR`, absent when it was not set. */
  readonly status: { readonly code?: string; readonly message?: string };
  readonly [member: string]: unknown;
}

/** A name and OpenTelemetry's AnyValue, such as `{ stringValue: "…" }` or `{ intValue: "5" }`. */
export interface SpanAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ScopeSpans {
  /** The library that made the spans. */
  readonly scope: Readonly<Record<string, unknown>>;
  readonly spans: readonly Span[];
}

/** Spans of one resource. */
export interface TraceBatch {
  /** What made the spans: `attributes`. */
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
  const pairs = values.map((pair): [string, string] => [pair[0] ?? "", pair[1] ?? ""]);
  return {
    stream,
    values: pairs,
    values_in_seconds: pairs.map(([timestampNs, message]) => [Number(timestampNs) / 1e9, message]),
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

/** Adds members that are computed when they are read and that JSON does not show. */
function besides<Answer extends object, More extends Record<string, unknown>>(
  answer: Answer,
  members: { readonly [Name in keyof More]: () => More[Name] },
): Answer & More {
  for (const [name, get] of Object.entries(members)) Object.defineProperty(answer, name, { get, enumerable: false });
  return answer as Answer & More;
}
