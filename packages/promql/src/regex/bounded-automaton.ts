/** Compiles a caller's expression; its cost is bounded before that starts. */
import { inputLimit } from "../input-limit.ts";
import { compileAutomaton, type Automaton, type Dot } from "./automaton.ts";
import { compileCost } from "./compile-cost.ts";

/** Characters of one expression. Lists of plain words (`a|b\.c`) need no program and may be longer. */
const maximumExpressionCharacters = inputLimit({
  area: "PromQL",
  bounds: "Length of a regular expression; lists of plain words may be longer",
  value: 10_000,
  unit: "characters",
  error: "invalid_request",
});
/** Instructions that one expression may compile to: `a{1000}` has 1,000; `\pL` counts as 100. */
export const maximumExpressionInstructions = inputLimit({
  area: "PromQL",
  bounds: "Instructions that a regular expression compiles to",
  value: 10_000,
  error: "invalid_request",
});
/** Why an expression was refused, in RE2's words where it is broken. */
export interface ExpressionProblem {
  readonly problem: string;
  /** Whether it is rejected for its size, not for its syntax. */
  readonly isTooLarge: boolean;
}

/** The program, and about as many instructions as it has. */
export function compileBounded(
  expression: string,
  dot?: Dot,
): { readonly automaton: Automaton; readonly instructions: number } | ExpressionProblem {
  const tooLarge = (problem: string): ExpressionProblem => ({
    problem: `error parsing regexp: ${problem}`,
    isTooLarge: true,
  });
  if (expression.length > maximumExpressionCharacters) {
    return tooLarge(
      `expression too long: it has ${expression.length} characters, the limit is ${maximumExpressionCharacters}`,
    );
  }
  const instructions = compileCost(expression);
  if (instructions > maximumExpressionInstructions) {
    return tooLarge(
      `expression too large: it needs up to ${instructions} instructions, the limit is ` +
        `${maximumExpressionInstructions}; use smaller repetitions`,
    );
  }
  try {
    return { automaton: compileAutomaton(expression, dot), instructions };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : "error parsing regexp", isTooLarge: false };
  }
}
