/** Lists the names of tags that spans of a time range have. */
import type { FieldExpression } from "@sounding/traceql/syntax/ast";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import { expandingWindows } from "../expanding-windows.ts";
import { nowUnixNano, type TimeRange } from "../time-window.ts";
import { conditionOf } from "../traces/traceql-storage/approximation.ts";
import { approximate } from "../traces/traceql-storage/span-condition.ts";
import { attributeScopes, type TagScope } from "./tag-field.ts";

export interface TagsRequest {
  readonly reader: TenantReader;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly range: TimeRange;
  /** Only the tags of spans that fulfil it, as far as the store decides it; null for all. */
  readonly condition: FieldExpression | null;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The names of each scope, sorted. Scopes without tags are absent. */
export async function listTagNames(
  request: TagsRequest,
  scopes: readonly TagScope[] = attributeScopes,
): Promise<ReadonlyMap<TagScope, readonly string[]>> {
  const found = scopes.map((scope): ScopeSearch => ({ scope, names: new Set(), unchanged: 0 }));
  const { limit, range } = request;
  const now = nowUnixNano();
  for (const window of expandingWindows(range, range.toUnixNano < now ? range.toUnixNano : now)) {
    const open = found.filter(({ unchanged }) => unchanged < spansWithoutNews);
    if (open.length === 0) break;
    await searchWindow(open, { ...request, range: window });
  }
  return new Map(
    found.flatMap(({ names, scope }) =>
      names.size === 0 ? [] : [[scope, [...names].sort().slice(0, limit)] as const],
    ),
  );
}

/** One scope is read backwards in growing windows, until so many spans have shown no new name. */
interface ScopeSearch {
  readonly scope: TagScope;
  readonly names: Set<string>;
  unchanged: number;
}

/** Once so many spans have shown nothing new, older ones are not read. */
export const spansWithoutNews = 100_000;

/** Reads the names of all scopes in one statement: each statement costs as much as reading thousands of spans. */
async function searchWindow(searches: readonly ScopeSearch[], request: TagsRequest): Promise<void> {
  const { limit, reader, signal } = request;
  const before = searches.map(({ names }) => names.size);
  const lists = searches.flatMap(({ scope }, index) =>
    statementsOf(scope, request).map(
      (names) =>
        sql`SELECT ${bind.uint8(index)} AS search, name, 0 AS spans FROM (SELECT DISTINCT name FROM (${names}) ORDER BY name LIMIT ${bind.uint32(limit)})`,
    ),
  );
  const count = sql`SELECT ${bind.uint8(searches.length)} AS search, '' AS name, count() AS spans FROM spans WHERE ${spansCondition(request)}`;
  const rows = await reader.query<{ search: number; name: string; spans: string }>(
    join([count, ...lists], sql` UNION ALL `),
    { signal, duplicates: "kept", maximumRows: 1 + limit * lists.length },
  );
  const yielder = new CooperativeYield();
  let spans = 0;
  for (const row of rows) {
    if (row.search === searches.length) spans = Number(row.spans);
    else searches[row.search]!.names.add(row.name);
    if (yielder.isDue()) await yielder.yield();
  }
  for (const [index, search] of searches.entries()) {
    search.unchanged = search.names.size > before[index]! ? 0 : search.unchanged + spans;
  }
}

/** Statements that return names in the column `name`, more than once. */
function statementsOf(scope: TagScope, request: TagsRequest): Statement[] {
  switch (scope) {
    case "span":
      return [
        sql`SELECT DISTINCT arrayJoin(mapKeys(attributes)) AS name FROM spans WHERE ${spansCondition(request)}`,
        sql`SELECT DISTINCT arrayJoin(mapKeys(attributes)) AS name FROM span_details WHERE ${detailsCondition(request)}`,
      ];
    case "resource":
      return [describedNames(sql`resources`, sql`resource_id`, request)];
    case "instrumentation":
      return [describedNames(sql`scopes`, sql`scope_id`, request)];
    case "event":
      return [repeatedNames(sql`event_attributes`, request)];
    case "link":
      return [repeatedNames(sql`link_attributes`, request)];
  }
}

function describedNames(table: Statement, id: Statement, request: TagsRequest): Statement {
  return sql`SELECT arrayJoin(mapKeys(attributes)) AS name FROM ${table} WHERE organization = ${callerOrganization}
    AND ${id} GLOBAL IN (SELECT DISTINCT ${id} FROM spans WHERE ${spansCondition(request)})`;
}

function repeatedNames(maps: Statement, request: TagsRequest): Statement {
  return sql`SELECT DISTINCT arrayJoin(arrayFlatten(arrayMap(map -> mapKeys(map), ${maps}))) AS name FROM span_details
    WHERE ${detailsCondition(request)}`;
}

/** The spans. */
export function spansCondition({ condition, project, range }: TagsRequest): Statement {
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
    conditionOf(approximate(condition, { ...range, project }).may),
  ]);
}

/** The details of the spans. */
export function detailsCondition(request: TagsRequest): Statement {
  const { condition, project, range } = request;
  const ofSpans =
    condition === null
      ? undefined
      : sql`(trace_id, span_id) IN (SELECT trace_id, span_id FROM spans WHERE has_details = 1 AND ${spansCondition(request)})`;
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
    ofSpans,
  ]);
}
