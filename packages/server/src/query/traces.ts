/**
 * Traces in Tempo's form. First the IDs are found by the few columns that tell whether a span is meant, then the index says
 * when and in which projects each trace was, and only then are spans read, from those times alone.
 */
import type { TracesAnswer } from "../api/observability.ts";
import { bind, join, ownOrganization, sql, type Statement } from "../store/statement.ts";
import type { TenantReader } from "../store/store.ts";
import { allOf, ofProject, spansBegunIn } from "./conditions.ts";
import { readDescriptions } from "./descriptions.ts";
import { joinedRanges } from "./joined-ranges.ts";
import { lookBack } from "./look-back.ts";
import { readSpanDetails, readSpans } from "./spans.ts";
import { toTempoTrace, traceHead } from "./tempo-trace.ts";
import type { TimeRange } from "./time-window.ts";
import type { TracePreset } from "./trace-presets.ts";

type Trace = TracesAnswer["traces"][number];

interface SearchCommon {
  /** Undefined: every project of the organization. Of a trace in several projects the spans of this one are given. */
  readonly project: string | undefined;
  /** Whether the spans are wanted. */
  readonly detail: boolean;
  readonly signal: AbortSignal;
}

export interface TracesSearch extends SearchCommon {
  readonly preset: TracePreset;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  readonly limit: number;
}

export interface TraceLookup extends SearchCommon {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** Undefined: however old the trace is. */
  readonly range: TimeRange | undefined;
}

/** The newest traces that have a span as the preset says, begun in the range. */
export async function searchTraces(reader: TenantReader, search: TracesSearch): Promise<TracesAnswer> {
  const traceIds = await newestTraceIds(reader, search);
  return { traces: await readTraces(reader, await locate(reader, traceIds, search), search) };
}

/** The trace with an ID: one, or none when the organization has none with it. */
export async function findTrace(reader: TenantReader, lookup: TraceLookup): Promise<TracesAnswer> {
  const { range } = lookup;
  const places = await locate(reader, [lookup.traceId], lookup);
  const wanted = places.filter(
    (place) =>
      range === undefined || (place.toUnixNano >= range.fromUnixNano && place.fromUnixNano <= range.toUnixNano),
  );
  return { traces: await readTraces(reader, wanted, lookup) };
}

async function newestTraceIds(reader: TenantReader, search: TracesSearch): Promise<string[]> {
  const found = new Set<string>();
  for (const range of lookBack(search.range, search.nowUnixNano)) {
    const conditions = allOf([
      sql`organization = ${ownOrganization}`,
      ofProject(search.project),
      spansBegunIn(range),
      search.preset.condition,
    ]);
    const statement = sql`
      SELECT trace_id FROM spans WHERE ${conditions}
      GROUP BY trace_id ORDER BY max(start_time) DESC, trace_id
      LIMIT ${bind.uint32(search.limit)}`;
    for (const { trace_id } of await reader.query<{ trace_id: string }>(statement, {
      signal: search.signal,
      duplicates: "kept",
    })) {
      if (found.size < search.limit) found.add(trace_id);
    }
    if (found.size >= search.limit) break;
  }
  return [...found];
}

/** When a trace's spans began and in which projects. */
interface TracePlace extends TimeRange {
  readonly traceId: string;
  readonly projects: readonly string[];
}

async function locate(
  reader: TenantReader,
  traceIds: readonly string[],
  { project, signal }: SearchCommon,
): Promise<TracePlace[]> {
  if (traceIds.length === 0) return [];
  const conditions = allOf([
    sql`organization = ${ownOrganization}`,
    sql`trace_id IN ${bind.texts(traceIds)}`,
    ofProject(project),
  ]);
  const rows = await reader.query<{ trace_id: string; first: string; last: string; projects: string[] }>(
    sql`SELECT trace_id, toUnixTimestamp64Nano(min(first_start)) AS first, toUnixTimestamp64Nano(max(last_start)) AS last,
        groupUniqArray(project) AS projects
      FROM trace_index WHERE ${conditions} GROUP BY trace_id`,
    { signal, duplicates: "kept" },
  );
  return rows.map((row) => ({
    traceId: row.trace_id,
    fromUnixNano: BigInt(row.first),
    toUnixNano: BigInt(row.last),
    projects: row.projects,
  }));
}

function placesCondition(places: readonly TracePlace[]): Statement {
  const ranges = joinedRanges(places).map((range) => sql`(${spansBegunIn(range)})`);
  return allOf([
    sql`organization = ${ownOrganization}`,
    sql`project IN ${bind.texts([...new Set(places.flatMap((place) => place.projects))])}`,
    sql`(${join(ranges, sql` OR `)})`,
    sql`trace_id IN ${bind.texts(places.map((place) => place.traceId))}`,
  ]);
}

async function readTraces(
  reader: TenantReader,
  places: readonly TracePlace[],
  { detail, signal }: SearchCommon,
): Promise<Trace[]> {
  if (places.length === 0) return [];
  const condition = placesCondition(places);
  if (!detail) return newestFirst(await readHeads(reader, condition, signal));
  const spans = await readSpans(reader, condition, signal);
  const [descriptions, details] = await Promise.all([
    readDescriptions(reader, spans, signal),
    readSpanDetails(reader, spans, signal),
  ]);
  const byTrace = Map.groupBy(spans, (span) => span.trace_id);
  return newestFirst([...byTrace.values()].map((each) => toTempoTrace(each, { ...descriptions, details })));
}

function newestFirst(traces: Trace[]): Trace[] {
  const starts = new Map(traces.map((trace) => [trace, BigInt(trace.startTimeUnixNano)]));
  return traces.sort((left, right) => {
    const difference = starts.get(right)! - starts.get(left)!;
    if (difference !== 0n) return difference > 0n ? 1 : -1;
    return left.traceID < right.traceID ? -1 : 1;
  });
}

interface HeadRow {
  readonly trace_id: string;
  readonly root_service: string;
  readonly root_name: string;
  readonly start_nano: string;
  readonly end_nano: string;
}

/** What is known of traces without their spans. The root is the same as `rootOf` finds. */
async function readHeads(reader: TenantReader, condition: Statement, signal: AbortSignal): Promise<Trace[]> {
  const order = sql`(parent_span_id != '', start_time, span_id)`;
  const rows = await reader.query<HeadRow>(
    sql`SELECT trace_id, argMin(service, ${order}) AS root_service, argMin(name, ${order}) AS root_name,
        toUnixTimestamp64Nano(min(start_time)) AS start_nano, toUnixTimestamp64Nano(max(end_time)) AS end_nano
      FROM spans WHERE ${condition} GROUP BY trace_id`,
    { signal, duplicates: "kept" },
  );
  return rows.map((row) =>
    traceHead({
      traceId: row.trace_id,
      root: { service: row.root_service, name: row.root_name },
      startUnixNano: BigInt(row.start_nano),
      endUnixNano: BigInt(row.end_nano),
    }),
  );
}
