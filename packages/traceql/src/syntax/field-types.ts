/** The types of expressions, as far as a query shows them: those of attributes are known only span by span. */
import type { FieldExpression, FieldOperation, Intrinsic, ScalarExpression, StaticValue } from "./ast.ts";

/** `attribute`: depends on the span. */
export type FieldType = "attribute" | StaticValue["type"];

const typesOfIntrinsics: Readonly<Record<Intrinsic, FieldType>> = {
  duration: "duration",
  name: "string",
  status: "status",
  statusMessage: "string",
  kind: "kind",
  childCount: "int",
  parent: "nil",
  rootName: "string",
  rootServiceName: "string",
  traceDuration: "duration",
  nestedSetLeft: "int",
  nestedSetRight: "int",
  nestedSetParent: "int",
  "trace:id": "string",
  "span:id": "string",
  "span:parentID": "string",
  "event:name": "string",
  "event:timeSinceStart": "duration",
  "link:traceID": "string",
  "link:spanID": "string",
  // As in Tempo, these two may be compared with anything.
  "instrumentation:name": "attribute",
  "instrumentation:version": "attribute",
};

const arithmetic = new Set<string>(["+", "-", "*", "/", "%", "^"]);
const equality = new Set<string>(["=", "!="]);
const order = new Set<string>(["<", "<=", ">", ">="]);
const regexes = new Set<string>(["=~", "!~"]);
const logic = new Set<string>(["&&", "||"]);

export function isNumeric(type: FieldType): boolean {
  return type === "int" || type === "float" || type === "duration";
}

export function isRegexOperator(operator: FieldOperation["operator"]): operator is "=~" | "!~" {
  return regexes.has(operator);
}

/** Whether the expression is a comparison with nil: of whether something exists. */
export function isNilComparison(expression: FieldOperation): boolean {
  return [expression.left, expression.right].some((side) => side.kind === "static" && side.value.type === "nil");
}

export function typeOfField(expression: FieldExpression): FieldType {
  switch (expression.kind) {
    case "attribute":
      return "attribute";
    case "intrinsic":
      return typesOfIntrinsics[expression.intrinsic];
    case "static":
      return expression.value.type;
    case "unary":
      return typeOfField(expression.operand);
    case "field-operation": {
      if (!arithmetic.has(expression.operator)) return "boolean";
      const left = typeOfField(expression.left);
      return left === "attribute" ? typeOfField(expression.right) : left;
    }
  }
}

export function typeOfScalar(expression: ScalarExpression): FieldType {
  switch (expression.kind) {
    case "static":
      return expression.value.type;
    case "aggregate":
      return expression.expression === null ? "int" : typeOfField(expression.expression);
    case "scalar-pipeline":
      return typeOfScalar(expression.scalar);
    case "scalar-operation": {
      const left = typeOfScalar(expression.left);
      return left === "attribute" ? typeOfScalar(expression.right) : left;
    }
  }
}

/** Whether two types can stand on the sides of an operator. */
export function areComparable(left: FieldType, right: FieldType): boolean {
  if (left === "attribute" || right === "attribute" || left === right) return true;
  return (isNumeric(left) && isNumeric(right)) || left === "nil" || right === "nil";
}

/** Whether an operator can work on a type. */
export function acceptsType(operator: FieldOperation["operator"], type: FieldType): boolean {
  switch (type) {
    case "attribute":
      return true;
    case "boolean":
      return logic.has(operator) || equality.has(operator);
    case "int":
    case "float":
    case "duration":
      return arithmetic.has(operator) || equality.has(operator) || order.has(operator);
    case "string":
      return equality.has(operator) || order.has(operator) || regexes.has(operator);
    case "nil":
    case "status":
    case "kind":
      return equality.has(operator);
    case "array":
      return false;
  }
}

/** Whether an expression reads anything from the span. */
export function readsSpan(expression: FieldExpression): boolean {
  switch (expression.kind) {
    case "attribute":
    case "intrinsic":
      return true;
    case "static":
      return false;
    case "unary":
      return readsSpan(expression.operand);
    case "field-operation":
      return readsSpan(expression.left) || readsSpan(expression.right);
  }
}
