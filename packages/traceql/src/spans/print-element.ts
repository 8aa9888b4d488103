/** Writes values and parts of a query as Tempo names them in its answers: `by(resource.service.name)`, `avg(duration)`. */
import { formatGeneral } from "@sounding/promql/syntax/number-literal";
import type { Aggregate, FieldExpression, GroupBy, Intrinsic, StaticValue } from "../syntax/ast.ts";
import type { Field } from "./read-field.ts";

/** A value as text: a duration as Go writes it, strings without quotes. */
export function printValue(value: StaticValue): string {
  switch (value.type) {
    case "nil":
      return "nil";
    case "float":
      return printFloat(value.value);
    case "duration":
      return printGoDuration(value.nanoseconds);
    case "array":
      return `[${value.values.map(printQuoted).join(", ")}]`;
    default:
      return String(value.value);
  }
}

function printQuoted(value: StaticValue): string {
  return value.type === "string" ? `\`${value.value}\`` : printValue(value);
}

/** Never as an integer. */
function printFloat(value: number): string {
  const text = formatGeneral(value);
  return /[.eIN]/.test(text) ? text : `${text}.0`;
}

const second = 1_000_000_000n;

/** `1h2m3.5s`, `10ms`, `0s`. */
export function printGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const length = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (length < 1000n) return `${sign}${length}ns`;
  if (length < 1_000_000n) return `${sign}${decimal(length, 1000n)}µs`;
  if (length < second) return `${sign}${decimal(length, 1_000_000n)}ms`;
  const hours = length / (3600n * second);
  const minutes = (length / (60n * second)) % 60n;
  const seconds = `${decimal(length % (60n * second), second)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : sign + seconds;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}

export function nameOfGroup({ expression }: GroupBy): string {
  return `by(${printExpression(expression)})`;
}

export function nameOfAggregate({ expression, operator }: Aggregate): string {
  return `${operator}(${expression === null ? "" : printExpression(expression)})`;
}

function printExpression(expression: FieldExpression): string {
  switch (expression.kind) {
    case "static":
      return printQuoted(expression.value);
    case "intrinsic":
      return nameOfIntrinsic(expression.intrinsic);
    case "attribute":
      return printField(expression);
    case "unary":
      return expression.operator + printOperand(expression.operand);
    case "field-operation":
      return `${printOperand(expression.left)} ${expression.operator} ${printOperand(expression.right)}`;
  }
}

function printOperand(expression: FieldExpression): string {
  const text = printExpression(expression);
  return expression.kind === "unary" || expression.kind === "field-operation" ? `(${text})` : text;
}

/** As a query writes it. */
export function printField(field: Field): string {
  if (field.kind === "intrinsic") return nameOfIntrinsic(field.intrinsic);
  const scopes = [...(field.ofParent ? ["parent"] : []), ...(field.scope === null ? [] : [field.scope])];
  const name = needsQuotes(field.name) ? `"${field.name.replace(/[\\"]/g, "\\$&")}"` : field.name;
  return `${scopes.join(".")}.${name}`;
}

/** Characters that end an attribute's name. */
function needsQuotes(name: string): boolean {
  return name === "" || /[\s{}()=~!<>&|^,"]/.test(name);
}

/** The name of a field among the attributes of a span in an answer. */
export function keyOfField(field: Field): string {
  return field.kind === "intrinsic" ? nameOfIntrinsic(field.intrinsic) : field.name;
}

function nameOfIntrinsic(intrinsic: Intrinsic): string {
  return intrinsic === "childCount" ? "span:childCount" : intrinsic;
}
