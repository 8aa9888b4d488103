/**
 * Finds traces and returns them in Tempo's format, in three steps: find the IDs by the few columns that the search filters
 * by, look up each trace's times and projects in the trace index, and read the spans of only those times.
 * docs/adr/0024-log-and-trace-queries.md
 */
import type { TracesAnswer } from "../../api/observability.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { bind, join, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import { lookUpResources } from "../resource-lookup.ts";
import { callKeys, calledModel, type CostOfModels } from "./model-cost.ts";
import { mergeRanges } from "./merge-ranges.ts";
import { expandingWindows } from "../expanding-windows.ts";
import { readSpanDetails, readSpans } from "./spans.ts";
import { toTempoTrace, traceHead } from "./tempo-trace.ts";
import type { TimeRange } from "../time-window.ts";
import type { TracePreset } from "./trace-presets.ts";

type Trace = TracesAnswer["traces"][number];

interface SearchCommon {
  /** Only spans of this project are returned, also of traces in several projects. Undefined means every project. */
  readonly project: string | undefined;
  /** Whether to return the spans. */
  readonly detail: boolean;
  readonly costOf: CostOfModels;
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
  /** Undefined finds the trace regardless of its age. */
  readonly range: TimeRange | undefined;
}

/** The newest traces with a span that matches the preset and started in the range. */
export async function searchTraces(reader: TenantReader, search: TracesSearch): Promise<TracesAnswer> {
  const traceIds = await newestTraceIds(reader, search);
  return { traces: await readTraces(reader, await locate(reader, traceIds, search), search) };
}

/** The trace with this ID; none if the organization does not have it. */
export async function findTrace(reader: TenantReader, lookup: TraceLookup): Promise<TracesAnswer> {
  const { range } = lookup;
  const locations = await locate(reader, [lookup.traceId], lookup);
  const wanted = locations.filter(
    (location) =>
      range === undefined || (location.toUnixNano >= range.fromUnixNano && location.fromUnixNano <= range.toUnixNano),
  );
  return { traces: await readTraces(reader, wanted, lookup) };
}

/** Newest first, by the start of their newest matching span. */
async function newestTraceIds(reader: TenantReader, search: TracesSearch): Promise<string[]> {
  const { project, range, limit } = search;
  const newest = project === undefined ? undefined : await lookAtNewestSpans(reader, search, project);
  if (newest?.isAll === true || (newest !== undefined && newest.traceIds.length >= limit)) return newest.traceIds;
  const found = new Set(newest?.traceIds);
  const left = { ...range, toUnixNano: newest?.reachedUnixNano ?? range.toUnixNano };
  for (const step of expandingWindows(left, search.nowUnixNano)) {
    const conditions = allOf([
      sql`organization = ${callerOrganization}`,
      projectCondition(project),
      startTimeCondition(step),
      search.preset.condition,
    ]);
    const statement = sql`
      SELECT trace_id FROM spans WHERE ${conditions}
      GROUP BY trace_id ORDER BY max(start_time) DESC, trace_id
      LIMIT ${bind.uint32(limit)}`;
    for (const { trace_id } of await reader.query<{ trace_id: string }>(statement, {
      signal: search.signal,
      duplicates: "kept",
    })) {
      if (found.size < limit) found.add(trace_id);
    }
    if (found.size >= limit) break;
  }
  return [...found];
}

/** The newest spans that are read before searching; within one project, spans are stored in order of time. */
const newestSpans = 8192;

interface NewestTraces {
  readonly traceIds: string[];
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
  { limit, preset, range, signal }: TracesSearch,
  project: string,
): Promise<NewestTraces> {
  // Spans that do not match are counted under an empty ID.
  const statement = sql`
    SELECT trace_id, toUnixTimestamp64Nano(min(oldest) OVER ()) AS reached, sum(spans) OVER () AS looked_at FROM (
      SELECT trace_id, max(start_time) AS newest, min(start_time) AS oldest, count() AS spans FROM (
        SELECT if(${preset.condition ?? sql`true`}, trace_id, '') AS trace_id, start_time
        FROM spans WHERE organization = ${callerOrganization} AND ${projectCondition(project)!} AND ${startTimeCondition(range)}
        ORDER BY start_time DESC LIMIT ${bind.uint32(newestSpans)}
      ) GROUP BY trace_id
    ) ORDER BY trace_id = '', newest DESC, trace_id LIMIT ${bind.uint32(limit + 1)}`;
  const rows = await reader.query<{ trace_id: string; reached: string; looked_at: string }>(statement, {
    signal,
    duplicates: "kept",
  });
  const [first] = rows;
  return {
    traceIds: rows.map(({ trace_id }) => trace_id).filter((id, index) => id !== "" && index < limit),
    isAll: first === undefined || Number(first.looked_at) < newestSpans,
    reachedUnixNano: first === undefined ? undefined : BigInt(first.reached),
  };
}

/** When a trace's spans started, and in which projects. */
interface TraceLocation extends TimeRange {
  readonly traceId: string;
  readonly projects: readonly string[];
}

async function locate(
  reader: TenantReader,
  traceIds: readonly string[],
  { project, signal }: SearchCommon,
): Promise<TraceLocation[]> {
  if (traceIds.length === 0) return [];
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    sql`trace_id IN ${bind.texts(traceIds)}`,
    projectCondition(project),
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

function locationsCondition(locations: readonly TraceLocation[]): Statement {
  const ranges = mergeRanges(locations).map((range) => sql`(${startTimeCondition(range)})`);
  return allOf([
    sql`organization = ${callerOrganization}`,
    sql`project IN ${bind.texts([...new Set(locations.flatMap((location) => location.projects))])}`,
    sql`(${join(ranges, sql` OR `)})`,
    sql`trace_id IN ${bind.texts(locations.map((location) => location.traceId))}`,
  ]);
}

async function readTraces(
  reader: TenantReader,
  locations: readonly TraceLocation[],
  { detail, costOf, signal }: SearchCommon,
): Promise<Trace[]> {
  if (locations.length === 0) return [];
  const condition = locationsCondition(locations);
  if (!detail) return newestFirst(await readHeads(reader, condition, { costOf, signal }));
  const spans = await readSpans(reader, condition, signal);
  const [descriptions, details] = await Promise.all([
    lookUpResources(reader, spans, { signal }),
    readSpanDetails(reader, spans, signal),
  ]);
  const byTrace = Map.groupBy(spans, (span) => span.trace_id);
  const yielder = new CooperativeYield();
  const traces: Trace[] = [];
  for (const each of byTrace.values())
    traces.push(await toTempoTrace(each, { ...descriptions, details, costOf }, yielder));
  return newestFirst(traces);
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
  readonly root_status: number;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly spans: string;
  readonly errors: string;
  /** Models, their calls, input tokens and output tokens. */
  readonly models: [string[], string[], string[], string[]];
}

/** Summaries of traces without their spans. The root is the one that `rootOf` finds. */
async function readHeads(
  reader: TenantReader,
  condition: Statement,
  { costOf, signal }: Pick<SearchCommon, "costOf" | "signal">,
): Promise<Trace[]> {
  const order = sql`(parent_span_id != '', start_time, span_id)`;
  const rows = await reader.query<HeadRow>(
    sql`SELECT trace_id, argMin(service, ${order}) AS root_service, argMin(name, ${order}) AS root_name,
        argMin(status_code, ${order}) AS root_status,
        toUnixTimestamp64Nano(min(start_time)) AS start_nano, toUnixTimestamp64Nano(max(end_time)) AS end_nano,
        count() AS spans, countIf(status_code = 2) AS errors,
        sumMapIf([called_model], [toUInt64(1)], [input_tokens], [output_tokens],
          called_model != '' AND (served = 1 OR NOT hasAny(call_keys, served_keys))) AS models
      FROM (
        SELECT *, groupUniqArrayArrayIf(call_keys, served = 1) OVER (PARTITION BY trace_id) AS served_keys FROM (
          SELECT trace_id, span_id, parent_span_id, service, name, status_code, start_time, end_time,
            ${calledModel} AS called_model, served, ${callKeys} AS call_keys, input_tokens, output_tokens
          FROM spans WHERE ${condition}
          LIMIT 1 BY trace_id, span_id, start_time
        )
      ) GROUP BY trace_id`,
    { signal, duplicates: "kept" },
  );
  return rows.map((row) =>
    traceHead(
      {
        traceId: row.trace_id,
        root: { service: row.root_service, name: row.root_name, status_code: row.root_status },
        startUnixNano: BigInt(row.start_nano),
        endUnixNano: BigInt(row.end_nano),
        spanCount: Number(row.spans),
        errorCount: Number(row.errors),
        models: toModels(row.models),
      },
      costOf,
    ),
  );
}

function toModels([names, calls, input, output]: HeadRow["models"]): Trace["summary"]["models"] {
  return names.map((model, index) => ({
    model,
    calls: Number(calls[index]),
    inputTokens: Number(input[index]),
    outputTokens: Number(output[index]),
  }));
}
