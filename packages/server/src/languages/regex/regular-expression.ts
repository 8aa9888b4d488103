/**
 * Callers' regular expressions: RE2's syntax and semantics, anchored at both ends; `.` matches newlines, as in Prometheus.
 * The cost of compiling is bounded before it starts. Matching is linear in the text, yields to other work and ends at the
 * caller's deadline. docs/adr/0202-bounded-regular-expressions.md
 */
import { inputLimit } from "../../input-limits.ts";
import { compileAutomaton, type Automaton } from "./automaton.ts";
import { GroupMatch } from "./capture-groups.ts";
import { compileCost } from "./compile-cost.ts";
import { LazyDfa } from "./lazy-dfa.ts";
import { runToEnd, neverYield, type YieldBudget } from "./yield-budget.ts";

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

/** Why an expression was refused, in RE2's words where it is broken. */
export interface ExpressionProblem {
  readonly problem: string;
  /** Whether it is rejected for its size, not for its syntax. */
  readonly isTooLarge: boolean;
}

/** What to match with. */
export function compileExpression(expression: string): RegularExpression | ExpressionProblem {
  // What dashboards mostly send needs no engine: everything, something, or a list of plain words.
  if (expression === ".*") return withoutProgram(() => true);
  if (expression === ".+") return withoutProgram((text) => text !== "");
  const words = wordList(expression);
  return words === undefined ? compileGroupingExpression(expression) : withoutProgram((text) => words.has(text));
}

function withoutProgram(matches: (text: string) => boolean): RegularExpression {
  return { instructions: 0, matchesEmpty: matches(""), matches };
}

/** Words without operators other than `|`; special characters may be escaped. */
const onlyWords = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/** The words of a list such as `a|b\.c`, undefined for any other expression. */
function wordList(expression: string): ReadonlySet<string> | undefined {
  if (!onlyWords.test(expression)) return undefined;
  const words = [""];
  for (const [token] of expression.matchAll(/\\?[^]/g)) {
    if (token === "|") words.push("");
    else words[words.length - 1] += token.length === 2 ? token[1]! : token;
  }
  return new Set(words);
}

/** The same with groups. */
export function compileGroupingExpression(expression: string): GroupingExpression | ExpressionProblem {
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
    return toExpression(compileAutomaton(expression), instructions);
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : "error parsing regexp", isTooLarge: false };
  }
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
