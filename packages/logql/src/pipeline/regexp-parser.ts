/**
 * `regexp`: labels from the named groups of an expression's first match in the line.
 * https://grafana.com/docs/loki/latest/query/log_queries/#regular-expression
 */
import { compileGroupSearch } from "@sounding/promql/regex/group-search";
import type { EntryLabels } from "./entry-labels.ts";
import { freeName } from "./extracted-label.ts";
import { invalidQuery } from "./invalid-query.ts";
import { toLabelName } from "./label-names.ts";
import type { ParserHints } from "./parser-hints.ts";
import type { CompiledStage } from "./stage.ts";

/** @throws QueryError for an invalid expression, or one without named groups */
export function compileRegexpParser(expression: string, hints: ParserHints): CompiledStage {
  const search = compileGroupSearch(expression);
  if ("problem" in search) {
    const duplicate = /duplicate capture group name: `(.*)`/.exec(search.problem);
    throw invalidQuery(duplicate === null ? search.problem : `duplicate extracted label name '${duplicate[1]}'`);
  }
  const groups = [...search.groupNames].sort(([, left], [, right]) => left - right);
  if (groups.length === 0) throw invalidQuery("at least one named capture must be supplied: write (?P<name>…)");
  const names = groups.map(([name]) => toLabelName(name));
  const numbers = groups.map(([, number]) => number);
  const take = (labels: EntryLabels, values: readonly string[] | undefined): true => {
    for (const [index, value] of (values ?? []).entries()) {
      const label = freeName(labels, names[index]!);
      if (hints.needs(label) && !labels.wasParsed(label)) labels.setParsed(label, value);
    }
    return true;
  };
  return {
    reads: [],
    process({ labels, line }, budget) {
      if (hints.isDone(labels)) return true;
      const values = search.groups(line, numbers, budget);
      return values instanceof Promise ? values.then((found) => take(labels, found)) : take(labels, values);
    },
  };
}
