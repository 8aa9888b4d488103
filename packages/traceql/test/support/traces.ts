/** Traces for tests of TraceQL, from what matters about them. */
import type { SpanEvent, SpanLink, TraceHead, TraceqlSpan, TraceqlTrace } from "../../src/storage.ts";
import type { KindValue, StaticValue, StatusValue } from "../../src/syntax/ast.ts";

/** A value in short: bigints are ints, numbers floats, `{ ms }` durations. */
export type ShortValue = string | bigint | number | boolean | { readonly ms: number } | readonly ShortValue[];

export function toStatic(value: ShortValue): StaticValue {
  if (typeof value === "string") return { type: "string", value };
  if (typeof value === "bigint") return { type: "int", value };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if ("ms" in value) return { type: "duration", nanoseconds: BigInt(value.ms) * 1_000_000n };
  return { type: "array", values: value.map(toStatic) };
}

export type ShortAttributes = Readonly<Record<string, ShortValue>>;

function toAttributes(values: ShortAttributes = {}): ReadonlyMap<string, StaticValue> {
  return new Map(Object.entries(values).map(([name, value]) => [name, toStatic(value)]));
}

export interface ShortSpan {
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly startMs?: number;
  readonly ms?: number;
  readonly status?: StatusValue;
  readonly message?: string;
  readonly kind?: KindValue;
  readonly is?: ShortAttributes;
  readonly resource?: ShortAttributes;
  readonly scope?: { readonly name?: string; readonly version?: string; readonly is?: ShortAttributes };
  readonly events?: readonly { readonly name: string; readonly ms?: number; readonly is?: ShortAttributes }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string; readonly is?: ShortAttributes }[];
}

export function toSpan(span: ShortSpan): TraceqlSpan {
  return {
    spanId: span.id,
    parentSpanId: span.parent ?? "",
    startUnixNano: BigInt(span.startMs ?? 0) * 1_000_000n,
    durationNano: BigInt(span.ms ?? 0) * 1_000_000n,
    name: span.name ?? "",
    status: span.status ?? "unset",
    statusMessage: span.message ?? "",
    kind: span.kind ?? "unspecified",
    attributes: toAttributes(span.is),
    resource: toAttributes({ "service.name": "shop", ...span.resource }),
    scope: {
      name: span.scope?.name ?? "",
      version: span.scope?.version ?? "",
      attributes: toAttributes(span.scope?.is),
    },
    events: (span.events ?? []).map(({ is, ms = 0, name }): SpanEvent => ({
      name,
      timeSinceStartNano: BigInt(ms) * 1_000_000n,
      attributes: toAttributes(is),
    })),
    links: (span.links ?? []).map(({ is, spanId, traceId }): SpanLink => ({
      traceId,
      spanId,
      attributes: toAttributes(is),
    })),
  };
}

/** A trace with its head, as a store returns it. */
export function toTrace(traceId: string, spans: readonly ShortSpan[]): TraceqlTrace {
  const all = spans.map(toSpan);
  return { traceId, spans: all, head: headOf(all) };
}

/** The head of a trace with these spans. */
export function headOf(all: readonly TraceqlSpan[]): TraceHead {
  const root = all.find(({ parentSpanId }) => parentSpanId === "");
  const starts = all.map(({ startUnixNano }) => startUnixNano);
  const ends = all.map(({ durationNano, startUnixNano }) => startUnixNano + durationNano);
  const start = starts.reduce((least, one) => (one < least ? one : least), starts[0] ?? 0n);
  const end = ends.reduce((most, one) => (one > most ? one : most), 0n);
  const services = new Map<string, { spans: number; errors: number }>();
  for (const span of all) {
    const counts = services.get(serviceOf(span)) ?? { spans: 0, errors: 0 };
    services.set(serviceOf(span), counts);
    counts.spans++;
    if (span.status === "error") counts.errors++;
  }
  return {
    rootName: root?.name ?? "",
    rootServiceName: root === undefined ? "" : serviceOf(root),
    startUnixNano: start,
    durationNano: end - start,
    services,
  };
}

function serviceOf({ resource }: TraceqlSpan): string {
  const value = resource.get("service.name");
  return value?.type === "string" ? value.value : "";
}
