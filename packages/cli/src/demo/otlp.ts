/** The part of OTLP's JSON messages that the sample data uses. https://opentelemetry.io/docs/specs/otlp/ */

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export const severityNumbers = { debug: 5, info: 9, warn: 13, error: 17 } as const;

export interface DemoSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: keyof typeof spanKinds;
  readonly startMs: number;
  endMs: number;
  attributes: Attributes;
  /** The error, if any. */
  error?: string;
}

export interface DemoLog {
  readonly service: string;
  readonly timeMs: number;
  readonly severity: keyof typeof severityNumbers;
  readonly body: string;
  readonly attributes: Attributes;
  readonly traceId: string;
  readonly spanId: string;
}

/** Increments of one counter in one minute. */
export interface DemoCount {
  readonly service: string;
  readonly name: string;
  readonly unit: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly count: number;
  readonly attributes: Attributes;
}

export function toTraces(spans: readonly DemoSpan[], project: string): object {
  return {
    resourceSpans: byService(spans, project, (each) => ({
      scopeSpans: [{ scope, spans: each.map(toSpan) }],
    })),
  };
}

export function toLogs(logs: readonly DemoLog[], project: string): object {
  return {
    resourceLogs: byService(logs, project, (each) => ({
      scopeLogs: [{ scope, logRecords: each.map(toLogRecord) }],
    })),
  };
}

export function toMetrics(counts: readonly DemoCount[], project: string): object {
  return {
    resourceMetrics: byService(counts, project, (each) => ({
      scopeMetrics: [{ scope, metrics: [...Map.groupBy(each, ({ name }) => name).values()].map(toMetric) }],
    })),
  };
}

const scope = { name: "sounding.demo", version: "1.0.0" };
const delta = 1;

function byService<Item extends { readonly service: string }>(
  items: readonly Item[],
  project: string,
  content: (items: Item[]) => object,
): object[] {
  return [...Map.groupBy(items, ({ service }) => service)].map(([service, each]) => ({
    resource: {
      attributes: toAttributes({
        "service.name": service,
        "service.version": "2.4.1",
        "service.instance.id": `${service}-1`,
        "deployment.environment.name": "demo",
        "project.name": project,
      }),
    },
    ...content(each),
  }));
}

function toSpan(span: DemoSpan): object {
  const failed = span.error !== undefined;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: toNanos(span.startMs),
    endTimeUnixNano: toNanos(span.endMs),
    attributes: toAttributes(span.attributes),
    status: failed ? { code: 2, message: span.error } : {},
    events: failed
      ? [
          {
            timeUnixNano: toNanos(span.endMs),
            name: "exception",
            attributes: toAttributes({ "exception.message": span.error }),
          },
        ]
      : [],
  };
}

function toLogRecord(log: DemoLog): object {
  return {
    timeUnixNano: toNanos(log.timeMs),
    observedTimeUnixNano: toNanos(log.timeMs),
    severityNumber: severityNumbers[log.severity],
    severityText: log.severity.toUpperCase(),
    body: { stringValue: log.body },
    attributes: toAttributes(log.attributes),
    traceId: log.traceId,
    spanId: log.spanId,
  };
}

function toMetric(counts: DemoCount[]): object {
  return {
    name: counts[0]!.name,
    unit: counts[0]!.unit,
    sum: {
      aggregationTemporality: delta,
      isMonotonic: true,
      dataPoints: counts.map((each) => ({
        startTimeUnixNano: toNanos(each.startMs),
        timeUnixNano: toNanos(each.endMs),
        asInt: String(each.count),
        attributes: toAttributes(each.attributes),
      })),
    },
  };
}

/** Whole microseconds, since a double has no more of them at today's dates. */
function toNanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

function toAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

function toAnyValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
