/**
 * Finds the IDs of the newest traces with a matching span, ordered by the start of their newest matching span and then by ID.
 * docs/adr/0024-logql-traceql-and-searches.md
 */
import { bind, callerOrganization, sql } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import { expandingWindows } from "../expanding-windows.ts";
import type { TimeRange } from "../time-window.ts";
import type { NewestFirstCursor } from "./newest-first-cursor.ts";
import type { SpanCondition } from "./span-filter.ts";
import { locate } from "./trace-locations.ts";

export interface NewestTracesSearch {
  readonly matches: SpanCondition;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  /** Only traces after this one in the order of results. */
  readonly after?: NewestFirstCursor | undefined;
  readonly signal: AbortSignal;
}

export interface FoundTrace {
  readonly traceId: string;
  /** The start of its newest matching span. */
  readonly newestUnixNano: string;
}

interface FoundRow {
  readonly trace_id: string;
  readonly newest_nano: string;
}

/** Traces that were running at the time of a cursor, whose older spans are found again. */
const likelyListed = 64;

/** @throws AppError as the store does */
export async function newestTraces(
  reader: TenantReader,
  search: NewestTracesSearch,
  count: number,
): Promise<FoundTrace[]> {
  const { after } = search;
  if (after === undefined) return olderTraces(reader, search, count);
  for (let asked = count + likelyListed; ; asked *= 4) {
    const found = await olderTraces(reader, search, asked);
    const listed = await listedTraces(reader, { ...search, after }, found);
    const others = found.filter(({ traceId }) => !listed.has(traceId));
    if (others.length >= count || found.length < asked) return others.slice(0, count);
  }
}

/** Traces with a matching span at the time of the cursor or before; those with a newer one as well are on an earlier page. */
async function olderTraces(reader: TenantReader, search: NewestTracesSearch, count: number): Promise<FoundTrace[]> {
  const range = remainingRange(search);
  const { after, matches, nowUnixNano, project } = search;
  const newest =
    project === undefined || matches.readsDetails
      ? undefined
      : await lookAtNewestSpans(reader, { ...search, range }, { project, count });
  if (newest?.isAll === true || (newest !== undefined && newest.found.length >= count)) return newest.found;
  const found = new Map(newest?.found.map((trace) => [trace.traceId, trace]));
  const left = { ...range, toUnixNano: newest?.reachedUnixNano ?? range.toUnixNano };
  const latest = after === undefined || left.toUnixNano > nowUnixNano ? nowUnixNano : left.toUnixNano;
  for (const step of expandingWindows(left, latest)) {
    const conditions = allOf([
      sql`organization = ${callerOrganization}`,
      projectCondition(project),
      startTimeCondition(step),
      matches.in(step),
    ]);
    const statement = sql`
      SELECT trace_id, toUnixTimestamp64Nano(max(start_time)) AS newest_nano FROM spans WHERE ${conditions}
      GROUP BY trace_id ORDER BY newest_nano DESC, trace_id
      LIMIT ${bind.uint32(count)}`;
    for (const row of await reader.query<FoundRow>(statement, { signal: search.signal, duplicates: "kept" })) {
      if (found.size < count && !found.has(row.trace_id)) found.set(row.trace_id, toFound(row));
    }
    if (found.size >= count) break;
  }
  return [...found.values()];
}

function toFound({ newest_nano: newestUnixNano, trace_id: traceId }: FoundRow): FoundTrace {
  return { traceId, newestUnixNano };
}

function remainingRange({ after, range }: NewestTracesSearch): TimeRange {
  const last = after === undefined ? range.toUnixNano : BigInt(after.unixNano);
  return { ...range, toUnixNano: last < range.toUnixNano ? last : range.toUnixNano };
}

/** The traces that are not after the cursor in the order of results, because of a newer matching span. */
async function listedTraces(
  reader: TenantReader,
  search: NewestTracesSearch & { readonly after: NewestFirstCursor },
  found: readonly FoundTrace[],
): Promise<ReadonlySet<string>> {
  const { after, matches, project, range, signal } = search;
  const cursorNano = BigInt(after.unixNano);
  const locations = await locate(
    reader,
    found.map(({ traceId }) => traceId),
    { project, signal },
  );
  const later = locations.filter(({ toUnixNano }) => toUnixNano >= cursorNano);
  if (later.length === 0) return new Set();
  const last = later.reduce((latest, { toUnixNano }) => (toUnixNano > latest ? toUnixNano : latest), cursorNano);
  const newer = { fromUnixNano: cursorNano, toUnixNano: last < range.toUnixNano ? last : range.toUnixNano };
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(newer),
    sql`trace_id IN ${bind.texts(later.map(({ traceId }) => traceId))}`,
    sql`(start_time > ${bind.time(cursorNano)} OR trace_id <= ${bind.text(after.id)})`,
    matches.in(newer),
  ]);
  const rows = await reader.query<{ trace_id: string }>(sql`SELECT DISTINCT trace_id FROM spans WHERE ${conditions}`, {
    signal,
    duplicates: "kept",
  });
  return new Set(rows.map(({ trace_id }) => trace_id));
}

/** The newest spans that are read before searching; within one project, spans are stored in order of time. */
const newestSpans = 8192;

interface NewestSpans {
  readonly found: FoundTrace[];
  /** Whether the range has no other spans. */
  readonly isAll: boolean;
  /** The start of the oldest span; undefined without spans. */
  readonly reachedUnixNano: bigint | undefined;
}

/**
 * The traces among the newest spans of a project. Sufficient if there are many spans and most of them match; expanding
 * windows would then read too many.
 */
async function lookAtNewestSpans(
  reader: TenantReader,
  { matches, range, signal }: NewestTracesSearch,
  { count, project }: { readonly count: number; readonly project: string },
): Promise<NewestSpans> {
  // Spans that do not match are counted under an empty ID.
  const statement = sql`
    SELECT trace_id, toUnixTimestamp64Nano(newest) AS newest_nano,
      toUnixTimestamp64Nano(min(oldest) OVER ()) AS reached, sum(spans) OVER () AS looked_at FROM (
      SELECT trace_id, max(start_time) AS newest, min(start_time) AS oldest, count() AS spans FROM (
        SELECT if(${matches.in(range) ?? sql`true`}, trace_id, '') AS trace_id, start_time
        FROM spans WHERE organization = ${callerOrganization} AND ${projectCondition(project)!} AND ${startTimeCondition(range)}
        ORDER BY start_time DESC LIMIT ${bind.uint32(newestSpans)}
      ) GROUP BY trace_id
    ) ORDER BY trace_id = '', newest DESC, trace_id LIMIT ${bind.uint32(count + 1)}`;
  const rows = await reader.query<FoundRow & { reached: string; looked_at: string }>(statement, {
    signal,
    duplicates: "kept",
  });
  const [first] = rows;
  const isAll = first === undefined || Number(first.looked_at) < newestSpans;
  const reached = first === undefined ? undefined : BigInt(first.reached);
  // Other traces may have spans at the oldest time that were not read, and come before these by their IDs.
  const isComplete = ({ newest_nano }: FoundRow): boolean => isAll || BigInt(newest_nano) !== reached;
  const found = rows.filter((row, index) => row.trace_id !== "" && index < count && isComplete(row));
  return { found: found.map(toFound), isAll, reachedUnixNano: reached };
}
