/** Whether labels satisfy matchers. */
import { getLabel, type Labels } from "../promql/series/labels.ts";
import { compileMatcher, type CompiledMatcher } from "../promql/series/matcher.ts";
import type { LabelMatcher } from "../promql/syntax/ast.ts";

/** An absent label has the value "". A matcher with a broken regular expression matches nothing. */
export function isMatchedBy(labels: Labels | ReadonlyMap<string, string>, matchers: readonly LabelMatcher[]): boolean {
  const valueOf = (name: string): string => ("pairs" in labels ? getLabel(labels, name) : (labels.get(name) ?? ""));
  return matchers.every((matcher) => matchesValue(matcher, valueOf(matcher.name)));
}

/** Matchers of queries that are being answered: one meets the labels of every series. */
const compiledMatchers = new WeakMap<LabelMatcher, CompiledMatcher>();

export function matchesValue(matcher: LabelMatcher, value: string): boolean {
  let compiled = compiledMatchers.get(matcher);
  if (compiled === undefined) compiledMatchers.set(matcher, (compiled = compileMatcher(matcher)));
  return "matches" in compiled && compiled.matches(value);
}
