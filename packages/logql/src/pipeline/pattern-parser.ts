/**
 * `pattern`: labels from the captures of a pattern such as `<ip> - - <_> "<method> <path> <_>"`.
 * https://grafana.com/docs/loki/latest/query/log_queries/#pattern
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { EntryLabels } from "./entry-labels.ts";
import { freeName } from "./extracted-label.ts";
import { findText, shortLine } from "./find-text.ts";
import { invalidQuery } from "./invalid-query.ts";
import type { ParserHints } from "./parser-hints.ts";
import { parsePattern, type PatternNode } from "./pattern-expression.ts";
import { runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage } from "./stage.ts";

/** @throws QueryError for an invalid pattern */
export function compilePatternParser(pattern: string, hints: ParserHints): CompiledStage {
  const nodes = parsePattern(pattern);
  const names = nodes.flatMap((node) => (node.kind === "capture" && node.name !== null ? [node.name] : []));
  if (names.length === 0) throw invalidQuery("invalid pattern: at least one capture is required: write <name>");
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalidQuery(`invalid pattern: duplicate capture name (${repeated})`);
  const take = (labels: EntryLabels, values: readonly string[]): true => {
    for (const [index, value] of values.entries()) {
      const label = freeName(labels, names[index]!);
      if (hints.needs(label) && !labels.wasParsed(label)) labels.setParsed(label, value);
    }
    return true;
  };
  return {
    reads: [],
    process({ labels, line }, budget) {
      if (line === "" || hints.needsNothing || hints.isDone(labels)) return true;
      const values = runSteps(capture(nodes, line, budget));
      return values instanceof Promise ? values.then((found) => take(labels, found)) : take(labels, values);
    },
  };
}

/** The texts of the named captures, up to the first text of the pattern that the line does not have. */
function* capture(nodes: readonly PatternNode[], line: string, budget: YieldBudget): Steps<string[]> {
  const values: string[] = [];
  let at = 0;
  let open: (PatternNode & { kind: "capture" }) | null = null;
  for (const [index, node] of nodes.entries()) {
    if (node.kind === "capture") {
      open = node;
      continue;
    }
    if (index === 0) {
      if (!line.startsWith(node.text)) return [];
      at = node.text.length;
      continue;
    }
    const isShort = line.length <= shortLine;
    const found: number = isShort ? line.indexOf(node.text, at) : yield* findText(line, node.text, at, budget);
    if (open?.name !== null) values.push(found === -1 ? line.slice(at) : line.slice(at, found));
    if (found === -1) return values;
    at = found + node.text.length;
    open = null;
  }
  if (open !== null && open.name !== null) values.push(line.slice(at));
  return values;
}
