/**
 * Converts traces to Tempo's format: OTLP messages in protobuf's JSON mapping, with IDs in base64, enumerations by name,
 * 64-bit numbers as strings, and zero or empty values omitted. https://grafana.com/docs/tempo/latest/api_docs/#query
 */
import type { TracesAnswer } from "../../api/observability.ts";
import { longStep, type CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { toKeyValues, type KeyValue } from "../attribute-values.ts";
import type { ResourceLookup, InstrumentationScope } from "../resource-lookup.ts";
import { spanKey, type SpanDetails, type StoredSpan } from "./spans.ts";
import type { CostOfModels } from "./model-cost.ts";

type Trace = TracesAnswer["traces"][number];
type Batch = NonNullable<Trace["batches"]>[number];

interface TraceSummary {
  readonly traceId: string;
  readonly root: Pick<StoredSpan, "service" | "name" | "status_code">;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly models: Trace["summary"]["models"];
  /** Undefined if they were not requested. */
  readonly origins: { readonly projects: readonly string[]; readonly services: readonly string[] } | undefined;
}

/** The largest number of services in a summary. */
export const maximumServices = 20;

/** The resources, scopes and details of the spans. */
interface TraceContext extends ResourceLookup {
  /** By `spanKey`. */
  readonly details: ReadonlyMap<string, SpanDetails>;
  readonly costOf: CostOfModels;
  /** Whether the summary has the projects and services. */
  readonly withOrigins: boolean;
}

/** The summary of a trace, which is the same with and without its spans. */
export function traceHead(summary: TraceSummary, costOf: CostOfModels): Trace {
  const { traceId, root, startUnixNano, endUnixNano, spanCount, errorCount, models, origins } = summary;
  const durationNano = endUnixNano > startUnixNano ? endUnixNano - startUnixNano : 0n;
  return {
    traceID: traceId,
    rootServiceName: root.service,
    rootTraceName: root.name,
    startTimeUnixNano: String(startUnixNano),
    durationMs: Number(durationNano / 1_000_000n),
    summary: {
      spanCount,
      errorCount,
      status: root.status_code === 2 ? "error" : root.status_code === 1 ? "ok" : "unset",
      durationNanos: String(durationNano),
      models,
      cost: costOf(models),
      ...(origins && {
        projects: origins.projects.toSorted(),
        services: origins.services
          .filter((service) => service !== "")
          .toSorted()
          .slice(0, maximumServices),
      }),
    },
  };
}

/** @param spans all spans of one trace, at least one, earliest first */
export async function toTempoTrace(
  spans: readonly StoredSpan[],
  context: TraceContext,
  yielder: CooperativeYield,
): Promise<Trace> {
  const ends = spans.map((span) => BigInt(span.end_nano));
  const head = traceHead(
    {
      traceId: spans[0]!.trace_id,
      root: rootOf(spans),
      startUnixNano: BigInt(spans[0]!.start_nano),
      endUnixNano: ends.reduce((latest, end) => (end > latest ? end : latest)),
      spanCount: spans.length,
      errorCount: spans.filter((span) => span.status_code === 2).length,
      models: modelsOf(spans),
      origins: context.withOrigins ? originsOf(spans) : undefined,
    },
    context.costOf,
  );
  const byResource = Map.groupBy(spans, (span) => span.resource_id);
  const batches: Batch[] = [];
  for (const each of byResource.values()) batches.push(await toBatch(each, context, yielder));
  return { ...head, batches };
}

function originsOf(spans: readonly StoredSpan[]): TraceSummary["origins"] {
  return {
    projects: [...new Set(spans.map(({ project }) => project))],
    services: [...new Set(spans.map(({ service }) => service))],
  };
}

function modelsOf(spans: readonly StoredSpan[]): Trace["summary"]["models"] {
  const servedKeys = new Set(spans.filter(({ served }) => served === 1).flatMap(({ call_keys }) => call_keys));
  const counted = spans.filter(
    ({ called_model, served, call_keys }) =>
      called_model !== "" && (served === 1 || !call_keys.some((key) => servedKeys.has(key))),
  );
  const byModel = Map.groupBy(counted, ({ called_model }) => called_model);
  return [...byModel]
    .map(([model, calls]) => ({
      model,
      calls: calls.length,
      inputTokens: calls.reduce((sum, call) => sum + Number(call.input_tokens), 0),
      outputTokens: calls.reduce((sum, call) => sum + Number(call.output_tokens), 0),
    }))
    .sort((left, right) => (left.model < right.model ? -1 : 1));
}

/** The earliest span without a parent; if the root has not arrived, the earliest span. */
function rootOf(spans: readonly StoredSpan[]): StoredSpan {
  return spans.find((span) => span.parent_span_id === "") ?? spans[0]!;
}

async function toBatch(spans: readonly StoredSpan[], context: TraceContext, yielder: CooperativeYield): Promise<Batch> {
  const resource = context.resources.get(spans[0]!.resource_id);
  const byScope = Map.groupBy(spans, (span) => span.scope_id);
  const scopeSpans: Batch["scopeSpans"] = [];
  for (const [scopeId, each] of byScope) {
    const scope = context.scopes.get(scopeId);
    const rendered: Record<string, unknown>[] = [];
    for (const span of each) {
      const details = context.details.get(spanKey(span));
      rendered.push(toSpan(span, details));
      if (yielder.isDue(details === undefined ? 1 : longStep)) await yielder.yield();
    }
    scopeSpans.push({ scope: toScope(scope), spans: rendered, ...ifSet("schemaUrl", scope?.schemaUrl) });
  }
  return {
    resource: {
      ...ifAny("attributes", resource?.attributes ?? []),
      ...ifSet("droppedAttributesCount", resource?.droppedAttributes),
    },
    scopeSpans,
    ...ifSet("schemaUrl", resource?.schemaUrl),
  };
}

function toScope(scope: InstrumentationScope | undefined): Record<string, unknown> {
  if (scope === undefined) return {};
  return {
    ...ifSet("name", scope.name),
    ...ifSet("version", scope.version),
    ...ifAny("attributes", scope.attributes),
    ...ifSet("droppedAttributesCount", scope.droppedAttributes),
  };
}

/** OTLP's Span.SpanKind; 0 is omitted like every zero. */
const spanKinds: Readonly<Record<number, string>> = {
  1: "SPAN_KIND_INTERNAL",
  2: "SPAN_KIND_SERVER",
  3: "SPAN_KIND_CLIENT",
  4: "SPAN_KIND_PRODUCER",
  5: "SPAN_KIND_CONSUMER",
};
/** OTLP's Status.StatusCode. */
const statusCodes: Readonly<Record<number, string>> = { 1: "STATUS_CODE_OK", 2: "STATUS_CODE_ERROR" };

function toSpan(span: StoredSpan, details: SpanDetails | undefined): Record<string, unknown> {
  const events = details === undefined ? [] : toEvents(details);
  const links = details === undefined ? [] : toLinks(details);
  return {
    traceId: toBase64(span.trace_id),
    spanId: toBase64(span.span_id),
    ...ifSet("traceState", span.trace_state),
    ...ifSet("parentSpanId", toBase64(span.parent_span_id)),
    ...ifSet("flags", span.flags),
    ...ifSet("name", span.name),
    ...ifSet("kind", spanKinds[span.kind] ?? span.kind),
    ...ifTime("startTimeUnixNano", span.start_nano),
    ...ifTime("endTimeUnixNano", span.end_nano),
    // Large attributes follow the others because they are stored separately.
    ...ifAny("attributes", [...attributesOf(span), ...(details === undefined ? [] : attributesOf(details))]),
    ...ifSet("droppedAttributesCount", details?.dropped_attributes),
    ...ifAny("events", events),
    ...ifSet("droppedEventsCount", details?.dropped_events),
    ...ifAny("links", links),
    ...ifSet("droppedLinksCount", details?.dropped_links),
    status: {
      ...ifSet("message", span.status_message),
      ...ifSet("code", statusCodes[span.status_code] ?? span.status_code),
    },
  };
}

function attributesOf(row: StoredSpan | SpanDetails): KeyValue[] {
  return toKeyValues({ names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types });
}

function toEvents(details: SpanDetails): Record<string, unknown>[] {
  return details.event_times.map((time, index) => ({
    ...ifTime("timeUnixNano", time),
    ...ifSet("name", details.event_names[index]),
    ...ifAny(
      "attributes",
      toKeyValues({
        names: details.event_attribute_names[index] ?? [],
        values: details.event_attribute_values[index] ?? [],
        kinds: details.event_attribute_types[index] ?? "",
      }),
    ),
    ...ifSet("droppedAttributesCount", details.event_dropped_attributes[index]),
  }));
}

function toLinks(details: SpanDetails): Record<string, unknown>[] {
  return details.link_trace_ids.map((traceId, index) => ({
    ...ifSet("traceId", toBase64(traceId)),
    ...ifSet("spanId", toBase64(details.link_span_ids[index] ?? "")),
    ...ifSet("traceState", details.link_trace_states[index]),
    ...ifAny(
      "attributes",
      toKeyValues({
        names: details.link_attribute_names[index] ?? [],
        values: details.link_attribute_values[index] ?? [],
        kinds: details.link_attribute_types[index] ?? "",
      }),
    ),
    ...ifSet("droppedAttributesCount", details.link_dropped_attributes[index]),
    ...ifSet("flags", details.link_flags[index]),
  }));
}

function toBase64(hexId: string): string {
  return Buffer.from(hexId, "hex").toString("base64");
}

function ifSet(name: string, value: string | number | undefined): Record<string, string | number> {
  return value === undefined || value === "" || value === 0 ? {} : { [name]: value };
}

function ifTime(name: string, unixNano: string): Record<string, string> {
  return unixNano === "0" ? {} : { [name]: unixNano };
}

function ifAny(name: string, values: readonly unknown[]): Record<string, readonly unknown[]> {
  return values.length === 0 ? {} : { [name]: values };
}
