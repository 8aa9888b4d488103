/** OTLP/JSON of spans, written by hand so that every value of an answer is known. */

type Value = string | number | bigint | boolean | readonly Value[];

function anyValue(value: Value): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "bigint") return { intValue: String(value) };
  if (typeof value === "number") return { doubleValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}

export type AttributeValues = Readonly<Record<string, Value>>;

function keyValues(attributes: AttributeValues = {}): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

export interface SpanSpec {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  /** OTLP's SpanKind. */
  readonly kind?: number;
  /** OTLP's StatusCode. */
  readonly status?: number;
  readonly statusMessage?: string;
  readonly startNano: bigint;
  readonly durationNano?: bigint;
  readonly attributes?: AttributeValues;
  readonly events?: readonly {
    readonly name: string;
    readonly afterNano: bigint;
    readonly attributes?: AttributeValues;
  }[];
  readonly links?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes?: AttributeValues;
  }[];
}

interface Origin {
  readonly scope?: { readonly name: string; readonly version?: string; readonly attributes?: AttributeValues };
  readonly spans: readonly SpanSpec[];
}

/** One ResourceSpans message. */
export function resourceSpans(resource: AttributeValues, { scope, spans }: Origin): object {
  const ofScope = scope && { ...scope, attributes: keyValues(scope.attributes) };
  return {
    resource: { attributes: keyValues(resource) },
    scopeSpans: [{ ...(ofScope && { scope: ofScope }), spans: spans.map(toSpan) }],
  };
}

function toSpan(spec: SpanSpec): object {
  const { durationNano = 1_000_000n, events = [], links = [], startNano } = spec;
  return {
    traceId: spec.traceId,
    spanId: spec.spanId,
    parentSpanId: spec.parentSpanId ?? "",
    name: spec.name ?? "work",
    kind: spec.kind ?? 1,
    startTimeUnixNano: String(startNano),
    endTimeUnixNano: String(startNano + durationNano),
    attributes: keyValues(spec.attributes),
    status: { code: spec.status ?? 0, message: spec.statusMessage ?? "" },
    events: events.map(({ afterNano, attributes, name }) => ({
      name,
      timeUnixNano: String(startNano + afterNano),
      attributes: keyValues(attributes),
    })),
    links: links.map(({ attributes, spanId, traceId }) => ({ traceId, spanId, attributes: keyValues(attributes) })),
  };
}
