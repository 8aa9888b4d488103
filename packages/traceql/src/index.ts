/** TraceQL as in Tempo: engine, parser and printer, over any storage. */
export { searchTraces } from "./engine.ts";
export type { QueryOptions, TraceSearch, TraceSearchResult } from "./engine.ts";
export { defaultTraceqlLimits, type TraceqlLimits } from "./limits.ts";
export { MemoryTraces } from "./memory-storage.ts";
export { queryTraceqlInstant, queryTraceqlRange } from "./metrics/query-metrics.ts";
export type { InstantMetricsQuery, RangeMetricsQuery } from "./metrics/query-metrics.ts";
export type {
  SpanGridRequest,
  SpanGridSeries,
  TraceqlSpan,
  TraceqlStorage,
  TraceqlTrace,
  TracesRequest,
} from "./storage.ts";
export type { TraceqlQuery } from "./syntax/ast.ts";
export { parseQuery } from "./syntax/parse-query.ts";
export { printQuery } from "./syntax/print.ts";
export { QueryError } from "@sounding/promql";
