/** Matches labels against a selector's matchers. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { getLabel, type Labels } from "@sounding/promql/series/labels";
import { compileMatcher, matchesAll } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";

/** An absent label has the value "". A matcher with an invalid regular expression matches nothing. */
export function isMatchedBy(
  labels: Labels | ReadonlyMap<string, string>,
  matchers: readonly LabelMatcher[],
  yieldBudget: YieldBudget,
): boolean | Promise<boolean> {
  const valueOf = (name: string): string => ("pairs" in labels ? getLabel(labels, name) : (labels.get(name) ?? ""));
  return matchesAll(matchers, valueOf, yieldBudget);
}

/** Whether a matcher also matches series without its label. */
export function matchesAbsence(matcher: LabelMatcher): boolean {
  const compiled = compileMatcher(matcher);
  return "matches" in compiled && compiled.matchesEmpty;
}
