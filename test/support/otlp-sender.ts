/** Sends OpenTelemetry data in OTLP/JSON, in a short notation for tests. */
import assert from "node:assert/strict";

type Attributes = Readonly<Record<string, unknown>>;

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly startUnixNano: bigint;
  /** Nanoseconds. */
  readonly duration?: bigint;
  readonly attributes?: Attributes;
  /** Further members of OTLP's Span. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface SentLog {
  readonly unixNano: bigint;
  readonly body: unknown;
  /** Further members of OTLP's LogRecord. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A counter or a histogram with one point. */
export interface SentMetric {
  readonly name: string;
  readonly unit?: string;
  readonly startUnixNano: bigint;
  readonly unixNano: bigint;
  readonly attributes?: Attributes;
  /** Of a counter. */
  readonly sum?: number;
  /** Of a histogram. */
  readonly histogram?: { readonly sum: number; readonly bounds: readonly number[]; readonly counts: readonly number[] };
}

export interface OtlpSender {
  /** Resolves once the spans are stored. */
  spans(resource: Attributes, spans: readonly SentSpan[]): Promise<void>;
  /** Resolves once the log records are stored. */
  logs(resource: Attributes, logs: readonly SentLog[]): Promise<void>;
  /** Resolves once the points are stored. */
  metrics(resource: Attributes, metrics: readonly SentMetric[]): Promise<void>;
}

export const scope = { name: "test.library", version: "1.2.3" };

export function otlpSender(url: string, key: string): OtlpSender {
  const send = async (path: string, message: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    assert.deepEqual([response.status, await response.text()], [200, "{}"]);
  };
  return {
    spans: (resource, spans) =>
      send("/v1/traces", {
        resourceSpans: [
          { resource: { attributes: toKeyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(toSpan) }] },
        ],
      }),
    logs: (resource, logs) =>
      send("/v1/logs", {
        resourceLogs: [
          {
            resource: { attributes: toKeyValues(resource) },
            scopeLogs: [{ scope, logRecords: logs.map(toLogRecord) }],
          },
        ],
      }),
    metrics: (resource, metrics) =>
      send("/v1/metrics", {
        resourceMetrics: [
          {
            resource: { attributes: toKeyValues(resource) },
            scopeMetrics: [{ scope, metrics: metrics.map(toMetric) }],
          },
        ],
      }),
  };
}

const cumulative = 2;

function toMetric({ name, unit = "", startUnixNano, unixNano, attributes = {}, sum, histogram }: SentMetric): object {
  const point = {
    startTimeUnixNano: String(startUnixNano),
    timeUnixNano: String(unixNano),
    attributes: toKeyValues(attributes),
  };
  if (histogram === undefined) {
    const dataPoints = [{ ...point, asDouble: sum }];
    return { name, unit, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
  }
  const count = histogram.counts.reduce((left, right) => left + right, 0);
  const dataPoints = [
    {
      ...point,
      count: String(count),
      sum: histogram.sum,
      explicitBounds: histogram.bounds,
      bucketCounts: histogram.counts.map(String),
    },
  ];
  return { name, unit, histogram: { aggregationTemporality: cumulative, dataPoints } };
}

function toSpan({
  traceId,
  spanId,
  name,
  startUnixNano,
  duration = 1_000_000n,
  attributes = {},
  more,
}: SentSpan): object {
  return {
    traceId,
    spanId,
    name,
    startTimeUnixNano: String(startUnixNano),
    endTimeUnixNano: String(startUnixNano + duration),
    attributes: toKeyValues(attributes),
    ...more,
  };
}

function toLogRecord({ unixNano, body, more }: SentLog): object {
  return { timeUnixNano: String(unixNano), body: toAnyValue(body), ...more };
}

function toKeyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }));
}

/** Bigints are integers, numbers are doubles. */
function toAnyValue(value: unknown): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "bigint") return { intValue: String(value) };
  if (typeof value === "number") return { doubleValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString("base64") };
  return value === null ? {} : { kvlistValue: { values: toKeyValues(value as Attributes) } };
}
