/** Label matchers, compiled once for all parts of a query. Regular expressions: `regex/`. */
import { compileExpression } from "../regex/regular-expression.ts";
import type { YieldBudget } from "../regex/yield-budget.ts";
import type { LabelMatcher } from "../syntax/ast.ts";

export interface CompiledMatcher {
  /** About as many instructions as its expression has. */
  readonly instructions: number;
  readonly matchesEmpty: boolean;
  /** Whether a label's value matches, "" if the label is absent; a promise only where that is long work. */
  matches(value: string, yieldBudget: YieldBudget): boolean | Promise<boolean>;
}

/** The matcher's regular expression is invalid or too large. */
interface MatcherProblem {
  readonly problem: string;
}

/** Matchers of running queries: a query first checks them and then uses them. */
const known = new WeakMap<LabelMatcher, CompiledMatcher | MatcherProblem>();

export function compileMatcher(matcher: LabelMatcher): CompiledMatcher | MatcherProblem {
  let compiled = known.get(matcher);
  if (compiled === undefined) known.set(matcher, (compiled = compile(matcher)));
  return compiled;
}

function compile({ operator, value: wanted }: LabelMatcher): CompiledMatcher | MatcherProblem {
  if (operator === "=") {
    return { instructions: 0, matchesEmpty: wanted === "", matches: (value) => value === wanted };
  }
  if (operator === "!=") {
    return { instructions: 0, matchesEmpty: wanted !== "", matches: (value) => value !== wanted };
  }
  const expression = compileExpression(wanted);
  if ("problem" in expression || operator === "=~") return expression;
  return {
    instructions: expression.instructions,
    matchesEmpty: !expression.matchesEmpty,
    matches: (value, yieldBudget) => negated(expression.matches(value, yieldBudget)),
  };
}

function negated(found: boolean | Promise<boolean>): boolean | Promise<boolean> {
  return typeof found === "boolean" ? !found : found.then((one) => !one);
}

/** Whether one value matches all matchers, or which of several values do. An invalid matcher matches nothing. */
export function matchesValue(
  matcher: LabelMatcher,
  value: string,
  yieldBudget: YieldBudget,
): boolean | Promise<boolean> {
  const compiled = compileMatcher(matcher);
  return "matches" in compiled && compiled.matches(value, yieldBudget);
}

/** Whether every matcher matches the value that belongs to its label. */
export function matchesAll(
  matchers: readonly LabelMatcher[],
  valueOf: (name: string) => string,
  yieldBudget: YieldBudget,
): boolean | Promise<boolean> {
  for (const [index, matcher] of matchers.entries()) {
    const found = matchesValue(matcher, valueOf(matcher.name), yieldBudget);
    if (found === true) continue;
    if (found === false) return false;
    return found.then((one) => one && matchesAll(matchers.slice(index + 1), valueOf, yieldBudget));
  }
  return true;
}
