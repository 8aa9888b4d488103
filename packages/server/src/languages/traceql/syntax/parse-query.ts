/** Parses and checks callers' queries; their size is bounded. */
import { AppError } from "../../../errors.ts";
import { inputLimit } from "../../../input-limits.ts";
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

/** The tree of a query; throws an AppError `invalid_request` that says what is wrong with it, and where. */
export function parseQuery(text: string): TraceqlQuery {
  checkLength(text);
  const query = parseTree(text);
  checkQuery(query);
  return query;
}

export function checkLength(text: string): void {
  if (text.length <= maximumQueryCharacters) return;
  throw new AppError(
    "invalid_request",
    `The query has ${text.length} characters, the limit is ${maximumQueryCharacters}. Send a shorter query.`,
    { param: "q" },
  );
}
