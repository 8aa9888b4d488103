/** Prints expressions on one span and constants, with the parentheses that they need. */
import { formatGeneral } from "@sounding/promql/syntax/number-literal";
import { quoteString } from "@sounding/promql/syntax/string-literal";
import type { AttributeField, FieldExpression, IntrinsicField, StaticValue } from "./ast.ts";
import { printAttributeName } from "./attribute-name.ts";
import { formatDurationNano } from "./duration.ts";
import { intrinsicName } from "./intrinsics.ts";
import { fieldPrecedence } from "./parse-field.ts";

/** Arithmetic on the left or right of which a negated operand would swallow the rest. */
const lowestArithmetic = fieldPrecedence["+"];

export function printFieldExpression(expression: FieldExpression): string {
  switch (expression.kind) {
    case "static":
      return printStatic(expression.value);
    case "attribute":
    case "intrinsic":
      return printField(expression);
    case "unary": {
      const operand = printFieldExpression(expression.operand);
      const { kind } = expression.operand;
      const isSimple = kind !== "field-operation" && kind !== "unary";
      return `${expression.operator}${isSimple ? operand : `(${operand})`}`;
    }
    case "field-operation": {
      const precedence = fieldPrecedence[expression.operator];
      const isRightAssociative = expression.operator === "^";
      const left = printOperand(expression.left, isRightAssociative ? precedence + 1 : precedence);
      const right = printOperand(expression.right, isRightAssociative ? precedence : precedence + 1);
      return `${left} ${expression.operator} ${right}`;
    }
  }
}

function printOperand(operand: FieldExpression, lowest: number): string {
  const printed = printFieldExpression(operand);
  const isLoose = operand.kind === "field-operation" && fieldPrecedence[operand.operator] < lowest;
  return isLoose || (operand.kind === "unary" && lowest >= lowestArithmetic) ? `(${printed})` : printed;
}

/** A field as a query writes it; labels of series have these names, too. */
export function printField(field: AttributeField | IntrinsicField): string {
  if (field.kind === "intrinsic") return intrinsicName(field.intrinsic);
  const scope = `${field.ofParent ? "parent" : ""}${field.ofParent && field.scope !== null ? "." : ""}${field.scope ?? ""}`;
  return `${scope}.${printAttributeName(field.name, { isUnscoped: field.scope === null })}`;
}

export function printStatic(value: StaticValue): string {
  switch (value.type) {
    case "nil":
      return "nil";
    case "string":
      return quoteString(value.value);
    case "int":
      return value.value === -(2n ** 63n) ? "minInt" : String(value.value);
    case "float":
      return printFloat(value.value);
    case "boolean":
    case "status":
    case "kind":
      return String(value.value);
    case "duration":
      return formatDurationNano(value.nanoseconds);
    case "array":
      return `[${value.values.map(printStatic).join(", ")}]`;
  }
}

/** Number literals are finite: the other values come from divisions by zero. */
export function printQuotientByZero(value: number): string {
  return `(${value > 0 ? "1.0" : value < 0 ? "-1.0" : "0.0"} / 0)`;
}

function printFloat(value: number): string {
  if (!Number.isFinite(value)) return printQuotientByZero(value);
  const text = formatGeneral(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
