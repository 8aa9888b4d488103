/** Sends a trace by OTLP, like an application. */
import { randomBytes } from "node:crypto";
import type { RunningServer } from "./console-server.ts";

export interface SentSpan {
  /** A number from 1. */
  readonly id: number;
  readonly parent?: number;
  readonly name: string;
  readonly service?: string;
  /** Milliseconds after the trace's start. */
  readonly startMs: number;
  readonly endMs: number;
  readonly failed?: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly events?: readonly { readonly name: string; readonly attributes: Readonly<Record<string, string>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** Spans in one request. */
const batchSize = 2_500;

/**
 * @param startMs when the trace begins: five minutes ago if absent, so that the console expects no more spans
 * @returns the trace ID
 */
export async function sendTrace(
  { call }: Pick<RunningServer, "call">,
  spans: readonly SentSpan[],
  { traceId = randomBytes(16).toString("hex"), startMs = Date.now() - 300_000 } = {},
): Promise<string> {
  for (let start = 0; start < spans.length; start += batchSize) {
    const byService = Map.groupBy(spans.slice(start, start + batchSize), ({ service = "checkout" }) => service);
    const resourceSpans = [...byService].map(([service, each]) => ({
      resource: { attributes: toAttributes({ "service.name": service, "project.name": "shop" }) },
      scopeSpans: [{ scope: { name: "console.test" }, spans: each.map((span) => toSpan(span, traceId, startMs)) }],
    }));
    const response = await call("/v1/traces", { resourceSpans });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  return traceId;
}

function toSpan(span: SentSpan, traceId: string, traceStartMs: number): object {
  const { id, parent, name, startMs, endMs, failed, attributes = {}, events = [], links = [] } = span;
  const nanos = (ms: number): string => String(BigInt(traceStartMs) * 1_000_000n + BigInt(Math.round(ms * 1e6)));
  return {
    traceId,
    spanId: spanId(id),
    ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
    name,
    kind: 1,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: toAttributes(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanos(startMs),
      name: event.name,
      attributes: toAttributes(event.attributes),
    })),
    links,
    ...(failed === undefined ? {} : { status: { code: 2, message: failed } }),
  };
}

function toAttributes(values: Readonly<Record<string, string | number>>): object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
}

export function spanId(id: number): string {
  return id.toString(16).padStart(16, "0");
}

/** A trace of `count` spans in five services: batches of work with steps below them, the last of which fails. */
export function largeTrace(count: number): SentSpan[] {
  const services = ["gateway", "agents", "search", "billing", "storage"];
  const spans: SentSpan[] = [{ id: 1, name: "POST /batch", service: "gateway", startMs: 0, endMs: count * 2 }];
  for (let id = 2; id <= count; id += 1) {
    const first = id - ((id - 2) % 20);
    const isFirst = id === first;
    spans.push({
      id,
      parent: isFirst ? 1 : id - first < 4 ? id - 1 : first,
      name: isFirst ? `batch ${(id - 2) / 20}` : id === count ? "last step" : `step ${id}`,
      service: services[id % services.length]!,
      startMs: id * 2 - 2,
      endMs: Math.min(count * 2, isFirst ? id * 2 + 38 : id * 2),
      attributes: { "batch.number": Math.floor((id - 2) / 20), "item.id": `item-${id}` },
      ...(id === count ? { failed: "The last step failed" } : {}),
    });
  }
  return spans;
}
