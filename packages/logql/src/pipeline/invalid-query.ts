/** The error of a query that cannot be compiled. */
import { QueryError } from "@sounding/promql/query-error";

export function invalidQuery(message: string): QueryError {
  return new QueryError("invalid_request", message, { param: "query" });
}
