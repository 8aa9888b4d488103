/** Checks expressions on one span: the types of operands, regular expressions, what Tempo does not support. */
import type { AttributeField, FieldExpression, FieldOperation, IntrinsicField, UnaryOperation } from "./ast.ts";
import { invalidQuery } from "./parse-error.ts";
import { printField, printFieldExpression } from "./print-field.ts";
import type { RegexChecker } from "./regex-checker.ts";
import { acceptsType, areComparable, isNilComparison, isNumeric, isRegexOperator, typeOfField } from "./field-types.ts";

/** What Tempo can parse but not evaluate, and neither can the engine. */
export function unsupported(feature: string): Error {
  return invalidQuery(`${feature} not yet supported`);
}

export function checkField(field: AttributeField | IntrinsicField): void {
  if (field.kind === "attribute" && field.ofParent) throw unsupported("parent");
  if (field.kind === "intrinsic" && field.intrinsic === "parent") throw unsupported("intrinsic (parent)");
}

export function checkFieldExpression(expression: FieldExpression, regexes: RegexChecker): void {
  switch (expression.kind) {
    case "static":
      return;
    case "attribute":
    case "intrinsic":
      return checkField(expression);
    case "unary":
      checkFieldExpression(expression.operand, regexes);
      return checkUnary(expression);
    case "field-operation":
      checkFieldExpression(expression.left, regexes);
      checkFieldExpression(expression.right, regexes);
      return isNilComparison(expression) ? checkNilComparison(expression) : checkOperation(expression, regexes);
  }
}

function checkUnary(expression: UnaryOperation): void {
  const type = typeOfField(expression.operand);
  const isValid = type === "attribute" || (expression.operator === "-" ? isNumeric(type) : type === "boolean");
  if (!isValid) throw invalidQuery(`illegal operation for the given type: ${printFieldExpression(expression)}`);
}

function checkNilComparison(expression: FieldOperation): void {
  if (expression.operator !== "=") return;
  const { left, right } = expression;
  const operand = left.kind === "static" ? right : left;
  if (operand.kind !== "attribute" && operand.kind !== "intrinsic") return;
  const isService = operand.kind === "attribute" && operand.scope === "resource" && operand.name === "service.name";
  const name = printField(operand);
  if (operand.kind === "intrinsic") throw invalidQuery(`${name}=nil is not valid because intrinsics cannot be nil`);
  if (isService) throw invalidQuery(`${name}=nil is not valid because resource.service.name cannot be nil`);
}

function checkOperation(expression: FieldOperation, regexes: RegexChecker): void {
  const { left, operator, right } = expression;
  const leftType = typeOfField(left);
  const rightType = typeOfField(right);
  if (!areComparable(leftType, rightType)) {
    throw invalidQuery(`binary operations must operate on the same type: ${printFieldExpression(expression)}`);
  }
  if (!acceptsType(operator, leftType) || !acceptsType(operator, rightType)) {
    throw invalidQuery(`illegal operation for the given types: ${printFieldExpression(expression)}`);
  }
  if (!isRegexOperator(operator)) return;
  if (right.kind !== "static" || right.value.type !== "string") {
    throw invalidQuery(`the right side of ${operator} must be a string: ${printFieldExpression(expression)}`);
  }
  regexes.check(right.value.value);
}
