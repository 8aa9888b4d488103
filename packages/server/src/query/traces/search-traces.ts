/**
 * Finds traces and returns them in Tempo's format, in three steps: find the IDs by the few columns that the search filters
 * by, look up each trace's times and projects in the trace index, and read the spans of only those times.
 * docs/adr/0024-logql-traceql-and-searches.md
 */
import type { TracesAnswer } from "../../api/observability.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TenantReader } from "../../store/store.ts";
import { lookUpResources } from "../resource-lookup.ts";
import type { TimeRange } from "../time-window.ts";
import type { CostOfModels } from "./model-cost.ts";
import { encodeCursor, type NewestFirstCursor } from "./newest-first-cursor.ts";
import { newestTraces, type FoundTrace } from "./newest-traces.ts";
import type { SpanCondition } from "./span-filter.ts";
import { readSpanDetails, readSpans } from "./spans.ts";
import { toTempoTrace } from "./tempo-trace.ts";
import { readHeads } from "./trace-heads.ts";
import { locate, locationsCondition, type TraceLocation } from "./trace-locations.ts";

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
  /** Which spans match. */
  readonly matches: SpanCondition;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  readonly limit: number;
  /** Where the previous page ended; `first`: no page before; undefined: no pages. */
  readonly page?: NewestFirstCursor | "first" | undefined;
}

export interface TraceLookup extends SearchCommon {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** Undefined finds the trace regardless of its age. */
  readonly range: TimeRange | undefined;
}

/** The newest traces with a matching span that started in the range. */
export async function searchTraces(reader: TenantReader, search: TracesSearch): Promise<TracesAnswer> {
  const { found, ...nextPage } = await findPage(reader, search);
  const locations = await locate(
    reader,
    found.map(({ traceId }) => traceId),
    search,
  );
  return {
    traces: await readTraces(reader, locations, { ...search, withOrigins: search.page !== undefined }),
    ...nextPage,
  };
}

async function findPage(
  reader: TenantReader,
  { limit, page, range, ...search }: TracesSearch,
): Promise<{ found: FoundTrace[]; next_cursor?: string | null }> {
  if (page === undefined) return { found: await newestTraces(reader, { ...search, range }, limit) };
  const fromUnixNano = page === "first" ? range.fromUnixNano : page.fromUnixNano;
  const after = page === "first" ? undefined : page;
  // One more than the page has shows whether there is a next one.
  const all = await newestTraces(reader, { ...search, range: { ...range, fromUnixNano }, after }, limit + 1);
  const found = all.slice(0, limit);
  const last = found.at(-1);
  if (all.length <= limit || last === undefined) return { found, next_cursor: null };
  return { found, next_cursor: encodeCursor({ unixNano: last.newestUnixNano, id: last.traceId, fromUnixNano }) };
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

async function readTraces(
  reader: TenantReader,
  locations: readonly TraceLocation[],
  { detail, costOf, signal, withOrigins = false }: SearchCommon & { readonly withOrigins?: boolean },
): Promise<Trace[]> {
  if (locations.length === 0) return [];
  const condition = locationsCondition(locations);
  if (!detail) return newestFirst(await readHeads(reader, condition, { costOf, signal, withOrigins }));
  const spans = await readSpans(reader, condition, signal);
  const [descriptions, details] = await Promise.all([
    lookUpResources(reader, spans, { signal }),
    readSpanDetails(reader, spans, signal),
  ]);
  const byTrace = Map.groupBy(spans, (span) => span.trace_id);
  const yielder = new CooperativeYield();
  const traces: Trace[] = [];
  for (const each of byTrace.values())
    traces.push(await toTempoTrace(each, { ...descriptions, details, costOf, withOrigins }, yielder));
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
