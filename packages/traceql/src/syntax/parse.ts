/** Parses a TraceQL query to its tree. The types of operands are checked later, in check.ts. */
import type {
  Aggregate,
  AggregateOperator,
  MetricsExpression,
  MetricsSecondStage,
  PipelineStage,
  SpansetFilter,
  TraceqlQuery,
} from "./ast.ts";
import { negateConstant } from "./fold-constants.ts";
import { tokenize } from "./lexer.ts";
import { comparisons, joinOperands, precedenceOf, type Constant, type Operand } from "./operand.ts";
import { parseFieldExpression, parseFields } from "./parse-field.ts";
import { metricsWords, parseChoice, parseHints, takeMetricsStage } from "./parse-metrics.ts";
import { TokenStream } from "./token-stream.ts";

const aggregates: ReadonlySet<string> = new Set<AggregateOperator>(["count", "min", "max", "sum", "avg"]);
const stageWords = ["by", "coalesce", "select", ...aggregates, ...metricsWords];
const expectedStage = "a filter in braces, an aggregate, by(), coalesce(), select() or a metrics function";

/** The tree; throws a QueryError `invalid_request` with the position of the problem. */
export function parseTree(text: string): TraceqlQuery {
  const tokens = new TokenStream(text, tokenize(text));
  const start = tokens.peek().start;
  const pipeline = parsePipeline(tokens);
  const end = tokens.lastEnd;
  const hints = parseHints(tokens);
  if (tokens.peek().kind !== "end") throw tokens.unexpected("the end of the query");
  const at = { start, end };
  switch (pipeline.type) {
    case "metrics":
      return { kind: "metrics-root", expression: pipeline.node, hints, at };
    case "stages":
      return { kind: "search-query", stages: pipeline.stages, hints, at };
    case "scalar":
    case "constant":
      throw tokens.error(pipeline.node.at, "a number alone is no query: compare an aggregate with it");
  }
}

/** What stages joined by `|` come to. */
type Pipeline =
  | { readonly type: "stages"; readonly stages: readonly PipelineStage[] }
  | Extract<Operand, { readonly type: "scalar" | "constant" | "metrics" }>;

function parsePipeline(tokens: TokenStream): Pipeline {
  const { start } = tokens.peek();
  const stages: PipelineStage[] = [];
  for (;;) {
    const aggregate = stages.length === 0 ? undefined : takeMetricsStage(tokens, parseFilter);
    if (aggregate !== undefined) {
      const node = { stages, aggregate, secondStages: [], at: { start, end: tokens.lastEnd } };
      return withSecondStages(tokens, { kind: "metrics-query", ...node });
    }
    const stage = takeWordStage(tokens, stages.length === 0) ?? parseOperations(tokens, 1);
    if ("kind" in stage) {
      stages.push(stage);
    } else if (stage.type === "spanset" || stage.type === "filter") {
      stages.push(stage.node);
    } else {
      return endWith(tokens, { stages, last: stage, start });
    }
    if (!tokens.isSign("|")) return { type: "stages", stages };
    tokens.nextOperator();
  }
}

/** A pipeline whose last stage is a number or metrics. */
function endWith(
  tokens: TokenStream,
  {
    last,
    stages,
    start,
  }: { stages: readonly PipelineStage[]; last: Exclude<Pipeline, { type: "stages" }>; start: number },
): Pipeline {
  if (stages.length === 0) return last.type === "metrics" ? withSecondStages(tokens, last.node) : last;
  if (last.type !== "scalar" || last.node.kind !== "aggregate") {
    throw tokens.error(last.node.at, `unexpected expression, expected ${expectedStage}`);
  }
  const node = { kind: "scalar-pipeline", stages, scalar: last.node, at: { start, end: tokens.lastEnd } } as const;
  return { type: "scalar", node };
}

function withSecondStages(tokens: TokenStream, expression: MetricsExpression): Pipeline {
  const secondStages: MetricsSecondStage[] = [...expression.secondStages];
  for (;;) {
    const token = tokens.peek();
    if (token.kind === "sign" && token.text === "|") {
      tokens.nextOperator();
      secondStages.push(parseChoice(tokens));
    } else if (token.kind === "sign" && comparisons.has(token.text)) {
      tokens.nextOperator();
      const operand = parseOperations(tokens, 3);
      if (operand.type !== "constant") throw tokens.error(operand.node.at, "metrics can be compared with numbers only");
      const operator = token.text as "=";
      const value = secondsOf(operand.node);
      secondStages.push({ kind: "metrics-filter", operator, value, at: { start: token.start, end: tokens.lastEnd } });
    } else {
      const at = { start: expression.at.start, end: tokens.lastEnd };
      return { type: "metrics", node: { ...expression, secondStages, at } };
    }
  }
}

function secondsOf({ value }: Constant): number {
  return value.type === "duration" ? Number(value.nanoseconds) / 1e9 : Number(value.value);
}

function takeWordStage(tokens: TokenStream, isFirst: boolean): PipelineStage | undefined {
  const token = tokens.peek();
  if (token.kind !== "word") return undefined;
  switch (token.text) {
    case "by": {
      tokens.next();
      tokens.expectSign("(");
      const expression = parseFieldExpression(tokens);
      tokens.expectSign(")");
      return { kind: "group-by", expression, at: { start: token.start, end: tokens.lastEnd } };
    }
    case "select": {
      tokens.next();
      const fields = parseFields(tokens);
      return { kind: "select", fields, at: { start: token.start, end: tokens.lastEnd } };
    }
    case "coalesce":
      if (isFirst) throw tokens.error(token, "a query cannot start with coalesce()");
      tokens.next();
      tokens.expectSign("(");
      tokens.expectSign(")");
      return { kind: "coalesce", at: { start: token.start, end: tokens.lastEnd } };
    default:
      return undefined;
  }
}

function parseOperations(tokens: TokenStream, lowest: number): Operand {
  let left = parseOperand(tokens);
  for (;;) {
    const token = tokens.peek();
    const precedence = token.kind === "sign" ? precedenceOf(token.text) : undefined;
    if (precedence === undefined || precedence < lowest) return left;
    // Comparisons of metrics are no operators but stages that follow the whole expression.
    if (left.type === "metrics" && comparisons.has(token.text)) return left;
    tokens.nextOperator();
    const right = parseOperations(tokens, token.text === "^" ? precedence : precedence + 1);
    const joined = joinOperands(token.text, left, right);
    if ("problem" in joined) throw tokens.error(token, joined.problem);
    left = joined;
  }
}

function parseOperand(tokens: TokenStream): Operand {
  const token = tokens.peek();
  if (tokens.isSign("{")) return { type: "spanset", node: parseFilter(tokens) };
  if (tokens.isSign("(")) return parseParentheses(tokens);
  if (tokens.isSign("-")) return parseNegative(tokens);
  if (token.kind === "int" || token.kind === "float" || token.kind === "duration") {
    tokens.next();
    const at = { start: token.start, end: token.end };
    if (token.kind === "duration") {
      const value = { type: "duration", nanoseconds: token.nanoseconds } as const;
      return { type: "constant", node: { kind: "static", value, at } };
    }
    const value = token.kind === "int" ? ({ type: "int", value: token.value } as const) : undefined;
    return {
      type: "constant",
      node: { kind: "static", value: value ?? { type: "float", value: Number(token.value) }, at },
    };
  }
  if (token.kind === "word" && aggregates.has(token.text)) return { type: "scalar", node: parseAggregate(tokens) };
  throw tokens.unexpected(expectedStage, stageWords);
}

/** `{ … }`. */
function parseFilter(tokens: TokenStream): SpansetFilter {
  const { start } = tokens.expectSign("{");
  const condition = tokens.isSign("}") ? null : parseFieldExpression(tokens);
  const { end } = tokens.expectSign("}");
  return { kind: "spanset-filter", condition, at: { start, end } };
}

function parseParentheses(tokens: TokenStream): Operand {
  const { start } = tokens.nextOperator();
  const inner = parsePipeline(tokens);
  const { end } = tokens.expectSign(")");
  if (inner.type !== "stages") return inner;
  const { stages } = inner;
  const only = stages.length === 1 ? stages[0]! : undefined;
  if (only?.kind === "spanset-filter" || only?.kind === "spanset-operation" || only?.kind === "nested-pipeline") {
    return { type: "spanset", node: only };
  }
  return { type: "spanset", node: { kind: "nested-pipeline", stages, at: { start, end } } };
}

function parseNegative(tokens: TokenStream): Operand {
  const { start } = tokens.nextOperator();
  const operand = parseOperand(tokens);
  if (operand.type !== "constant") throw tokens.error(operand.node.at, "only numbers can be negative here");
  const value = negateConstant(operand.node.value);
  return { type: "constant", node: { kind: "static", value, at: { start, end: tokens.lastEnd } } };
}

function parseAggregate(tokens: TokenStream): Aggregate {
  const { start, text } = tokens.next();
  tokens.expectSign("(");
  const expression = text === "count" ? null : parseFieldExpression(tokens);
  tokens.expectSign(")");
  return { kind: "aggregate", operator: text as AggregateOperator, expression, at: { start, end: tokens.lastEnd } };
}
