/** Line filters: `|= != |~ !~ |> !>` with alternatives and `ip(…)`. */
import { compileSearch } from "@sounding/promql/regex/search";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LineFilter, LineFilterOperand } from "../syntax/ast.ts";
import { compileAddressFilter } from "./address-filter.ts";
import { includesText } from "./find-text.ts";
import { invalidQuery } from "./invalid-query.ts";
import { compileLinePattern } from "./line-pattern.ts";
import type { CompiledStage, Entry, Passes } from "./stage.ts";

/** Whether a line has what one operand asks for. */
type Test = (line: string, budget: YieldBudget) => Passes;

/** @throws QueryError for an invalid expression, pattern or address */
export function compileLineFilter({ operands, operator }: LineFilter): CompiledStage {
  const isNegative = operator.startsWith("!");
  const tests = operands.map((operand) => compileOperand(operator, operand));
  const [first] = tests;
  if (tests.length === 1 && operator === "|=" && operands[0]!.kind === "text") {
    const text = operands[0]!.value;
    return { reads: [], process: ({ line }, budget) => includesText(line, text, budget) };
  }
  const test = tests.length === 1 ? first! : anyOf(tests);
  return {
    reads: [],
    process({ line }: Entry, budget) {
      const found = test(line, budget);
      if (!isNegative) return found;
      return typeof found === "boolean" ? !found : found.then((one) => !one);
    },
  };
}

function compileOperand(operator: LineFilter["operator"], { kind, value }: LineFilterOperand): Test {
  if (kind === "ip") {
    if (operator !== "|=" && operator !== "!=") {
      throw invalidQuery(`ip: invalid operation: ip() is allowed after |= and !=, not after ${operator}`);
    }
    return compileAddressFilter(value);
  }
  if (operator === "|=" || operator === "!=") return (line, budget) => includesText(line, value, budget);
  if (operator === "|>" || operator === "!>") return compileLinePattern(value);
  const search = compileSearch(value);
  if ("problem" in search) throw invalidQuery(search.problem);
  return (line, budget) => search.isIn(line, budget);
}

function anyOf(tests: readonly Test[]): Test {
  const from =
    (start: number): Test =>
    (line, budget) => {
      for (let index = start; index < tests.length; index++) {
        const found = tests[index]!(line, budget);
        if (found === true) return true;
        if (found !== false) return found.then((one) => one || from(index + 1)(line, budget));
      }
      return false;
    };
  return from(0);
}
