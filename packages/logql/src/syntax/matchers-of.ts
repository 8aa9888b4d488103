/** The label matchers that a stage has. */
import type { LabelFilter, LabelMatcher, Stage, Unwrap } from "./ast.ts";

export function matchersOfStage(stage: Stage): readonly LabelMatcher[] {
  if (stage.kind === "label-filter") return matchersOfFilter(stage.filter);
  if (stage.kind !== "drop" && stage.kind !== "keep") return [];
  return stage.labels.flatMap((label) => (label.kind === "matcher" ? [label.matcher] : []));
}

export function matchersOfUnwrap(unwrap: Unwrap | null): readonly LabelMatcher[] {
  return unwrap === null ? [] : unwrap.filters.flatMap(matchersOfStage);
}

function matchersOfFilter(filter: LabelFilter): readonly LabelMatcher[] {
  const found: LabelMatcher[] = [];
  const open: LabelFilter[] = [filter];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "matcher") found.push(node.matcher);
    else if (node.kind === "and" || node.kind === "or") open.push(node.right, node.left);
  }
  return found;
}
