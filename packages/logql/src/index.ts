/** LogQL as in Loki 3: engine, parser and printer, over any storage. */
export { queryLogqlInstant, queryLogqlRange } from "./engine.ts";
export type { LogqlInstantQuery, LogqlQueryOptions, LogqlRangeQuery } from "./engine.ts";
export { defaultLimits, type LogqlLimits } from "./evaluate/limits.ts";
export { MemoryLogStorage, type MemoryEntry } from "./memory-storage.ts";
export type { LogEntry, LogqlResult, LogqlValue, LogStream, QueryStatistics } from "./query-result.ts";
export type { CountSeries, CountsRequest, EntriesRequest, EntryBatch, LogqlStorage } from "./storage.ts";
export type { LogqlExpression, LogQuery, MetricExpression } from "./syntax/ast.ts";
export { formatLogql } from "./syntax/format.ts";
export { parseTree } from "./syntax/parse.ts";
export { printLogql } from "./syntax/print.ts";
export { QueryError } from "@sounding/promql";
