/** Checks the regular expressions of one query, and bounds what they compile to together. */
import { inputLimit } from "@sounding/promql/input-limit";
import { compileExpression } from "@sounding/promql/regex/regular-expression";
import { invalidQuery } from "./parse-error.ts";

/** Instructions that all regular expressions of a query may compile to. */
const maximumInstructions = inputLimit({
  area: "TraceQL",
  bounds: "Instructions that the regular expressions of a query compile to together",
  value: 10_000,
  error: "invalid_request",
});

export class RegexChecker {
  #instructions = 0;

  check(expression: string): void {
    const compiled = compileExpression(expression);
    if ("problem" in compiled) throw invalidQuery(`invalid regex: ${compiled.problem}`);
    this.#instructions += compiled.instructions;
    if (this.#instructions <= maximumInstructions) return;
    const seen = `the regular expressions of the query need ${this.#instructions} instructions or more`;
    throw invalidQuery(`${seen}, the limit is ${maximumInstructions}; use fewer or smaller ones`);
  }
}
