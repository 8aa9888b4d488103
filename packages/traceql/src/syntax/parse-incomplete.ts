/**
 * Reads unfinished queries: Grafana's editor sends `{ resource.service.name = "a" && name = }` with its requests for tag names and
 * values. As in Tempo, a comparison without a right side counts as true.
 */
import { QueryError } from "@sounding/promql/query-error";
import type { FieldExpression, FieldOperation, PipelineStage, TraceqlQuery } from "./ast.ts";
import { checkQuery } from "./check.ts";
import { tokenize } from "./lexer.ts";
import { checkLength } from "./parse-query.ts";
import { parseTree } from "./parse.ts";
import type { Token } from "./token.ts";

/** The condition on the spans that the query's first filter selects; null if it selects all or says too little yet. */
export function parseIncomplete(text: string): FieldExpression | null {
  checkLength(text);
  const query = parseOrNull(text) ?? parseOrNull(completed(text));
  if (query === null) return null;
  const filter = firstFilter(stagesOf(query)[0]);
  return filter === null ? null : comparisonsIn(filter);
}

function parseOrNull(text: string): TraceqlQuery | null {
  try {
    const query = parseTree(text);
    checkQuery(query);
    return query;
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

function stagesOf(query: TraceqlQuery): readonly PipelineStage[] {
  if (query.kind === "search-query") return query.stages;
  return query.expression.kind === "metrics-query" ? query.expression.stages : [];
}

function firstFilter(stage: PipelineStage | undefined): FieldExpression | null {
  if (stage?.kind === "nested-pipeline") return firstFilter(stage.stages[0]);
  return stage?.kind === "spanset-filter" ? stage.condition : null;
}

const comparisons = new Set<string>(["=", "!=", "<", "<=", ">", ">=", "=~", "!~"]);
const afterComparison = new Set(["}", ")", "&&", "||", "|"]);

/** The text with `true` for each comparison without a right side, and with its missing braces. */
function completed(text: string): string {
  const tokens = tokensOf(text);
  let result = "";
  let depth = 0;
  let position = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "sign" && token.text === "{") depth++;
    if (token.kind === "sign" && token.text === "}") depth--;
    const next = tokens[index + 1]!;
    const isIncomplete =
      token.kind === "sign" &&
      comparisons.has(token.text) &&
      (next.kind === "end" || (next.kind === "sign" && afterComparison.has(next.text)));
    if (!isIncomplete) continue;
    const start = startOfField(tokens, index - 1);
    if (start === undefined) continue;
    result += `${text.slice(position, start)}true `;
    position = token.end;
  }
  return `${result}${text.slice(position)}${" }".repeat(Math.max(0, depth))}`;
}

/** As many tokens as can be read, closed by one of kind `end`. */
function tokensOf(text: string): readonly Token[] {
  try {
    return tokenize(text);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return [{ kind: "end", text: "", start: 0, end: 0 }];
  }
}

function startOfField(tokens: readonly Token[], index: number): number | undefined {
  const token = tokens[index];
  if (token?.kind !== "attribute" && token?.kind !== "word") return undefined;
  const before = tokens[index - 1];
  return before?.kind === "word" && before.text.endsWith(":") ? before.start : token.start;
}

/** The comparisons of a condition; null where a span may be anything. A bare attribute stands for what is still to come. */
function comparisonsIn(expression: FieldExpression): FieldExpression | null {
  if (expression.kind !== "field-operation") return null;
  const { operator } = expression;
  if (operator !== "&&" && operator !== "||") return isComparison(operator) ? expression : null;
  const left = comparisonsIn(expression.left);
  const right = comparisonsIn(expression.right);
  if (left !== null && right !== null) return { ...expression, left, right };
  return operator === "&&" ? (left ?? right) : null;
}

function isComparison(operator: FieldOperation["operator"]): boolean {
  return comparisons.has(operator);
}
