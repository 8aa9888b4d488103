/** The errors of the parser, with the position as Tempo writes it. */
import { AppError } from "../../../errors.ts";
import { lineAndColumn } from "../../promql/syntax/source-range.ts";

/** A query that cannot be understood, as `parse error at line 1, col 5: …`. */
export function parseError(text: string, offset: number, problem: string): AppError {
  const [line, column] = lineAndColumn(text, offset).split(":");
  return new AppError("invalid_request", `parse error at line ${line}, col ${column}: ${problem}`, { param: "q" });
}

/** A query that can be read, but means nothing. */
export function invalidQuery(problem: string): AppError {
  return new AppError("invalid_request", `invalid TraceQL query: ${problem}`, { param: "q" });
}
