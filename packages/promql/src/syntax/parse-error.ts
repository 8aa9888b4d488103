/** The errors of the parser and the type checker: position, Prometheus' wording, and a suggestion. */
import { closestName } from "./closest-name.ts";
import { QueryError } from "../query-error.ts";
import { lineAndColumn, type SourceRange } from "./source-range.ts";

/** A query that cannot be understood, as `1:5: parse error: …`. */
export function parseError(text: string, at: SourceRange, problem: string): QueryError {
  return new QueryError("invalid_request", `${lineAndColumn(text, at.start)}: parse error: ${problem}`, {
    param: "query",
  });
}

/** `, did you mean "rate"?` when a known name is close to the one that was seen, else nothing. */
export function suggestion(seen: string, known: Iterable<string>): string {
  const closest = closestName(seen, known);
  return closest === undefined ? "" : `, did you mean "${closest}"?`;
}
