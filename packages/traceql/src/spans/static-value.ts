/** Values of TraceQL: comparison and arithmetic, with Tempo's rules for operands of different types. */
import type { ArithmeticOperator, ComparisonOperator, StaticValue } from "../syntax/ast.ts";

export const nil: StaticValue = Object.freeze({ type: "nil" });
const truthy: StaticValue = Object.freeze({ type: "boolean", value: true });
const falsy: StaticValue = Object.freeze({ type: "boolean", value: false });

export function booleanValue(value: boolean): StaticValue {
  return value ? truthy : falsy;
}

export function stringValue(value: string): StaticValue {
  return { type: "string", value };
}

export function intValue(value: number): StaticValue {
  return { type: "int", value: BigInt(value) };
}

export function durationValue(nanoseconds: bigint): StaticValue {
  return { type: "duration", nanoseconds };
}

export function isTrue(value: StaticValue): boolean {
  return value.type === "boolean" && value.value;
}

/** The number of an int, a float or a duration (nanoseconds); undefined for other types. */
export function numberOf(value: StaticValue): number | bigint | undefined {
  switch (value.type) {
    case "int":
    case "float":
      return value.value;
    case "duration":
      return value.nanoseconds;
    default:
      return undefined;
  }
}

/** The comparisons that are not regular expressions. */
export type OrderOperator = Exclude<ComparisonOperator, "=~" | "!~">;

/**
 * Whether a comparison holds. Numbers of all types compare with each other; other operands of different types, and nil,
 * fulfil no comparison, not even `!=`. Of an array, any element must fulfil the comparison; for `!=`, all elements.
 */
export function compareValues(operator: OrderOperator, left: StaticValue, right: StaticValue): boolean {
  if (left.type === "array") {
    const holds = (element: StaticValue): boolean => compareValues(operator, element, right);
    return operator === "!=" ? right.type !== "nil" && left.values.every(holds) : left.values.some(holds);
  }
  if (right.type === "array") {
    const holds = (element: StaticValue): boolean => compareValues(operator, left, element);
    return operator === "!=" ? left.type !== "nil" && right.values.every(holds) : right.values.some(holds);
  }
  return compareScalars(operator, left, right);
}

function compareScalars(operator: OrderOperator, left: StaticValue, right: StaticValue): boolean {
  if (left.type === "string") return right.type === "string" && inOrder(operator, left.value, right.value);
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)];
  if (leftNumber !== undefined) {
    return rightNumber !== undefined && compareNumbers(operator, leftNumber, rightNumber);
  }
  switch (left.type) {
    case "boolean":
    case "status":
    case "kind":
      if (right.type !== left.type) return false;
      return operator === "=" ? left.value === right.value : operator === "!=" && left.value !== right.value;
    default:
      return false;
  }
}

function compareNumbers(operator: OrderOperator, left: number | bigint, right: number | bigint): boolean {
  if (typeof left === typeof right) return inOrder(operator, left, right);
  return inOrder(operator, Number(left), Number(right));
}

/** Both of one type. */
function inOrder(operator: OrderOperator, left: string | number | bigint, right: string | number | bigint): boolean {
  switch (operator) {
    case "=":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

/**
 * Two ints give an int of 64 bits, other numbers a float; durations count as nanoseconds. Nil for other operands and for an
 * int that is divided by zero.
 */
export function calculate(operator: ArithmeticOperator, left: StaticValue, right: StaticValue): StaticValue {
  if (left.type === "int" && right.type === "int") return calculateInts(operator, left.value, right.value);
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)];
  if (leftNumber === undefined || rightNumber === undefined) return nil;
  return { type: "float", value: calculateFloats(operator, Number(leftNumber), Number(rightNumber)) };
}

function calculateInts(operator: ArithmeticOperator, left: bigint, right: bigint): StaticValue {
  if (right === 0n && (operator === "/" || operator === "%")) return nil;
  return { type: "int", value: wrappedInts(operator, left, right) };
}

function wrappedInts(operator: ArithmeticOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case "+":
      return BigInt.asIntN(64, left + right);
    case "-":
      return BigInt.asIntN(64, left - right);
    case "*":
      return BigInt.asIntN(64, left * right);
    case "/":
      return BigInt.asIntN(64, left / right);
    case "%":
      return left % right;
    case "^":
      return truncated(Number(left) ** Number(right));
  }
}

const largestInt = 2n ** 63n - 1n;

function truncated(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (Math.abs(value) >= 2 ** 63) return value > 0 ? largestInt : -largestInt - 1n;
  return BigInt(Math.trunc(value));
}

function calculateFloats(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "^":
      return left ** right;
  }
}

/** `-value`; nil for what is no number. */
export function negated(value: StaticValue): StaticValue {
  switch (value.type) {
    case "int":
      return { type: "int", value: BigInt.asIntN(64, -value.value) };
    case "float":
      return { type: "float", value: -value.value };
    case "duration":
      return durationValue(-value.nanoseconds);
    default:
      return nil;
  }
}

/** Equal for equal values of the same type only, as groups of `by()` need. */
export function keyOf(value: StaticValue): string {
  switch (value.type) {
    case "nil":
      return "nil";
    case "duration":
      return `duration:${value.nanoseconds}`;
    case "array":
      return `array:${value.values
        .map(keyOf)
        .map((key) => `${key.length}:${key}`)
        .join("")}`;
    default:
      return `${value.type}:${value.value}`;
  }
}
