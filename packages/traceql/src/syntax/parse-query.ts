/** Parses and checks callers' queries; their size is bounded. */
import { QueryError } from "@sounding/promql/query-error";
import { inputLimit } from "@sounding/promql/input-limit";
import type { TraceqlQuery } from "./ast.ts";
import { checkQuery } from "./check.ts";
import { parseTree } from "./parse.ts";

/** Characters of a query. */
const maximumQueryCharacters = inputLimit({
  area: "TraceQL",
  bounds: "Length of a query",
  value: 65_536,
  unit: "characters",
  error: "invalid_request",
});

/** The tree of a query; throws a QueryError `invalid_request` that says what is wrong with it, and where. */
export function parseQuery(text: string): TraceqlQuery {
  checkLength(text);
  const query = parseTree(text);
  checkQuery(query);
  return query;
}

export function checkLength(text: string): void {
  if (text.length <= maximumQueryCharacters) return;
  throw new QueryError(
    "invalid_request",
    `The query has ${text.length} characters, the limit is ${maximumQueryCharacters}. Send a shorter query.`,
    { param: "q" },
  );
}
