/** Lists the values that a field has in the spans of a time range. */
import { kindNames, statusNames } from "../traces/traceql-storage/span-codes.ts";
import { hasAttribute, kindOf, rowAttributes } from "../traces/traceql-storage/attribute-columns.ts";
import { toStaticValue } from "../traces/traceql-storage/stored-value.ts";
import { printValue } from "@sounding/traceql/spans/print-element";
import type { StaticValue } from "@sounding/traceql/syntax/ast";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { isContentAttribute } from "../../store/content-attributes.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import { expandingWindows } from "../expanding-windows.ts";
import { nowUnixNano } from "../time-window.ts";
import type { TagField, TagScope } from "./tag-field.ts";
import { detailsCondition, spansCondition, spansWithoutNews, type TagsRequest } from "./tag-names.ts";

export interface TagValue {
  readonly type: "string" | "int" | "float" | "bool" | "keyword";
  readonly value: string;
}

/** Values, sorted, each once. */
export async function listTagValues(field: TagField, request: TagsRequest): Promise<readonly TagValue[]> {
  const found = await valuesOf(field, request);
  return [...found.values()]
    .sort((left, right) => (left.value < right.value ? -1 : left.value > right.value ? 1 : 0))
    .slice(0, request.limit);
}

function valuesOf(field: TagField, request: TagsRequest): Promise<ReadonlyMap<string, TagValue>> {
  if (field.kind === "intrinsic") return intrinsicValues(field.name, request);
  const scopes: readonly TagScope[] = field.scope === null ? ["span", "resource"] : [field.scope];
  const sources = scopes.map((scope) => attributeSource(scope, field.name));
  return readSources(sources, request, isContentAttribute(field.name) ? maximumRows : undefined);
}

async function intrinsicValues(name: string, request: TagsRequest): Promise<ReadonlyMap<string, TagValue>> {
  switch (name) {
    case "status":
      return keywords(statusNames);
    case "kind":
      return keywords(kindNames);
    case "name":
    case "statusMessage":
      return readSources([columnSource(name === "name" ? sql`toString(name)` : sql`status_message`)], request);
    case "rootName":
      return readSources([columnSource(sql`toString(name)`, sql`parent_span_id = ''`)], request);
    case "rootServiceName":
      return readSources([columnSource(sql`toString(service)`, sql`parent_span_id = ''`)], request);
    case "event:name":
      return readSources([detailsSource(sql`arrayJoin(event_names)`, sql`'s'`)], request);
    case "instrumentation:name":
      return readSources([describedSource({ table: sql`scopes`, id: sql`scope_id`, value: sql`name` })], request);
    case "instrumentation:version":
      return readSources([describedSource({ table: sql`scopes`, id: sql`scope_id`, value: sql`version` })], request);
    default:
      // Durations and IDs have as many values as there are spans.
      return new Map();
  }
}

function keywords(names: readonly string[]): ReadonlyMap<string, TagValue> {
  return new Map(names.map((value) => [value, { type: "keyword", value }]));
}

/** A statement that returns each value with its kind and how many spans have it. An alias `kind` would hide the column of spans. */
type Source = (request: TagsRequest) => Statement;

function columnSource(value: Statement, condition?: Statement): Source {
  return (request) => sql`SELECT ${value} AS value, 's' AS value_kind, count() AS spans FROM spans
    WHERE ${spansCondition(request)}${condition === undefined ? sql`` : sql` AND ${condition}`} GROUP BY value, value_kind`;
}

function attributeSource(scope: TagScope, name: string): Source {
  const value = sql`attributes[${bind.text(name)}]`;
  const kind = kindOf(name, rowAttributes);
  const has = hasAttribute(name, rowAttributes);
  switch (scope) {
    case "span":
      // Large values, which are stored separately, are not listed.
      return (request) => sql`SELECT ${value} AS value, ${kind} AS value_kind, count() AS spans FROM spans
        WHERE ${spansCondition(request)} AND ${has} GROUP BY value, value_kind`;
    case "resource":
      if (name === "service.name") return columnSource(sql`toString(service)`, sql`service != ''`);
      return describedSource({ table: sql`resources`, id: sql`resource_id`, value, kind, has });
    case "instrumentation":
      return describedSource({ table: sql`scopes`, id: sql`scope_id`, value, kind, has });
    case "event":
      return repeatedSource(name, sql`event_attributes`, sql`event_attribute_types`);
    case "link":
      return repeatedSource(name, sql`link_attributes`, sql`link_attribute_types`);
  }
}

interface Described {
  readonly table: Statement;
  readonly id: Statement;
  readonly value: Statement;
  readonly kind?: Statement;
  readonly has?: Statement;
}

/** Values of the resources or scopes of the spans. */
function describedSource({ has = sql`true`, id, kind = sql`'s'`, table, value }: Described): Source {
  return (request) => sql`SELECT ${value} AS value, ${kind} AS value_kind, count() AS spans FROM ${table}
    WHERE organization = ${callerOrganization} AND ${has}
      AND ${id} GLOBAL IN (SELECT DISTINCT ${id} FROM spans WHERE ${spansCondition(request)}) GROUP BY value, value_kind`;
}

function repeatedSource(name: string, maps: Statement, types: Statement): Source {
  const item = { map: sql`(item.1)`, types: sql`(item.2)` };
  const values = sql`arrayMap(item -> (item.1[${bind.text(name)}], ${kindOf(name, item)}),
    arrayFilter(item -> ${hasAttribute(name, item)}, arrayZip(${maps}, ${types})))`;
  return (request) => sql`SELECT pair.1 AS value, pair.2 AS value_kind, count() AS spans FROM (
      SELECT arrayJoin(${values}) AS pair FROM span_details WHERE ${detailsCondition(request)}
    ) GROUP BY value, value_kind`;
}

function detailsSource(value: Statement, kind: Statement): Source {
  return (request) => sql`SELECT ${value} AS value, ${kind} AS value_kind, count() AS spans FROM span_details
    WHERE ${detailsCondition(request)} GROUP BY value, value_kind`;
}

interface ValueRow {
  readonly value: string;
  readonly value_kind: string;
  readonly spans: string;
}

/**
 * Reads backwards in growing windows, until there are enough values or no new ones.
 * @param mostRead values read at a time; more than are wanted where equal ones may be encrypted differently
 */
async function readSources(
  sources: readonly Source[],
  request: TagsRequest,
  mostRead = request.limit,
): Promise<ReadonlyMap<string, TagValue>> {
  const { limit, range, reader, signal } = request;
  const found = new Map<string, TagValue>();
  const yielder = new CooperativeYield();
  let unchanged = 0;
  const now = nowUnixNano();
  const latest = range.toUnixNano < now ? range.toUnixNano : now;
  for (const window of expandingWindows(range, latest)) {
    const within = { ...request, range: window };
    const before = found.size;
    for (const source of sources) {
      const statement = sql`SELECT value, value_kind, spans FROM (${source(within)}) ORDER BY spans DESC, value
        LIMIT ${bind.uint32(Math.min(maximumRows, mostRead + found.size))}`;
      for (const row of await reader.query<ValueRow>(statement, { signal, duplicates: "kept", maximumRows })) {
        for (const value of toTagValues(row)) found.set(`${value.type} ${value.value}`, value);
        unchanged += Number(row.spans);
        if (yielder.isDue()) await yielder.yield();
      }
    }
    if (found.size > before) unchanged = 0;
    if (found.size >= limit || unchanged >= spansWithoutNews) break;
  }
  return found;
}

/** Twice the highest `limit`. */
const maximumRows = 200_000;

function toTagValues({ value_kind: kind, value }: ValueRow): TagValue[] {
  const stored = toStaticValue(value, kind);
  return (stored.type === "array" ? stored.values : [stored]).flatMap(toTagValue);
}

function toTagValue(value: StaticValue): TagValue[] {
  switch (value.type) {
    case "string":
      return [{ type: "string", value: value.value }];
    case "int":
      return [{ type: "int", value: String(value.value) }];
    case "float":
      return [{ type: "float", value: printValue(value) }];
    case "boolean":
      return [{ type: "bool", value: String(value.value) }];
    default:
      return [];
  }
}
