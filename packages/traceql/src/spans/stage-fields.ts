/** The fields that stages read, and with which comparisons. */
import type { FieldExpression, PipelineStage, ScalarExpression, SpansetExpression } from "../syntax/ast.ts";
import { isComparison } from "./compile-field.ts";
import { fieldKey, type Field } from "./read-field.ts";

export interface FieldRead {
  readonly field: Field;
  /** The comparison with a constant in which it stands; null if it is read in another way. */
  readonly comparison: FieldExpression | null;
}

/** Every reading of a field, in the order of the query. */
export function readsOfStages(stages: readonly PipelineStage[]): readonly FieldRead[] {
  return stages.flatMap(readsOfStage);
}

function readsOfStage(stage: PipelineStage): readonly FieldRead[] {
  switch (stage.kind) {
    case "spanset-filter":
      return stage.condition === null ? [] : readsOf(stage.condition);
    case "spanset-operation":
      return readsOfStages([stage.left, stage.right]);
    case "nested-pipeline":
      return readsOfStages(stage.stages);
    case "scalar-filter":
      return [...readsOfScalar(stage.left), ...readsOfScalar(stage.right)];
    case "group-by":
      return readsOf(stage.expression);
    case "coalesce":
      return [];
    case "select":
      return stage.fields.map((field) => ({ field, comparison: null }));
  }
}

function readsOfScalar(expression: ScalarExpression): readonly FieldRead[] {
  switch (expression.kind) {
    case "static":
      return [];
    case "aggregate":
      return expression.expression === null ? [] : readsOf(expression.expression);
    case "scalar-operation":
      return [...readsOfScalar(expression.left), ...readsOfScalar(expression.right)];
    case "scalar-pipeline":
      return [...readsOfStages(expression.stages), ...readsOfScalar(expression.scalar)];
  }
}

function readsOf(expression: FieldExpression): readonly FieldRead[] {
  switch (expression.kind) {
    case "static":
      return [];
    case "intrinsic":
    case "attribute":
      return [{ field: expression, comparison: null }];
    case "unary":
      return readsOf(expression.operand).map(({ field }) => ({ field, comparison: null }));
    case "field-operation": {
      const { left, right } = expression;
      const [field, other] = isField(left) ? [left, right] : [right, left];
      if (isComparison(expression) && isField(field) && other.kind === "static") {
        return [{ field, comparison: expression }];
      }
      return [...readsOf(left), ...readsOf(right)];
    }
  }
}

function isField(expression: FieldExpression): expression is Field {
  return expression.kind === "intrinsic" || expression.kind === "attribute";
}

/** Without repetitions. */
export function distinctFields(fields: readonly Field[]): readonly Field[] {
  return [...new Map(fields.map((field) => [fieldKey(field), field])).values()];
}

/** Whether a stage, or one inside of it, relates spans to each other. */
export function hasStructure(stages: readonly PipelineStage[]): boolean {
  return stages.some((stage) => {
    if (stage.kind === "nested-pipeline") return hasStructure(stage.stages);
    if (stage.kind === "scalar-filter") return [stage.left, stage.right].some(isStructuralScalar);
    return stage.kind === "spanset-operation" && isStructural(stage);
  });
}

function isStructural(expression: SpansetExpression): boolean {
  if (expression.kind !== "spanset-operation") return hasStructure([expression]);
  const { left, operator, right } = expression;
  return (operator !== "&&" && operator !== "||") || isStructural(left) || isStructural(right);
}

function isStructuralScalar(expression: ScalarExpression): boolean {
  if (expression.kind === "scalar-operation") return [expression.left, expression.right].some(isStructuralScalar);
  return (
    expression.kind === "scalar-pipeline" && (hasStructure(expression.stages) || isStructuralScalar(expression.scalar))
  );
}
