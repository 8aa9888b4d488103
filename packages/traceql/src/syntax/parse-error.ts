/** The errors of the parser, with the position as Tempo writes it. */
import { QueryError } from "@sounding/promql/query-error";
import { lineAndColumn } from "@sounding/promql/syntax/source-range";

/** A query that cannot be understood, as `parse error at line 1, col 5: …`. */
export function parseError(text: string, offset: number, problem: string): QueryError {
  const [line, column] = lineAndColumn(text, offset).split(":");
  return new QueryError("invalid_request", `parse error at line ${line}, col ${column}: ${problem}`, { param: "q" });
}

/** A query that can be read, but means nothing. */
export function invalidQuery(problem: string): QueryError {
  return new QueryError("invalid_request", `invalid TraceQL query: ${problem}`, { param: "q" });
}
