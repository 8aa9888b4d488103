/** Reads complete spans from the store: their rows, and the details (events, links, large attributes) that few have. */
import { AppError } from "../../errors.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { deduplicateRows } from "../distinct-rows.ts";
import { callKeys, calledModel } from "./model-cost.ts";
import { inputLimit } from "../../input-limits.ts";

/** The largest number of spans in one response. */
const maximumSpans = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Spans in one response",
  value: 100_000,
  error: "invalid_request",
});

export interface SpanDetails {
  readonly project: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly start_nano: string;
  readonly attribute_names: string[];
  readonly attribute_values: string[];
  readonly attribute_types: string;
  readonly event_times: string[];
  readonly event_names: string[];
  readonly event_attribute_names: string[][];
  readonly event_attribute_values: string[][];
  readonly event_attribute_types: string[];
  readonly event_dropped_attributes: number[];
  readonly link_trace_ids: string[];
  readonly link_span_ids: string[];
  readonly link_trace_states: string[];
  readonly link_flags: number[];
  readonly link_attribute_names: string[][];
  readonly link_attribute_values: string[][];
  readonly link_attribute_types: string[];
  readonly link_dropped_attributes: number[];
  readonly dropped_attributes: number;
  readonly dropped_events: number;
  readonly dropped_links: number;
}

export interface StoredSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id: string;
  readonly trace_state: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly status_code: number;
  readonly status_message: string;
  /** The model, if the span is a model call; otherwise empty. */
  readonly called_model: string;
  /** 1 if it is this server's span of a call. */
  readonly served: number;
  /** What spans of the same call share. */
  readonly call_keys: readonly string[];
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cache_read_tokens: string;
  readonly cache_write_tokens: string;
  readonly priced: number;
  readonly cost_billionths: string;
  readonly project: string;
  readonly service: string;
  readonly resource_id: string;
  readonly scope_id: string;
  readonly attribute_names: string[];
  readonly attribute_values: string[];
  readonly attribute_types: string;
  readonly has_details: number;
}

interface FirstSpans {
  readonly spans: StoredSpan[];
  /** Whether there are no others. */
  readonly isComplete: boolean;
  /** How many rows were read at most. */
  readonly limit: number;
}

/** The first spans that satisfy the condition, earliest first, without duplicates. @throws AppError as the store does */
export async function readFirstSpans(
  reader: TenantReader,
  condition: Statement,
  { limit = maximumSpans, signal }: { readonly limit?: number; readonly signal: AbortSignal },
): Promise<FirstSpans> {
  const rows = await reader.query<StoredSpan>(
    sql`SELECT trace_id, span_id, parent_span_id, trace_state, flags, name, kind,
        toUnixTimestamp64Nano(start_time) AS start_nano, toUnixTimestamp64Nano(end_time) AS end_nano,
        status_code, status_message, ${calledModel} AS called_model, served,
        arrayMap(key -> toString(key), ${callKeys}) AS call_keys, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
        priced, cost_billionths, project, service, resource_id, scope_id,
        mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types, has_details
      FROM spans WHERE ${condition}
      ORDER BY start_time, trace_id, span_id, end_time DESC
      LIMIT ${bind.uint32(limit + 1)}`,
    { signal, maximumRows: limit + 1, duplicates: "kept" },
  );
  const isComplete = rows.length <= limit;
  return { spans: await deduplicateRows(rows.slice(0, limit), spanKey), isComplete, limit };
}

/**
 * The spans that satisfy the condition, earliest first, without duplicates.
 * @throws AppError invalid_request if they are too many for one response, and as the store does
 */
export async function readSpans(
  reader: TenantReader,
  condition: Statement,
  signal: AbortSignal,
): Promise<StoredSpan[]> {
  const { isComplete, spans } = await readFirstSpans(reader, condition, { signal });
  if (isComplete) return spans;
  throw new AppError(
    "invalid_request",
    `These traces have more than ${maximumSpans} spans together, which is the limit. Lower limit, or set detail to false.`,
    { param: "limit" },
  );
}

type SpanKey = Pick<StoredSpan, "project" | "trace_id" | "span_id" | "start_nano">;

/** Identifies a span within its organization; two projects may send spans with the same IDs. */
export function spanKey({ project, trace_id, span_id, start_nano }: SpanKey): string {
  return `${trace_id}${span_id}${start_nano}${project}`;
}

/** The details of the spans that have any, by `spanKey`. @param spans earliest first */
export async function readSpanDetails(
  reader: TenantReader,
  spans: readonly StoredSpan[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SpanDetails>> {
  const detailed = spans.filter((span) => span.has_details !== 0);
  const found = new Map<string, SpanDetails>();
  for (let start = 0; start < detailed.length; start += spansPerStatement) {
    const rows = await readDetailRows(reader, detailed.slice(start, start + spansPerStatement), signal);
    for (const row of rows) found.set(spanKey(row), row);
  }
  return found;
}

/** Spans per statement, which keeps its URL far below the server's limit. */
const spansPerStatement = 10_000;

/** @param detailed at least one, earliest first */
async function readDetailRows(
  reader: TenantReader,
  detailed: readonly StoredSpan[],
  signal: AbortSignal,
): Promise<SpanDetails[]> {
  const [first, last] = [detailed[0]!, detailed.at(-1)!];
  return reader.query<SpanDetails>(
    sql`SELECT project, trace_id, span_id, toUnixTimestamp64Nano(start_time) AS start_nano,
        mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types,
        arrayMap(each -> toUnixTimestamp64Nano(each), event_times) AS event_times, event_names,
        arrayMap(each -> mapKeys(each), event_attributes) AS event_attribute_names,
        arrayMap(each -> mapValues(each), event_attributes) AS event_attribute_values,
        event_attribute_types, event_dropped_attributes,
        link_trace_ids, link_span_ids, link_trace_states, link_flags,
        arrayMap(each -> mapKeys(each), link_attributes) AS link_attribute_names,
        arrayMap(each -> mapValues(each), link_attributes) AS link_attribute_values,
        link_attribute_types, link_dropped_attributes, dropped_attributes, dropped_events, dropped_links
      FROM span_details
      WHERE organization = ${callerOrganization}
        AND trace_id IN ${bind.texts([...new Set(detailed.map((span) => span.trace_id))])}
        AND span_id IN ${bind.texts([...new Set(detailed.map((span) => span.span_id))])}
        AND start_time >= ${bind.time(BigInt(first.start_nano))}
        AND start_time <= ${bind.time(BigInt(last.start_nano))}`,
    { signal, maximumRows: maximumSpans + 1, duplicates: "kept" },
  );
}
