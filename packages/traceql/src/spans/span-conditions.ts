/**
 * What a query demands of single spans, so that a store can skip the others: a superset of what matches. Each condition
 * has to be fulfilled by a span of the trace, and a span that fulfils none of them does not change the result.
 */
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { FieldExpression, PipelineStage, SpansetExpression } from "../syntax/ast.ts";
import { isTrue } from "./static-value.ts";

/** Null: every span fulfils it. */
export type SpanCondition = FieldExpression | null;

export interface SpanConditions {
  readonly conditions: readonly SpanCondition[];
  /** Whether a trace needs spans for all of the conditions, or for one of them. */
  readonly combination: "all" | "any";
}

const everySpan: SpanConditions = { conditions: [null], combination: "all" };

/** Whether no trace can fulfil the conditions, as with `{ false }`. */
export function isImpossible({ combination, conditions }: SpanConditions): boolean {
  return combination === "all" ? conditions.some(isConstant) : conditions.every(isConstant);
}

/** Of the constants, only true is fulfilled, and true is null here. */
function isConstant(condition: SpanCondition): boolean {
  return condition?.kind === "static";
}

export function conditionsOf(stages: readonly PipelineStage[]): SpanConditions {
  const [first, ...others] = stages;
  if (first === undefined || !isSpansetExpression(first)) return everySpan;
  if (first.kind !== "spanset-filter") return conditionsOfExpression(first);
  return { conditions: [conjunction([first.condition, ...laterConditions(others)])], combination: "all" };
}

function isSpansetExpression(stage: PipelineStage): stage is SpansetExpression {
  return stage.kind === "spanset-filter" || stage.kind === "spanset-operation" || stage.kind === "nested-pipeline";
}

/** Of filters that follow the first one before a stage that looks at more than single spans. */
function laterConditions(stages: readonly PipelineStage[]): readonly SpanCondition[] {
  const conditions: SpanCondition[] = [];
  for (const stage of stages) {
    if (stage.kind === "spanset-filter") conditions.push(stage.condition);
    else if (stage.kind !== "group-by" && stage.kind !== "select" && stage.kind !== "coalesce") break;
  }
  return conditions;
}

function conditionsOfExpression(expression: SpansetExpression): SpanConditions {
  if (expression.kind === "spanset-filter") {
    return { conditions: [conjunction([expression.condition])], combination: "all" };
  }
  if (expression.kind === "nested-pipeline") return conditionsOf(expression.stages);
  const right = conditionsOfExpression(expression.right);
  // The spans of the left side only exclude others; the whole trace is read anyway.
  if (expression.operator.startsWith("!")) return right;
  const left = conditionsOfExpression(expression.left);
  return expression.operator === "||" ? anyOf(left, right) : allOf(left, right);
}

function allOf(left: SpanConditions, right: SpanConditions): SpanConditions {
  return { conditions: distinct([...inConjunction(left), ...inConjunction(right)]), combination: "all" };
}

/** An alternative becomes one condition that each of its spans fulfils. */
function inConjunction({ combination, conditions }: SpanConditions): readonly SpanCondition[] {
  return combination === "all" ? conditions : [disjunction(conditions)];
}

function anyOf(left: SpanConditions, right: SpanConditions): SpanConditions {
  return { conditions: distinct([...left.conditions, ...right.conditions]), combination: "any" };
}

function distinct(conditions: readonly SpanCondition[]): readonly SpanCondition[] {
  return [...new Set(conditions)];
}

function conjunction(conditions: readonly SpanCondition[]): SpanCondition {
  return conditions.filter((condition) => !isAlwaysTrue(condition)).reduce<SpanCondition>(joined("&&"), null);
}

function isAlwaysTrue(condition: SpanCondition): boolean {
  return condition === null || (condition.kind === "static" && isTrue(condition.value));
}

function disjunction(conditions: readonly SpanCondition[]): SpanCondition {
  return conditions.includes(null) ? null : conditions.reduce(joined("||"), null);
}

function joined(operator: "&&" | "||") {
  return (left: SpanCondition, right: SpanCondition): SpanCondition => {
    if (left === null || right === null) return left ?? right;
    return { kind: "field-operation", operator, left, right, at: nowhere };
  };
}
