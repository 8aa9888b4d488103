/** Prints a TraceQL tree as a query that parses to the same tree. */
import { formatGeneral } from "@sounding/promql/syntax/number-literal";
import type {
  MetricsAggregate,
  MetricsCompare,
  MetricsExpression,
  MetricsSecondStage,
  PipelineStage,
  ScalarExpression,
  SpansetExpression,
  TraceqlQuery,
} from "./ast.ts";
import { precedenceOf } from "./operand.ts";
import { printField, printFieldExpression, printQuotientByZero, printStatic } from "./print-field.ts";

export function printQuery(query: TraceqlQuery): string {
  const body = query.kind === "search-query" ? printStages(query.stages) : printMetrics(query.expression);
  if (query.hints.length === 0) return body;
  return `${body} with(${query.hints.map(({ name, value }) => `${name}=${printStatic(value)}`).join(", ")})`;
}

function printStages(stages: readonly PipelineStage[]): string {
  return stages.map(printStage).join(" | ");
}

export function printStage(stage: PipelineStage): string {
  switch (stage.kind) {
    case "spanset-filter":
    case "spanset-operation":
    case "nested-pipeline":
      return printSpansets(stage);
    case "scalar-filter":
      return `${printScalar(stage.left)} ${stage.operator} ${printScalar(stage.right)}`;
    case "group-by":
      return `by(${printFieldExpression(stage.expression)})`;
    case "coalesce":
      return "coalesce()";
    case "select":
      return `select(${stage.fields.map(printField).join(", ")})`;
  }
}

function printSpansets(expression: SpansetExpression): string {
  switch (expression.kind) {
    case "spanset-filter":
      return expression.condition === null ? "{ }" : `{ ${printFieldExpression(expression.condition)} }`;
    case "nested-pipeline":
      return `(${printStages(expression.stages)})`;
    case "spanset-operation": {
      const { left, operator, right } = expression;
      const precedence = precedenceOf(operator)!;
      const isLoose = (operand: SpansetExpression, lowest: number): boolean =>
        operand.kind === "spanset-operation" && precedenceOf(operand.operator)! < lowest;
      return [
        parenthesizedIf(isLoose(left, precedence), printSpansets(left)),
        operator,
        parenthesizedIf(isLoose(right, precedence + 1), printSpansets(right)),
      ].join(" ");
    }
  }
}

function parenthesizedIf(condition: boolean, text: string): string {
  return condition ? `(${text})` : text;
}

export function printScalar(expression: ScalarExpression): string {
  switch (expression.kind) {
    case "static":
      return printStatic(expression.value);
    case "aggregate": {
      const { expression: inner, operator } = expression;
      return `${operator}(${inner === null ? "" : printFieldExpression(inner)})`;
    }
    case "scalar-pipeline":
      return `(${printStages(expression.stages)} | ${printScalar(expression.scalar)})`;
    case "scalar-operation": {
      const { left, operator, right } = expression;
      const precedence = precedenceOf(operator)!;
      const isPower = operator === "^";
      const isLoose = (operand: ScalarExpression, lowest: number): boolean =>
        operand.kind === "scalar-operation" && precedenceOf(operand.operator)! < lowest;
      return [
        parenthesizedIf(isLoose(left, isPower ? precedence + 1 : precedence), printScalar(left)),
        operator,
        parenthesizedIf(isLoose(right, isPower ? precedence : precedence + 1), printScalar(right)),
      ].join(" ");
    }
  }
}

/** At the root, and so without parentheses where none are needed. */
export function printMetrics(expression: MetricsExpression): string {
  const { secondStages } = expression;
  const lastScalar = secondStages.findLastIndex(({ kind }) => kind === "metrics-scalar");
  const rest = secondStages.slice(lastScalar + 1);
  const inner = lastScalar === -1 ? printWithoutStages(expression) : printUpTo(expression, lastScalar);
  return `${inner}${rest.map(printSecondStage).join("")}`;
}

/** With the second stages up to a scalar operation. */
function printUpTo(expression: MetricsExpression, index: number): string {
  const stage = expression.secondStages[index]!;
  const before = { ...expression, secondStages: expression.secondStages.slice(0, index) };
  if (stage.kind !== "metrics-scalar") throw new Error("not a scalar operation");
  const value = printNumber(stage.value);
  const operand = `(${printMetrics(before)})`;
  return stage.isLeft ? `${value} ${stage.operator} ${operand}` : `${operand} ${stage.operator} ${value}`;
}

function printWithoutStages(expression: MetricsExpression): string {
  if (expression.kind === "metrics-operation") {
    const { left, operator, right } = expression;
    return `(${printMetrics(left)}) ${operator} (${printMetrics(right)})`;
  }
  return `${printStages(expression.stages)} | ${printMetricsStage(expression.aggregate)}`;
}

export function printMetricsStage(stage: MetricsAggregate | MetricsCompare): string {
  if (stage.kind === "metrics-compare") {
    const { endUnixNano, selection, startUnixNano, topN } = stage;
    const times = startUnixNano === null ? "" : `, ${startUnixNano}, ${endUnixNano}`;
    const top = topN === 10 && times === "" ? "" : `, ${topN}`;
    return `compare(${printSpansets(selection)}${top}${times})`;
  }
  const fields = stage.field === null ? [] : [printField(stage.field)];
  const values = [...fields, ...stage.quantiles.map(formatGeneral)].join(", ");
  const by = stage.by.length === 0 ? "" : ` by (${stage.by.map(printField).join(", ")})`;
  return `${stage.operator}(${values})${by}`;
}

function printNumber(value: number): string {
  return Number.isFinite(value) ? formatGeneral(value) : printQuotientByZero(value);
}

function printSecondStage(stage: MetricsSecondStage): string {
  switch (stage.kind) {
    case "metrics-choice":
      return ` | ${stage.operator}(${stage.count})`;
    case "metrics-filter":
    case "metrics-scalar":
      return ` ${stage.operator} ${printNumber(stage.value)}`;
  }
}
