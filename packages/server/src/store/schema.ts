/**
 * Defines the telemetry tables: the single source of their columns for creating tables, encoding rows and reading them. The
 * organization is the first column of every sort key. Times are nanoseconds, IDs are lower-case hex digits. Rows with the same
 * key (a client repeated its request) count once: see "Duplicates" in docs/operate/telemetry-store.md.
 * docs/adr/0022-telemetry-store.md
 */
import {
  attributeMap,
  choice,
  label,
  list,
  nanoseconds,
  seconds,
  text,
  uint32,
  uint64,
  uint8,
} from "./column-types.ts";
import { distributionPoints, exemplars, points, series } from "./metric-tables.ts";
import {
  attributes,
  attributeTypes,
  column,
  content,
  count,
  defineTable,
  derived,
  hash,
  id,
  name,
  retention,
  tenant,
  time,
  type TableDefinition,
} from "./table-definition.ts";

/** Attribute values above this number of bytes are stored in `span_details`, which keeps reading spans fast. */
export const largeAttributeBytes = 1024;

/** An attribute with a number of something. */
function countAttribute(attribute: string): string {
  return `toUInt64OrZero(attributes['${attribute}'])`;
}

/** What a model call cost; null if it does not say. */
const costAttribute = "toFloat64OrNull(attributes['gen_ai.usage.cost'])";

/** Of a plausible amount: sums must not overflow because of what a sender claims. */
function isCost(amount: string): string {
  return `ifNull(${amount} >= 0 AND ${amount} <= 1e6, 0)`;
}

/** Finds the few rows with a value of a kind. */
const searchedTypes = { expression: "attribute_types", characters: 1, bytes: 64 } as const;

export const spans = defineTable({
  name: "spans",
  columns: {
    ...tenant,
    trace_id: id,
    span_id: id,
    /** Empty for a root. */
    parent_span_id: id,
    trace_state: content,
    flags: count,
    name,
    /** OTLP SpanKind. */
    kind: column(uint8),
    start_time: time,
    end_time: time,
    /** OTLP StatusCode: 0 unset, 1 ok, 2 error. */
    status_code: column(uint8),
    status_message: content,
    service: name,
    resource_id: hash,
    scope_id: hash,
    /** gen_ai.operation.name; the next ones are the GenAI attributes of that name, empty when absent. */
    operation: name,
    provider: name,
    request_model: name,
    response_model: name,
    agent_name: name,
    agent_class: name,
    /** gen_ai.conversation.id, else session.id. */
    session_id: content,
    input_tokens: column(uint64, "ZSTD(1)"),
    output_tokens: column(uint64, "ZSTD(1)"),
    /** Of the input tokens; older rows have only the attributes. */
    cache_read_tokens: derived(column(uint64, "ZSTD(1)"), countAttribute("gen_ai.usage.cache_read.input_tokens")),
    cache_write_tokens: derived(column(uint64, "ZSTD(1)"), countAttribute("gen_ai.usage.cache_creation.input_tokens")),
    /** Whether the call's cost is known: the next column, in billionths of the currency's unit. */
    priced: derived(column(uint8, "ZSTD(1)"), `toUInt8(${isCost(costAttribute)})`),
    cost_billionths: derived(
      column(uint64, "ZSTD(1)"),
      `if(${isCost(costAttribute)}, toUInt64(round(ifNull(${costAttribute}, 0) * 1e9)), 0)`,
    ),
    /** Of the cost; empty if it is not known. */
    currency: name,
    error_type: name,
    /** gen_ai.tool.name. */
    tool_name: name,
    /** 1 for a call that this server served. Nothing in a sender's request sets it. */
    served: column(uint8, "ZSTD(1)"),
    /** 1 if another span of the application reports the same model call and counts for it. */
    repeated: column(uint8, "ZSTD(1)"),
    /** Hashes that connect the spans of one model call (telemetry/rows/call-keys.ts); 0 if there is none. */
    response_key: hash,
    request_key: hash,
    attributes,
    attribute_types: attributeTypes,
    /** 1 when the span has a row in `span_details`. */
    has_details: column(uint8, "ZSTD(1)"),
    ...retention,
  },
  sortKey: ["organization", "project", "start_time", "trace_id", "span_id"],
  indexedColumns: 3,
  searched: { attributes: "mapValues(attributes)" },
  searchedText: { attribute_types: searchedTypes },
  // Metrics select spans by their end, which the start time in the sort key locates only roughly.
  rangedColumns: ["end_time"],
  timeColumn: "start_time",
  partitioned: true,
  shardColumns: ["organization", "trace_id"],
});

/** What few spans have and few queries read: large attributes, events, links, counts of what the sender dropped. */
export const spanDetails = defineTable({
  name: "span_details",
  columns: {
    ...tenant,
    trace_id: id,
    span_id: id,
    start_time: time,
    attributes,
    attribute_types: attributeTypes,
    event_times: column(list(nanoseconds), "ZSTD(1)"),
    event_names: column(list(label)),
    event_attributes: column(list(attributeMap), "ZSTD(1)"),
    event_attribute_types: column(list(text), "ZSTD(1)"),
    event_dropped_attributes: column(list(uint32), "ZSTD(1)"),
    link_trace_ids: column(list(text), "ZSTD(1)"),
    link_span_ids: column(list(text), "ZSTD(1)"),
    link_trace_states: column(list(text), "ZSTD(1)"),
    link_flags: column(list(uint32), "ZSTD(1)"),
    link_attributes: column(list(attributeMap), "ZSTD(1)"),
    link_attribute_types: column(list(text), "ZSTD(1)"),
    link_dropped_attributes: column(list(uint32), "ZSTD(1)"),
    dropped_attributes: count,
    dropped_events: count,
    dropped_links: count,
    ...retention,
  },
  sortKey: ["organization", "trace_id", "span_id", "start_time"],
  indexedColumns: 2,
  timeColumn: "start_time",
  partitioned: true,
  shardColumns: ["organization", "trace_id"],
});

/** The four levels, for OTLP's severity numbers 1–8, 9–12, 13–16 and 17–24. */
export const levels = { debug: 1, info: 2, warning: 3, error: 4 } as const;

/**
 * The text of a log entry, for searches in upper or lower case: the line of an event without a body is its name. Statements repeat
 * the expression to use the index (query/logs/line-index.ts). docs/adr/0024-logql-traceql-and-searches.md
 */
export const searchedLine = { expression: "lower(concat(event_name, body))", characters: 4, bytes: 32_768 } as const;

export const logs = defineTable({
  name: "logs",
  columns: {
    ...tenant,
    /** The record's time, or else its observed time, or else the time of arrival. */
    time,
    observed_time: time,
    /** Unique within a request and the same if the request is repeated: a hash of the record and its position. */
    record_id: hash,
    level: column(choice(levels)),
    /** As sent; 0 when absent. */
    severity_number: column(uint8, "ZSTD(1)"),
    severity_text: name,
    service: name,
    /** Empty when absent. */
    trace_id: id,
    span_id: id,
    flags: count,
    event_name: name,
    body: content,
    /** One letter of `attributeKinds`. */
    body_type: name,
    resource_id: hash,
    scope_id: hash,
    attributes,
    attribute_types: attributeTypes,
    dropped_attributes: count,
    ...retention,
  },
  sortKey: ["organization", "project", "time", "record_id"],
  indexedColumns: 3,
  searched: { trace_id: "trace_id", attributes: "mapValues(attributes)" },
  searchedText: {
    body: searchedLine,
    attribute_types: searchedTypes,
  },
  // Lists and maps as bodies are rare, and `body_search` cannot find parts of their lines.
  rangedColumns: ["body_type"],
  timeColumn: "time",
  partitioned: true,
  shardColumns: ["organization", "record_id"],
});

/**
 * The schema URL of a resource that stands for a stream from Loki's push API: its attributes are the labels of the stream. A
 * sender of OTLP that uses it only chooses the labels of its own entries.
 */
export const pushedStreamSchema = "urn:sounding:loki-stream";

/** The resources that `resource_id` refers to. The ID is a hash of all other columns except `seen`. */
export const resources = defineTable({
  name: "resources",
  columns: {
    organization: name,
    resource_id: hash,
    attributes,
    attribute_types: attributeTypes,
    schema_url: content,
    dropped_attributes: count,
    seen: column(seconds, "ZSTD(1)"),
    ...retention,
  },
  sortKey: ["organization", "resource_id"],
  timeColumn: "seen",
  partitioned: false,
  shardColumns: ["organization", "resource_id"],
  identity: "resource_id",
});

/** The scopes that `scope_id` refers to; the ID is built the same way. */
export const scopes = defineTable({
  name: "scopes",
  columns: {
    organization: name,
    scope_id: hash,
    name: content,
    version: content,
    attributes,
    attribute_types: attributeTypes,
    schema_url: content,
    dropped_attributes: count,
    seen: column(seconds, "ZSTD(1)"),
    ...retention,
  },
  sortKey: ["organization", "scope_id"],
  timeColumn: "seen",
  partitioned: false,
  shardColumns: ["organization", "scope_id"],
  identity: "scope_id",
});

/**
 * Every table that rows are appended to. The store fills one more from `spans`, to find traces by ID: `trace_index`
 * (organization, trace_id, project, first_start, last_start, days), whose rows must be grouped by trace and project.
 */
export const tables = {
  spans,
  span_details: spanDetails,
  logs,
  series,
  points,
  distribution_points: distributionPoints,
  exemplars,
  resources,
  scopes,
} as const;
export type TableName = keyof typeof tables;

/** Whether the table's rows describe others, which refer to them: resources, scopes and series. */
export function describesOthers(table: TableName): boolean {
  const definition: TableDefinition = tables[table];
  return definition.identity !== undefined;
}
