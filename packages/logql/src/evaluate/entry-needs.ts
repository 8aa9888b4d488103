/** What a query needs of the store: conditions that the store may check, and the parts of an entry that the query reads. */
import type { EntriesRequest } from "../storage.ts";
import type { LabelFilter, LabelMatcher, LineFilter, LogQuery, Stage, Unwrap } from "../syntax/ast.ts";

type Conditions = Pick<EntriesRequest, "lineFilters" | "metadataMatchers">;

/** The suffix of a label whose name another origin has already. */
const extractedSuffix = "_extracted";
const errorLabels: ReadonlySet<string> = new Set(["__error__", "__error_details__"]);

/** Conditions at places of the pipeline where the line, or the labels, are still those of the store. */
export function conditionsOf(stages: readonly Stage[]): Conditions & { readonly areComplete: boolean } {
  const lineFilters: LineFilter[] = [];
  const metadataMatchers: LabelMatcher[] = [];
  let isSameLine = true;
  let areSameLabels = true;
  let areComplete = true;
  for (const stage of stages) {
    switch (stage.kind) {
      case "line-filter":
        if (isSameLine) lineFilters.push(stage);
        else areComplete = false;
        break;
      case "label-filter": {
        const matchers = matchersOf(stage.filter);
        if (areSameLabels && matchers !== null) metadataMatchers.push(...matchers);
        else areComplete = false;
        break;
      }
      default:
        if (stage.kind === "line-format" || stage.kind === "decolorize" || stage.kind === "unpack") isSameLine = false;
        if (stage.kind !== "line-format" && stage.kind !== "decolorize") areSameLabels = false;
        areComplete = false;
    }
  }
  return { lineFilters, metadataMatchers, areComplete };
}

/** The matchers that a filter consists of; null if it has other conditions. */
function matchersOf(filter: LabelFilter): readonly LabelMatcher[] | null {
  if (filter.kind === "matcher") {
    const { name } = filter.matcher;
    return errorLabels.has(name) || name.endsWith(extractedSuffix) ? null : [filter.matcher];
  }
  if (filter.kind !== "and") return null;
  const left = matchersOf(filter.left);
  const right = matchersOf(filter.right);
  return left === null || right === null ? null : [...left, ...right];
}

/** What a metric query reads of its entries. `labels`: those that its result depends on; undefined: all. */
export function needsOf(
  { stages }: LogQuery,
  unwrap: Unwrap | null,
  labels: ReadonlySet<string> | undefined,
): EntriesRequest["needs"] {
  const names = new Set<string>(labels);
  const addNames = (all: readonly string[]): void => {
    for (const name of all) names.add(name);
  };
  let hasTemplate = false;
  let readsLine = false;
  for (const stage of [...stages, ...(unwrap?.filters ?? [])]) {
    switch (stage.kind) {
      case "label-filter":
        addNames(namesIn(stage.filter));
        break;
      case "drop":
      case "keep":
        addNames(stage.labels.map((label) => (label.kind === "name" ? label.name : label.matcher.name)));
        break;
      case "label-format":
        for (const assignment of stage.assignments) {
          addNames([assignment.label]);
          if (assignment.kind === "rename") addNames([assignment.from]);
          else hasTemplate = true;
        }
        break;
      case "line-format":
        hasTemplate = true;
        break;
      case "json":
      case "logfmt":
        addNames(stage.extractions.map(({ label }) => label));
        readsLine = true;
        break;
      default:
        readsLine = true;
    }
  }
  if (unwrap !== null) names.add(unwrap.label);
  const stored = [...names]
    .filter((name) => name.endsWith(extractedSuffix))
    .map((name) => name.slice(0, -extractedSuffix.length));
  addNames(stored);
  return {
    line: readsLine || hasTemplate,
    structuredMetadata: labels === undefined || hasTemplate ? "all" : [...names],
  };
}

/** The labels that a filter reads. */
export function namesIn(filter: LabelFilter): readonly string[] {
  switch (filter.kind) {
    case "matcher":
      return [filter.matcher.name];
    case "and":
    case "or":
      return [...namesIn(filter.left), ...namesIn(filter.right)];
    default:
      return [filter.label];
  }
}
