/**
 * Serves one organization's traces to the TraceQL engine. The reader fixes the organization and the key fixes the project
 * before any query is evaluated. docs/adr/0024-logql-traceql-and-searches.md
 */
import type { TraceHead, TraceSample, TraceqlStorage, TraceqlTrace, TracesRequest } from "@sounding/traceql/storage";
import { sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { locate, locationsCondition } from "../trace-locations.ts";
import { traceSlices } from "./all-traces.ts";
import { conditionOf } from "./approximation.ts";
import { matchingTraces, relevantBound } from "./matching-traces.ts";
import { neededColumns } from "./needed-columns.ts";
import { readSpanGrid } from "./span-grid.ts";
import { readTraceqlSpans } from "./read-spans.ts";
import { sampledSpans } from "./sampled-spans.ts";
import { CountedHeads, readTraceHeads } from "./trace-heads.ts";

export interface TenantTracesOptions {
  readonly reader: TenantReader;
  /** The only project that may be read; undefined means every project of the organization. */
  readonly project: string | undefined;
}

export function createTenantTraces(options: TenantTracesOptions): TraceqlStorage {
  return {
    traces(request) {
      if (request.expectedTraces === undefined) return allTraces(request, options);
      if (request.sample !== undefined) return sampledTraces(request, request.sample, options);
      return newestTraces(request, request.expectedTraces, options);
    },
    spanGrid: (request) => readSpanGrid(request, options),
  };
}

/** Traces that are read at once: more each time, since few of the first ones were found. */
const fewestTraces = 20;
const mostTraces = 500;
/** Traces that match rarely are far apart: reading all spans between them would take longer than looking for each. */
const rangesOfSearch = 64;

async function* newestTraces(
  request: TracesRequest,
  expectedTraces: number,
  options: TenantTracesOptions,
): AsyncGenerator<readonly TraceqlTrace[]> {
  const first = Math.min(Math.max(expectedTraces, 1), mostTraces);
  let atOnce = first;
  const waiting: string[] = [];
  for await (const found of matchingTraces({ ...request, ...options })) {
    waiting.push(...found);
    // As many are needed in any case, and reading them together is faster.
    if (atOnce === first && waiting.length < first) continue;
    while (waiting.length > 0) {
      const ids = waiting.splice(0, atOnce);
      atOnce = Math.min(Math.max(atOnce * 2, fewestTraces), mostTraces);
      yield await readFound(ids, request, options);
    }
  }
  if (waiting.length > 0) yield await readFound(waiting, request, options);
}

/** Some traces of each part. Their spans are read where they were found if that is enough. */
async function* sampledTraces(
  request: TracesRequest,
  sample: TraceSample,
  options: TenantTracesOptions,
): AsyncGenerator<readonly TraceqlTrace[]> {
  const spans = sampledSpans(request, sample, options.project);
  if (!request.wholeTraces && !request.heads) {
    yield [...(await readTraces({ spans, ofTraces: undefined }, request, options)).values()];
    return;
  }
  const statement = sql`SELECT DISTINCT trace_id FROM spans WHERE ${spans} ORDER BY trace_id`;
  const { reader } = options;
  const rows = await reader.query<{ trace_id: string }>(statement, { signal: request.signal, duplicates: "kept" });
  const ids = rows.map(({ trace_id }) => trace_id);
  if (ids.length > 0) yield await readFound(ids, request, options);
}

/** The traces, in the order of their IDs. */
async function readFound(
  ids: readonly string[],
  request: TracesRequest,
  options: TenantTracesOptions,
): Promise<readonly TraceqlTrace[]> {
  const locations = await locate(options.reader, ids, { ...options, signal: request.signal });
  if (locations.length === 0) return [];
  const ofTraces = locationsCondition(locations, rangesOfSearch);
  const [from, to] = [locations.map((each) => each.fromUnixNano), locations.map((each) => each.toUnixNano)];
  const range = { ...options, fromUnixNano: from.reduce(lower), toUnixNano: to.reduce(higher) };
  const relevant = request.wholeTraces ? undefined : conditionOf(relevantBound(request, range));
  const spans = relevant === undefined ? ofTraces : sql`${ofTraces} AND ${relevant}`;
  const traces = await readTraces({ spans, ofTraces }, request, options);
  return ids.flatMap((id) => traces.get(id) ?? []);
}

function lower(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function higher(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

async function* allTraces(
  request: TracesRequest,
  options: TenantTracesOptions,
): AsyncGenerator<readonly TraceqlTrace[]> {
  for await (const slice of traceSlices({ ...request, ...options })) {
    yield [...(await readTraces({ spans: slice, ofTraces: undefined }, request, options)).values()];
  }
}

interface TraceConditions {
  /** The spans that are evaluated. */
  readonly spans: Statement;
  /** All spans of the traces; undefined if they are still to be located. The same statement if all are evaluated. */
  readonly ofTraces: Statement | undefined;
}

async function readTraces(
  { ofTraces, spans }: TraceConditions,
  request: TracesRequest,
  options: TenantTracesOptions,
): Promise<ReadonlyMap<string, TraceqlTrace>> {
  const { charge, heads, signal } = request;
  const counted = heads && ofTraces === spans ? new CountedHeads() : undefined;
  const reading = { reader: options.reader, needed: neededColumns(request), signal, charge };
  const [byTrace, known] = await Promise.all([
    readTraceqlSpans(spans, { ...reading, visit: (row) => counted?.add(row) }),
    counted ?? (heads && ofTraces !== undefined ? readTraceHeads(ofTraces, reading) : undefined),
  ]);
  const found = heads ? (known ?? (await headsOf([...byTrace.keys()], reading, options))) : undefined;
  const traces = new Map<string, TraceqlTrace>();
  for (const [traceId, each] of byTrace)
    traces.set(traceId, { traceId, spans: each, head: found?.get(traceId) ?? null });
  return traces;
}

async function headsOf(
  traceIds: readonly string[],
  reading: Parameters<typeof readTraceHeads>[1],
  options: TenantTracesOptions,
): Promise<ReadonlyMap<string, TraceHead>> {
  const heads = new Map<string, TraceHead>();
  for (let start = 0; start < traceIds.length; start += tracesPerStatement) {
    const ids = traceIds.slice(start, start + tracesPerStatement);
    const locations = await locate(options.reader, ids, { ...options, signal: reading.signal });
    if (locations.length === 0) continue;
    for (const [id, head] of await readTraceHeads(locationsCondition(locations), reading)) heads.set(id, head);
  }
  return heads;
}

/** Keeps statements short. */
const tracesPerStatement = 5000;
