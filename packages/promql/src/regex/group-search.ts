/** Finds the groups of an expression's first match anywhere in a text, with Go's semantics. */
import { compileBounded, type ExpressionProblem } from "./bounded-automaton.ts";
import { GroupMatch } from "./capture-groups.ts";
import { runToEnd, type YieldBudget } from "./yield-budget.ts";

export interface GroupSearch {
  /** The numbers of the named groups. */
  readonly groupNames: ReadonlyMap<string, number>;
  /** The texts of the groups, "" for a group that took no part; undefined if the text has no match. */
  groups(
    text: string,
    numbers: readonly number[],
    budget: YieldBudget,
  ): readonly string[] | undefined | Promise<readonly string[] | undefined>;
}

/** Up to here, instructions times characters, re2js takes about a millisecond; it cannot pause. */
const mostStepsWithoutPause = 65_536;

export function compileGroupSearch(expression: string): GroupSearch | ExpressionProblem {
  const plain = compileBounded(expression, "no-newlines");
  if ("problem" in plain) return plain;
  // The first match is what remains when as little as possible precedes it.
  const whole = compileBounded(`(?s:.*?)(?:${expression})(?s:.*)`, "no-newlines");
  if ("problem" in whole) return whole;
  const { groupNames, pattern } = plain.automaton;
  return {
    groupNames,
    groups(text, numbers, budget) {
      if (plain.automaton.instructions.length * text.length > mostStepsWithoutPause) {
        return runToEnd(new GroupMatch(whole.automaton, text, numbers), budget);
      }
      const matcher = pattern.matcher(text);
      return matcher.find() ? numbers.map((group) => matcher.group(group) ?? "") : undefined;
    },
  };
}
