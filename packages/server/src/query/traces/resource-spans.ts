/**
 * Converts spans to OTLP's ResourceSpans, in one of two forms of JSON: protobuf's mapping, which Tempo returns, and OTLP's own,
 * which `protobuf/encode-message.ts` encodes. Zero and empty values are omitted.
 */
import type { TracesAnswer } from "../../api/observability.ts";
import { longStep, type CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { toKeyValues, type KeyValue } from "../attribute-values.ts";
import { ifAny, ifNotZero, ifSet, toOtlpResource, toOtlpScope } from "../otlp-json.ts";
import type { ResourceLookup } from "../resource-lookup.ts";
import { spanKey, type SpanDetails, type StoredSpan } from "./spans.ts";

export type ResourceSpans = NonNullable<TracesAnswer["traces"][number]["batches"]>[number];

/** The resources, scopes and details of the spans. */
export interface SpanContext extends ResourceLookup {
  /** By `spanKey`. */
  readonly details: ReadonlyMap<string, SpanDetails>;
}

/** How a form of JSON writes IDs and enumerations. */
export interface SpanForm {
  readonly id: (hexDigits: string) => string;
  readonly kind: (number: number) => string | number;
  readonly statusCode: (number: number) => string | number;
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

/** Protobuf's mapping: IDs in base64, enumerations by name. */
export const tempoForm: SpanForm = {
  id: (hexDigits) => Buffer.from(hexDigits, "hex").toString("base64"),
  kind: (number) => spanKinds[number] ?? number,
  statusCode: (number) => statusCodes[number] ?? number,
};

/** OTLP's mapping: IDs as hex digits, enumerations by number. */
export const otlpForm: SpanForm = {
  id: (hexDigits) => hexDigits,
  kind: (number) => number,
  statusCode: (number) => number,
};

interface Rendering {
  readonly form: SpanForm;
  readonly yielder: CooperativeYield;
}

/** @param spans earliest first */
export async function toResourceSpans(
  spans: readonly StoredSpan[],
  context: SpanContext,
  rendering: Rendering,
): Promise<ResourceSpans[]> {
  const byResource = Map.groupBy(spans, (span) => span.resource_id);
  const converted: ResourceSpans[] = [];
  for (const each of byResource.values()) converted.push(await ofResource(each, context, rendering));
  return converted;
}

async function ofResource(
  spans: readonly StoredSpan[],
  context: SpanContext,
  { form, yielder }: Rendering,
): Promise<ResourceSpans> {
  const resource = context.resources.get(spans[0]!.resource_id);
  const byScope = Map.groupBy(spans, (span) => span.scope_id);
  const scopeSpans: ResourceSpans["scopeSpans"] = [];
  for (const [scopeId, each] of byScope) {
    const scope = context.scopes.get(scopeId);
    const rendered: Record<string, unknown>[] = [];
    for (const span of each) {
      const details = context.details.get(spanKey(span));
      rendered.push(toSpan(span, details, form));
      if (yielder.isDue(details === undefined ? 1 : longStep)) await yielder.yield();
    }
    scopeSpans.push({ scope: toOtlpScope(scope), spans: rendered, ...ifSet("schemaUrl", scope?.schemaUrl) });
  }
  return {
    resource: toOtlpResource(resource),
    scopeSpans,
    ...ifSet("schemaUrl", resource?.schemaUrl),
  };
}

function toSpan(span: StoredSpan, details: SpanDetails | undefined, form: SpanForm): Record<string, unknown> {
  const events = details === undefined ? [] : toEvents(details);
  const links = details === undefined ? [] : toLinks(details, form);
  return {
    traceId: form.id(span.trace_id),
    spanId: form.id(span.span_id),
    ...ifSet("traceState", span.trace_state),
    ...ifSet("parentSpanId", form.id(span.parent_span_id)),
    ...ifSet("flags", span.flags),
    ...ifSet("name", span.name),
    ...ifSet("kind", form.kind(span.kind)),
    ...ifNotZero("startTimeUnixNano", span.start_nano),
    ...ifNotZero("endTimeUnixNano", span.end_nano),
    // Large attributes follow the others because they are stored separately.
    ...ifAny("attributes", [...attributesOf(span), ...(details === undefined ? [] : attributesOf(details))]),
    ...ifSet("droppedAttributesCount", details?.dropped_attributes),
    ...ifAny("events", events),
    ...ifSet("droppedEventsCount", details?.dropped_events),
    ...ifAny("links", links),
    ...ifSet("droppedLinksCount", details?.dropped_links),
    status: {
      ...ifSet("message", span.status_message),
      ...ifSet("code", form.statusCode(span.status_code)),
    },
  };
}

function attributesOf(row: StoredSpan | SpanDetails): KeyValue[] {
  return toKeyValues({ names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types });
}

function toEvents(details: SpanDetails): Record<string, unknown>[] {
  return details.event_times.map((time, index) => ({
    ...ifNotZero("timeUnixNano", time),
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

function toLinks(details: SpanDetails, form: SpanForm): Record<string, unknown>[] {
  return details.link_trace_ids.map((traceId, index) => ({
    ...ifSet("traceId", form.id(traceId)),
    ...ifSet("spanId", form.id(details.link_span_ids[index] ?? "")),
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
