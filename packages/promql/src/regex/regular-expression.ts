/**
 * Callers' regular expressions: RE2's syntax and semantics, anchored at both ends; by default `.` matches newlines, as in
 * Prometheus. The cost of compiling is bounded before it starts. Matching is linear in the text, yields to other work and ends at the
 * caller's deadline. docs/adr/0025-promql-and-metrics.md
 */
import type { Automaton, Dot } from "./automaton.ts";
import { compileBounded, type ExpressionProblem } from "./bounded-automaton.ts";
import { GroupMatch } from "./capture-groups.ts";
import { LazyDfa } from "./lazy-dfa.ts";
import { wordList } from "./word-list.ts";
import { runToEnd, neverYield, type YieldBudget } from "./yield-budget.ts";

/** Capture slots of one match: instructions times requested groups. */
const maximumGroupNumbers = 1_000_000;

export interface RegularExpression {
  /** About as many instructions as it has; 0 where no program was needed. */
  readonly instructions: number;
  readonly matchesEmpty: boolean;
  /** Whether it matches all of the text; a promise only where the work is long. */
  matches(text: string, budget: YieldBudget): boolean | Promise<boolean>;
}

export interface GroupingExpression extends RegularExpression {
  /** The number of a group, by its number or name; undefined if the expression has no such group. */
  groupNumber(name: string): number | undefined;
  /** The texts of the groups, "" for a group that took no part; undefined if the text does not match. */
  groups(
    text: string,
    numbers: readonly number[],
    budget: YieldBudget,
  ): readonly string[] | undefined | Promise<readonly string[] | undefined>;
}

/** What to match with. */
export function compileExpression(expression: string, dot?: Dot): RegularExpression | ExpressionProblem {
  // What dashboards mostly send needs no engine: everything, something, or a list of plain words.
  if (expression === ".*") return withoutProgram(() => true);
  if (expression === ".+") return withoutProgram((text) => text !== "");
  const words = wordList(expression);
  return words === undefined ? compileGroupingExpression(expression, dot) : withoutProgram((text) => words.has(text));
}

function withoutProgram(matches: (text: string) => boolean): RegularExpression {
  return { instructions: 0, matchesEmpty: matches(""), matches };
}

/** The same with groups. */
export function compileGroupingExpression(expression: string, dot?: Dot): GroupingExpression | ExpressionProblem {
  const compiled = compileBounded(expression, dot);
  return "problem" in compiled ? compiled : toExpression(compiled.automaton, compiled.instructions);
}

/** Up to here, instructions times characters, re2js finds groups in less than a millisecond, quicker than with pauses. */
const mostStepsWithoutPause = 8192;

function groupsWithoutYielding(
  { pattern }: Automaton,
  text: string,
  numbers: readonly number[],
): readonly string[] | undefined {
  const matcher = pattern.matcher(text);
  return matcher.matches() ? numbers.map((group) => matcher.group(group) ?? "") : undefined;
}

function toExpression(automaton: Automaton, instructions: number): GroupingExpression {
  const dfa = new LazyDfa(automaton);
  const matches = (text: string, budget: YieldBudget): boolean | Promise<boolean> => runToEnd(dfa.match(text), budget);
  return {
    instructions,
    matchesEmpty: matches("", neverYield) === true,
    matches,
    groupNumber(name) {
      if (!/^\d+$/.test(name)) return automaton.groupNames.get(name);
      return Number(name) <= automaton.groupCount ? Number(name) : undefined;
    },
    groups(text, numbers, budget) {
      if (automaton.instructions.length * text.length <= mostStepsWithoutPause) {
        return groupsWithoutYielding(automaton, text, numbers);
      }
      if (numbers.length * 2 * automaton.instructions.length > maximumGroupNumbers) {
        throw new RangeError(`it has too many instructions (${instructions}) for ${numbers.length} groups at once`);
      }
      return runToEnd(new GroupMatch(automaton, text, numbers), budget);
    },
  };
}
