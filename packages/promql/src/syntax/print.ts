/**
 * The printer: a tree back to text that parses to the same tree. Parentheses that a tree built by hand lacks but
 * needs are added. Every string is quoted here, so no value can change a query's structure.
 */
import type {
  Aggregation,
  BinaryExpression,
  DurationExpression,
  Expression,
  LabelMatcher,
  Subquery,
  VectorMatching,
  VectorSelector,
} from "./ast.ts";
import { formatDuration } from "./duration.ts";
import { formatPlain } from "./number-literal.ts";
import { quoteString } from "./string-literal.ts";
import { binaryOperators, keywords, reservedWords } from "./token.ts";

/** The query's text. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case "number":
      return expression.isDuration ? formatDuration(toMs(expression.value)) : formatPlain(expression.value);
    case "string":
      return quoteString(expression.value);
    case "vector-selector":
      return `${printMatchers(expression)}${printSelectorModifiers(expression)}`;
    case "matrix-selector": {
      const { selector, range } = expression;
      return `${printMatchers(selector)}[${printDuration(range)}]${printSelectorModifiers(selector)}`;
    }
    case "subquery":
      return printSubquery(expression);
    case "aggregation":
      return printAggregation(expression);
    case "binary":
      return printBinary(expression);
    case "unary":
      return `${expression.operator}${printUnaryOperand(expression.operand)}`;
    case "call":
      return `${expression.function}(${expression.arguments.map(printExpression).join(", ")})`;
    case "parentheses":
      return `(${printExpression(expression.inner)})`;
  }
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}

function printMatchers(selector: VectorSelector): string {
  const { name } = selector;
  const isWord = name !== null && /^[A-Za-z_:][\w:]*$/.test(name) && !reservedWords.has(name.toLowerCase());
  // A name that is not a word goes into the braces, where it can be quoted.
  const matchers = isWord ? selector.matchers.slice(0, -1) : selector.matchers;
  const braces = matchers.length > 0 || !isWord ? `{${matchers.map(printMatcher).join(",")}}` : "";
  return `${isWord ? name : ""}${braces}`;
}

function printMatcher(matcher: LabelMatcher): string {
  const isWord = /^[A-Za-z_]\w*$/.test(matcher.name);
  return `${isWord ? matcher.name : quoteString(matcher.name)}${matcher.operator}${quoteString(matcher.value)}`;
}

function printSelectorModifiers(selector: VectorSelector): string {
  const boundary = selector.boundary === null ? "" : ` ${selector.boundary}`;
  return `${boundary}${printTimeModifiers(selector)}`;
}

function printTimeModifiers(node: Pick<VectorSelector, "offset" | "atTime">): string {
  const { atTime } = node;
  const atText = atTime === null ? "" : ` @ ${typeof atTime === "number" ? (atTime / 1000).toFixed(3) : `${atTime}()`}`;
  return `${atText}${node.offset === null ? "" : ` offset ${printOffset(node.offset)}`}`;
}

/** Only one operand may follow `offset`; sums and the like need parentheses. */
function printOffset(duration: DurationExpression): string {
  const needsParentheses =
    duration.kind === "duration-arithmetic" ||
    (duration.kind === "duration-negation" && duration.operand.kind === "duration-arithmetic");
  return needsParentheses ? `(${printDuration(duration)})` : printDuration(duration);
}

const durationStrength = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4 } as const;

function printDuration(duration: DurationExpression): string {
  switch (duration.kind) {
    case "duration-number":
      return duration.isDuration ? formatDuration(toMs(duration.seconds)) : formatPlain(duration.seconds);
    case "duration-context":
      return `${duration.word}()`;
    case "duration-choice":
      return `${duration.word}(${printDuration(duration.left)}, ${printDuration(duration.right)})`;
    case "duration-negation":
      return `-${printDurationOperand(duration.operand, durationStrength["^"])}`;
    case "duration-parentheses":
      return `(${printDuration(duration.inner)})`;
    case "duration-arithmetic": {
      const strength = durationStrength[duration.operator];
      const isPower = duration.operator === "^";
      const left = printDurationOperand(duration.left, isPower ? strength + 1 : strength);
      const right = printDurationOperand(duration.right, isPower ? strength : strength + 1);
      return `${left} ${duration.operator} ${right}`;
    }
  }
}

function printDurationOperand(duration: DurationExpression, minimum: number): string {
  const isNegative =
    duration.kind === "duration-negation" || (duration.kind === "duration-number" && duration.seconds < 0);
  const isWeak =
    (duration.kind === "duration-arithmetic" && durationStrength[duration.operator] < minimum) ||
    (isNegative && minimum > durationStrength["^"]);
  return isWeak ? `(${printDuration(duration)})` : printDuration(duration);
}

function printSubquery(subquery: Subquery): string {
  const inner = subquery.expression;
  const isOpen = inner.kind === "binary" || inner.kind === "unary";
  const step = subquery.step === null ? "" : printDuration(subquery.step);
  const text = isOpen ? `(${printExpression(inner)})` : printExpression(inner);
  return `${text}[${printDuration(subquery.range)}:${step}]${printTimeModifiers(subquery)}`;
}

function printAggregation(aggregation: Aggregation): string {
  const { grouping, operator, parameter, without } = aggregation;
  const clause = without || grouping.length > 0 ? ` ${without ? "without" : "by"} ${printLabels(grouping)} ` : "";
  const prefix = parameter === null ? "" : `${printExpression(parameter)}, `;
  return `${operator}${clause}(${prefix}${printExpression(aggregation.expression)})`;
}

function printLabels(labels: readonly string[]): string {
  const printed = labels.map((label) =>
    /^[A-Za-z_]\w*$/.test(label) && !isNumberWord(label) ? label : quoteString(label),
  );
  return `(${printed.join(", ")})`;
}

/** `inf` and `nan` are numbers outside braces. `without` is a keyword that the grammar does not take as a label. */
function isNumberWord(label: string): boolean {
  const lowered = label.toLowerCase();
  return lowered === "inf" || lowered === "nan" || (lowered === "without" && keywords.has(lowered));
}

const strengthOf = new Map<string, number>(
  binaryOperators.flatMap((row, index) => row.map((operator) => [operator, index + 1] as const)),
);
const powerStrength = strengthOf.get("^")!;

function printBinary(binary: BinaryExpression): string {
  const strength = strengthOf.get(binary.operator)!;
  const isPower = strength === powerStrength;
  const printed = printOperand(binary.left, isPower ? strength + 1 : strength);
  const right = printOperand(binary.right, isPower ? strength : strength + 1);
  const wouldGoOn = Object.hasOwn(durationStrength, binary.operator) && startsLikeDuration.test(right);
  const left = wouldGoOn && endsInOpenOffset(binary.left) ? `(${printed})` : printed;
  const bool = binary.returnBool ? " bool" : "";
  return `${left} ${binary.operator}${bool}${printMatching(binary.matching)} ${right}`;
}

const startsLikeDuration = /^(?:[\d.]|inf\b|nan\b|(?:step|range|min_of|max_of)\()/i;

/** Whether the text ends in a parenthesized offset, which an operator and a number after it would extend. */
function endsInOpenOffset(expression: Expression): boolean {
  switch (expression.kind) {
    case "vector-selector":
    case "subquery":
      return expression.offset?.kind === "duration-parentheses" || expression.offset?.kind === "duration-arithmetic";
    case "matrix-selector":
      return endsInOpenOffset(expression.selector);
    case "unary":
      return endsInOpenOffset(expression.operand);
    case "binary":
      return endsInOpenOffset(expression.right);
    default:
      return false;
  }
}

function printOperand(expression: Expression, minimum: number): string {
  const isWeak =
    (expression.kind === "binary" && strengthOf.get(expression.operator)! < minimum) ||
    // A sign binds less strongly than a power to its right.
    (isSigned(expression) && minimum > powerStrength);
  return isWeak ? `(${printExpression(expression)})` : printExpression(expression);
}

function isSigned(expression: Expression): boolean {
  if (expression.kind === "unary") return true;
  return (
    expression.kind === "number" &&
    (expression.value < 0 || Object.is(expression.value, -0) || expression.value === Infinity)
  );
}

function printUnaryOperand(operand: Expression): string {
  // A sign before a number would become part of the number.
  const isOpen = operand.kind === "number" || (operand.kind === "binary" && operand.operator !== "^");
  return isOpen ? `(${printExpression(operand)})` : printExpression(operand);
}

function printMatching(matching: VectorMatching | null): string {
  if (matching === null) return "";
  const { cardinality, fillLeft, fillRight, include, labels, on } = matching;
  const isGrouped = cardinality === "many-to-one" || cardinality === "one-to-many";
  let text = "";
  if (labels.length > 0 || on || isGrouped) text += ` ${on ? "on" : "ignoring"} ${printLabels(labels)}`;
  if (isGrouped) text += ` group_${cardinality === "many-to-one" ? "left" : "right"} ${printLabels(include)}`;
  if (fillLeft !== null && Object.is(fillLeft, fillRight)) return `${text} fill (${formatPlain(fillLeft)})`;
  if (fillLeft !== null) text += ` fill_left (${formatPlain(fillLeft)})`;
  if (fillRight !== null) text += ` fill_right (${formatPlain(fillRight)})`;
  return text;
}
