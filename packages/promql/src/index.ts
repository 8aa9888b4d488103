/** PromQL as in Prometheus 3: engine, parser and printer, over any storage. */
export { queryInstant, queryRange } from "./engine.ts";
export type { InstantQuery, QueryOptions, QueryResult, RangeQuery } from "./engine.ts";
export { defaultLimits, type QueryLimits, type QueryMemory, type Yielder } from "./evaluate/budget.ts";
export { MemoryStorage, type MemorySample } from "./memory-storage.ts";
export { QueryError, type QueryErrorCode } from "./query-error.ts";
export type { MatrixSeries, QueryValue, VectorSample } from "./query-value.ts";
export { labelsFrom, type Labels } from "./series/labels.ts";
export type {
  PromqlStorage,
  ReductionRequest,
  SelectHints,
  SelectRequest,
  StoredSeries,
  WindowsRequest,
} from "./storage.ts";
export type { Expression, LabelMatcher } from "./syntax/ast.ts";
export { parseExpression } from "./syntax/parse.ts";
export { printExpression } from "./syntax/print.ts";
