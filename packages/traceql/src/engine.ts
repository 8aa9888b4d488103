/**
 * The TraceQL engine: evaluates a query's text or tree as Tempo does. docs/observability/traceql.md lists the differences.
 */
import { Budget, type QueryMemory, type Yielder } from "@sounding/promql/evaluate/budget";
import { defaultTraceqlLimits, type TraceqlLimits } from "./limits.ts";
import { TraceReader, type ReadStatistics } from "./read-traces.ts";
import { compileQuery } from "./spans/compiled-query.ts";
import { foundTrace, type FoundTrace, type Presentation } from "./spans/found-trace.ts";
import { attributeSelector } from "./spans/span-attributes.ts";
import type { TraceqlStorage } from "./storage.ts";
import type { SearchQuery } from "./syntax/ast.ts";
import { invalidQuery } from "./syntax/parse-error.ts";
import { parseQuery } from "./syntax/parse-query.ts";

export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<TraceqlLimits> | undefined;
  /** The request's memory: traces and results are charged while they are held. */
  readonly memory?: QueryMemory | undefined;
  /** Shares the thread with other requests; by default, with the rest of the event loop. */
  readonly yielder?: Yielder | undefined;
}

export interface TraceSearch extends QueryOptions {
  /** Text, or a tree. */
  readonly query: string | SearchQuery;
  /** Nanoseconds since 1970, start included, end excluded: traces with a span that starts there. */
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  /** Traces; 20 by default. */
  readonly limit?: number | undefined;
  /** Spans shown of each set; 3 by default. */
  readonly spansPerSpanSet?: number | undefined;
}

export interface TraceSearchResult {
  /** Newest first. */
  readonly traces: readonly FoundTrace[];
  readonly statistics: ReadStatistics;
}

/**
 * Searches traces, newest first, until `limit` of them match: the hint `most_recent` is always fulfilled. Errors:
 * `invalid_request`, `timeout`, `client_closed`, or what the store throws.
 */
export async function searchTraces(storage: TraceqlStorage, search: TraceSearch): Promise<TraceSearchResult> {
  const { endUnixNano, limit = 20, memory, query, spansPerSpanSet = 3, startUnixNano, yielder } = search;
  const limits = { ...defaultTraceqlLimits, ...search.limits };
  const budget = new Budget(limits, search.signal ?? new AbortController().signal, { memory, yielder });
  const { stages } = typeof query === "string" ? searchQueryOf(query) : query;
  const compiled = compileQuery(stages, { budget });
  const reader = new TraceReader(storage, {
    budget,
    limits,
    fromUnixNano: startUnixNano,
    toUnixNano: endUnixNano,
    heads: true,
    expectedTraces: limit,
  });
  const presentation: Presentation = {
    selector: attributeSelector(compiled.reads, compiled.context),
    spansPerSpanSet,
    budget,
    charge: (bytes) => budget.holdBytes(bytes),
  };
  const traces: FoundTrace[] = [];
  for await (const match of reader.matches(compiled)) {
    traces.push(await foundTrace(match, presentation));
    if (traces.length >= limit) break;
  }
  return { traces: traces.sort(byStart), statistics: reader.statistics };
}

function searchQueryOf(text: string): SearchQuery {
  const query = parseQuery(text);
  if (query.kind === "search-query") return query;
  throw invalidQuery("a search cannot have metrics functions such as rate(): send the query as a metrics query");
}

function byStart(left: FoundTrace, right: FoundTrace): number {
  if (left.startUnixNano === right.startUnixNano) return left.traceId < right.traceId ? -1 : 1;
  return left.startUnixNano > right.startUnixNano ? -1 : 1;
}
