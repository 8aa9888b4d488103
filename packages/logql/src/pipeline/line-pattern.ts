/** Patterns of line filters (`|>`, `!>`): they match a whole line, and `<_>` stands for at least one character. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { findText, shortLine } from "./find-text.ts";
import { invalidQuery } from "./invalid-query.ts";
import { parsePattern, type PatternNode } from "./pattern-expression.ts";
import { runSteps, type Steps } from "./run-steps.ts";
import type { Passes } from "./stage.ts";

/** @throws QueryError for an invalid pattern */
export function compileLinePattern(pattern: string): (line: string, budget: YieldBudget) => Passes {
  const nodes = parsePattern(pattern);
  for (const node of nodes) {
    if (node.kind === "capture" && node.name !== null) {
      throw invalidQuery(`invalid pattern: named captures are not allowed in a line filter: found '<${node.name}>'`);
    }
  }
  if (nodes.length === 0) return (line) => line === "";
  return (line, budget) => line !== "" && runSteps(matches(nodes, line, budget));
}

function* matches(nodes: readonly PatternNode[], line: string, budget: YieldBudget): Steps<boolean> {
  let end = 0;
  for (const [index, node] of nodes.entries()) {
    if (node.kind === "capture") continue;
    const isShort = line.length <= shortLine;
    const found: number = isShort ? line.indexOf(node.text, end) : yield* findText(line, node.text, end, budget);
    if (found === -1 || (index > 0 && found === end)) return false;
    end = found + node.text.length;
  }
  return (nodes.at(-1)!.kind === "capture") === end < line.length;
}
