/** Reads spans with the columns that a query needs, and turns them into what the TraceQL engine evaluates. */
import type { Attributes, SpanEvent, SpanLink, TraceqlSpan } from "@sounding/traceql/storage";
import { CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { durationNanos } from "../../../store/row-expressions.ts";
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import type { KeyValue } from "../../attribute-values.ts";
import { allOf, startTimeCondition } from "../../conditions.ts";
import { lookUpResources, type ResourceLookup } from "../../resource-lookup.ts";
import { allAttributesIn, attributesIn, type AttributeTuple, type NeededColumns } from "./needed-columns.ts";
import { kindNames, statusNames } from "./span-codes.ts";
import { fromAnyValue, toStaticValue } from "./stored-value.ts";

export interface ReadOptions {
  readonly reader: TenantReader;
  readonly needed: NeededColumns;
  readonly signal: AbortSignal;
  readonly charge: (bytes: number) => void;
}

export interface SpanRow {
  readonly project: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id: string;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly duration_nano: string;
  readonly name: string;
  readonly kind: number;
  readonly status_code: number;
  readonly status_message: string;
  readonly service: string;
  readonly resource_id: string;
  readonly scope_id: string;
  readonly found_attributes: readonly AttributeTuple[];
  readonly has_details: number;
}

interface DetailsRow {
  readonly project: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly start_nano: string;
  readonly found_attributes: readonly AttributeTuple[];
  readonly events: readonly (readonly [timeNano: string, name: string, attributes: readonly AttributeTuple[]])[];
  readonly links: readonly (readonly [traceId: string, spanId: string, attributes: readonly AttributeTuple[]])[];
}

/** Spans of one statement. */
const maximumRows = 2_000_000;

/** The spans that fulfil the condition, by trace, each in the order of their start and then their ID; a span that was sent twice once. */
export async function readTraceqlSpans(
  condition: Statement,
  options: ReadOptions & { readonly visit?: (row: SpanRow) => void },
): Promise<ReadonlyMap<string, TraceqlSpan[]>> {
  const { charge, needed, reader, signal, visit } = options;
  const attributes = attributesIn(sql`attributes`, sql`attribute_types`, needed.attributes);
  const rows = await reader.query<SpanRow>(
    sql`SELECT project, trace_id, span_id, parent_span_id, toUnixTimestamp64Nano(start_time) AS start_nano,
        toUnixTimestamp64Nano(end_time) AS end_nano, ${durationNanos} AS duration_nano, name, kind, status_code,
        ${needed.statusMessage ? sql`status_message` : sql`''`} AS status_message, service, resource_id,
        ${needed.scopes ? sql`scope_id` : sql`toUInt64(0)`} AS scope_id, ${attributes} AS found_attributes, has_details
      FROM spans WHERE ${condition}
      ORDER BY start_time, span_id, trace_id, end_time DESC LIMIT 1 BY project, start_time, trace_id, span_id`,
    { signal, memory: { add: charge }, maximumRows, duplicates: "kept" },
  );
  const [descriptions, details] = await Promise.all([
    lookUpResources(reader, needed.resources || needed.scopes ? rows : [], { signal, memory: { add: charge } }),
    readDetails(rows, options),
  ]);
  const build = new SpanBuilder(descriptions, needed);
  const byTrace = new Map<string, TraceqlSpan[]>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    visit?.(row);
    const span = build.span(row, row.has_details === 0 ? undefined : details.get(keyOf(row)));
    const others = byTrace.get(row.trace_id);
    if (others === undefined) byTrace.set(row.trace_id, [span]);
    else others.push(span);
    if (yielder.isDue()) await yielder.yield();
  }
  return byTrace;
}

type SpanKey = Pick<SpanRow, "project" | "trace_id" | "span_id" | "start_nano">;

/** Two projects may send spans with the same IDs. */
function keyOf({ project, span_id, start_nano, trace_id }: SpanKey): string {
  return `${trace_id}${span_id}${start_nano}${project}`;
}

/** Traces per statement, which keeps its text short. */
const tracesPerStatement = 5000;

/** Events, links and large attributes, as far as they are needed. @param rows earliest first */
async function readDetails(
  rows: readonly SpanRow[],
  { charge, needed, reader, signal }: ReadOptions,
): Promise<ReadonlyMap<string, DetailsRow>> {
  const { attributes, events, links } = needed;
  const detailed = events || links || attributes.length > 0 ? rows.filter((row) => row.has_details !== 0) : [];
  const found = new Map<string, DetailsRow>();
  if (detailed.length === 0) return found;
  const range = { fromUnixNano: BigInt(detailed[0]!.start_nano), toUnixNano: BigInt(detailed.at(-1)!.start_nano) };
  const traceIds = [...new Set(detailed.map(({ trace_id }) => trace_id))];
  for (let start = 0; start < traceIds.length; start += tracesPerStatement) {
    const conditions = allOf([
      sql`organization = ${callerOrganization}`,
      startTimeCondition(range),
      sql`trace_id IN ${bind.texts(traceIds.slice(start, start + tracesPerStatement))}`,
      events || links || attributes === "all" ? undefined : sql`hasAny(mapKeys(attributes), ${bind.texts(attributes)})`,
    ]);
    const statement = sql`SELECT project, trace_id, span_id, toUnixTimestamp64Nano(start_time) AS start_nano,
        ${attributesIn(sql`attributes`, sql`attribute_types`, attributes)} AS found_attributes,
        ${events ? eventList : sql`[]`} AS events, ${links ? linkList : sql`[]`} AS links
      FROM span_details WHERE ${conditions} LIMIT 1 BY project, trace_id, span_id, start_time`;
    const options = { signal, memory: { add: charge }, maximumRows, duplicates: "kept" } as const;
    for (const row of await reader.query<DetailsRow>(statement, options)) found.set(keyOf(row), row);
  }
  return found;
}

const eventList = sql`arrayMap((time, name, map, types) -> (toUnixTimestamp64Nano(time), toString(name), ${allAttributesIn(sql`map`, sql`types`)}),
  event_times, event_names, event_attributes, event_attribute_types)`;
const linkList = sql`arrayMap((trace, span, map, types) -> (trace, span, ${allAttributesIn(sql`map`, sql`types`)}),
  link_trace_ids, link_span_ids, link_attributes, link_attribute_types)`;

const noAttributes: Attributes = new Map();
const noScope: TraceqlSpan["scope"] = { name: "", version: "", attributes: noAttributes };
const serviceName = "service.name";

class SpanBuilder {
  readonly #descriptions: ResourceLookup;
  readonly #needed: NeededColumns;
  readonly #resources = new Map<string, Attributes>();
  readonly #scopes = new Map<string, TraceqlSpan["scope"]>();

  constructor(descriptions: ResourceLookup, needed: NeededColumns) {
    this.#descriptions = descriptions;
    this.#needed = needed;
  }

  span(row: SpanRow, details: DetailsRow | undefined): TraceqlSpan {
    const startUnixNano = BigInt(row.start_nano);
    return {
      spanId: row.span_id,
      parentSpanId: row.parent_span_id,
      startUnixNano,
      durationNano: BigInt(row.duration_nano),
      name: row.name,
      status: statusNames[row.status_code] ?? "unset",
      statusMessage: row.status_message,
      kind: kindNames[row.kind] ?? "unspecified",
      attributes: attributesOf(row.found_attributes, details?.found_attributes),
      resource: this.#resourceOf(row),
      scope: this.#needed.scopes ? this.#scopeOf(row.scope_id) : noScope,
      events: (details?.events ?? []).map((event) => toEvent(event, startUnixNano)),
      links: (details?.links ?? []).map(toLink),
    };
  }

  #resourceOf({ resource_id: id, service }: SpanRow): Attributes {
    const key = `${id} ${service}`;
    let attributes = this.#resources.get(key);
    if (attributes === undefined) {
      const described = this.#descriptions.resources.get(id)?.attributes ?? [];
      attributes = withService(describedAttributes(described), service);
      this.#resources.set(key, attributes);
    }
    return attributes;
  }

  #scopeOf(id: string): TraceqlSpan["scope"] {
    let scope = this.#scopes.get(id);
    if (scope === undefined) {
      const described = this.#descriptions.scopes.get(id);
      const attributes = describedAttributes(described?.attributes ?? []);
      scope = { name: described?.name ?? "", version: described?.version ?? "", attributes };
      this.#scopes.set(id, scope);
    }
    return scope;
  }
}

/** The service's name is text, whatever was sent: statements compare the column `service`. */
function withService(attributes: Map<string, ReturnType<typeof toStaticValue>>, service: string): Attributes {
  if (service === "") attributes.delete(serviceName);
  else attributes.set(serviceName, { type: "string", value: service });
  return attributes;
}

function describedAttributes(list: readonly KeyValue[]): Map<string, ReturnType<typeof toStaticValue>> {
  const attributes = new Map<string, ReturnType<typeof toStaticValue>>();
  for (const { key, value } of list) {
    const converted = fromAnyValue(value);
    if (converted.type !== "nil") attributes.set(key, converted);
  }
  return attributes;
}

function attributesOf(...lists: readonly (readonly AttributeTuple[] | undefined)[]): Attributes {
  if (lists.every((list) => list === undefined || list.length === 0)) return noAttributes;
  const attributes = new Map<string, ReturnType<typeof toStaticValue>>();
  for (const list of lists) {
    for (const [name, text, kind] of list ?? []) {
      const value = toStaticValue(text, kind);
      if (value.type !== "nil") attributes.set(name, value);
    }
  }
  return attributes;
}

function toEvent([timeNano, name, attributes]: DetailsRow["events"][number], startUnixNano: bigint): SpanEvent {
  return { name, timeSinceStartNano: BigInt(timeNano) - startUnixNano, attributes: attributesOf(attributes) };
}

function toLink([traceId, spanId, attributes]: DetailsRow["links"][number]): SpanLink {
  return { traceId, spanId, attributes: attributesOf(attributes) };
}
