/** The errors of the parser, with the position as Loki writes it: Grafana shows them to the author of the query. */
import { QueryError } from "@sounding/promql/query-error";
import type { SourceRange } from "@sounding/promql/syntax/source-range";

/** A query that cannot be understood, as `parse error at line 1, col 5: …`; columns count characters from 1. */
export function parseError(text: string, at: SourceRange, problem: string): QueryError {
  const before = text.slice(0, at.start);
  const line = before.split("\n").length;
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
  return new QueryError("invalid_request", `parse error at line ${line}, col ${column}: ${problem}`, {
    param: "query",
  });
}
