/** What one LogQL query may cost. Samples, series and labels of metric queries have the limits of PromQL. */
import { QueryError } from "@sounding/promql/query-error";
import { inputLimit } from "@sounding/promql/input-limit";
import { defaultLimits as promqlLimits, type QueryLimits } from "@sounding/promql/evaluate/budget";

export interface LogqlLimits extends QueryLimits {
  /** Entries that a query reads from the store, whether or not its pipeline removes them. */
  readonly maxEntriesRead: number;
  /** Bytes of the lines that a query reads. */
  readonly maxBytesRead: number;
  /** Entries that a log query returns. */
  readonly maxEntriesReturned: number;
}

export const defaultLimits: LogqlLimits = {
  ...promqlLimits,
  timeoutMs: inputLimit({ area: "LogQL", bounds: "Time of a query", value: 60_000, unit: "ms", error: "timeout" }),
  maxSeries: inputLimit({
    area: "LogQL",
    bounds: "Series of a range aggregation and of a result",
    value: 100_000,
    error: "invalid_request",
  }),
  maxEntriesRead: inputLimit({
    area: "LogQL",
    bounds: "Entries that a query reads",
    value: 100_000_000,
    error: "invalid_request",
  }),
  maxBytesRead: inputLimit({
    area: "LogQL",
    bounds: "Lines that a query reads together",
    value: 100_000_000_000,
    unit: "bytes",
    error: "invalid_request",
  }),
  maxEntriesReturned: inputLimit({
    area: "LogQL",
    bounds: "Entries of a result (`limit`)",
    value: 5000,
    error: "invalid_request",
  }),
};

/** An error of the evaluation, in Loki's words where it has some. */
export function queryError(problem: string, param = "query"): QueryError {
  return new QueryError("invalid_request", problem, { param });
}

/** Throws in Loki's words if a query has too many series. */
export function checkSeriesCount(count: number, { maxSeries }: Pick<LogqlLimits, "maxSeries">): void {
  if (count <= maxSeries) return;
  throw queryError(
    `maximum number of series (${maxSeries}) reached for a single query; consider reducing query cardinality by ` +
      "adding more specific stream selectors, reducing the time range, or aggregating results with functions like " +
      "sum(), count() or topk()",
  );
}
