/**
 * The parser: a query's text to a typed, frozen tree. Recursive descent with operator precedence, after Prometheus'
 * grammar (promql/parser/generated_parser.y); why not its lezer grammar: docs/adr/0025-promql-and-metrics.md.
 */
import { inputLimit } from "../input-limit.ts";
import type { Aggregation, BinaryExpression, Expression, NumberLiteral, VectorMatching } from "./ast.ts";
import { checkTypes, typeOf } from "./check.ts";
import { functionSignatures, renamedFunctions } from "./functions.ts";
import { tokenize } from "./lexer.ts";
import { parseBinaryModifiers, parseLabelList } from "./parse-binary.ts";
import { literalSeconds } from "./parse-duration-expression.ts";
import { suggestion } from "./parse-error.ts";
import { parseModifiers } from "./parse-modifiers.ts";
import { parseVectorSelector, stringValue } from "./parse-selector.ts";
import {
  aggregationOperators,
  binaryOperators,
  reservedWords,
  type AggregationOperator,
  type BinaryOperator,
} from "./token.ts";
import { TokenStream } from "./token-stream.ts";

/** How deeply expressions may be nested; deeper nesting would only exhaust the stack. */
const maximumDepth = inputLimit({
  area: "PromQL",
  bounds: "Levels of nesting of a query",
  value: 200,
  error: "invalid_request",
});

const strengthOf = new Map<string, number>(
  binaryOperators.flatMap((row, index) => row.map((operator) => [operator, index + 1] as const)),
);
/** A sign binds as strongly as a product: `-2 ^ 2` is `-(2 ^ 2)`. */
const unaryStrength = strengthOf.get("*")!;
const powerStrength = strengthOf.get("^")!;

const withParameter: ReadonlySet<string> = new Set([
  "topk",
  "bottomk",
  "count_values",
  "quantile",
  "limitk",
  "limit_ratio",
]);

/** The tree of a query of our own; throws a QueryError `invalid_request` with the position of the problem. */
export function parseExpression(text: string): Expression {
  const expression = parseTree(text);
  checkTypes(expression, text);
  return expression;
}

/** The tree before its types and regular expressions are checked. */
export function parseTree(text: string): Expression {
  const stream = new TokenStream(text, tokenize(text));
  if (stream.peek().kind === "end") throw stream.error({ start: 0, end: 0 }, "no expression found in input");
  const expression = parseOperators({ stream, depth: 0 }, 0);
  if (stream.peek().kind !== "end") throw stream.unexpected("");
  return expression;
}

interface Cursor {
  readonly stream: TokenStream;
  readonly depth: number;
}

function deeper(cursor: Cursor): Cursor {
  if (cursor.depth < maximumDepth) return { stream: cursor.stream, depth: cursor.depth + 1 };
  throw cursor.stream.error(cursor.stream.peek(), `expression is nested more than ${maximumDepth} levels deep`);
}

/** An expression of operators that bind at least as strongly as `minimum`. */
function parseOperators(cursor: Cursor, minimum: number): Expression {
  const { stream } = cursor;
  let left = parseUnary(cursor);
  for (;;) {
    const token = stream.peek();
    const strength = token.kind === "sign" || token.kind === "keyword" ? strengthOf.get(token.text) : undefined;
    if (strength === undefined || strength < minimum) return left;
    stream.nextOperator();
    const modifiers = parseBinaryModifiers(stream);
    // Powers group from the right, everything else from the left.
    const right = parseOperators(deeper(cursor), strength + (strength === powerStrength ? 0 : 1));
    left = binaryExpression({ operator: token.text as BinaryOperator, left, right, ...modifiers });
  }
}

function binaryExpression(
  parts: Pick<BinaryExpression, "operator" | "left" | "right" | "returnBool"> & { matching: VectorMatching },
): BinaryExpression {
  const betweenVectors = typeOf(parts.left) === "vector" && typeOf(parts.right) === "vector";
  const isSetOperator = parts.operator === "and" || parts.operator === "or" || parts.operator === "unless";
  let { matching } = parts;
  if (isSetOperator && matching.cardinality === "one-to-one") matching = { ...matching, cardinality: "many-to-many" };
  const isPlain = matching.labels.length === 0 && matching.fillLeft === null && matching.fillRight === null;
  return Object.freeze({
    kind: "binary",
    ...parts,
    // Kept although it is misplaced, so the type checker reports it.
    matching: betweenVectors || !isPlain ? Object.freeze(matching) : null,
    at: Object.freeze({ start: parts.left.at.start, end: parts.right.at.end }),
  });
}

function parseUnary(cursor: Cursor): Expression {
  const { stream } = cursor;
  if (!stream.isSign("+") && !stream.isSign("-")) return parseModifiers(stream, parsePrimary(cursor));
  const sign = stream.next();
  const operand = parseOperators(deeper(cursor), unaryStrength + 1);
  const at = Object.freeze({ start: sign.start, end: operand.at.end });
  if (operand.kind === "number") {
    return Object.freeze({ ...operand, value: sign.text === "-" ? -operand.value : operand.value, at });
  }
  return Object.freeze({ kind: "unary", operator: sign.text as "+" | "-", operand, at });
}

function parsePrimary(cursor: Cursor): Expression {
  const { stream } = cursor;
  const token = stream.peek();
  const at = Object.freeze({ start: token.start, end: token.end });
  switch (token.kind) {
    case "number":
    case "duration":
      return parseNumberLiteral(stream);
    case "string":
      return Object.freeze({ kind: "string", value: stringValue(stream, stream.next()), at });
    case "identifier":
      return stream.isSign("(", 1) ? parseCall(cursor) : parseVectorSelector(stream);
    case "metric":
      return parseVectorSelector(stream);
    case "keyword":
      return parseKeyword(cursor);
    case "sign":
      if (token.text === "{") return parseVectorSelector(stream);
      if (token.text === "(") return parseParentheses(cursor);
      break;
    case "end":
      break;
  }
  throw stream.unexpected("");
}

function parseNumberLiteral(stream: TokenStream): NumberLiteral {
  const token = stream.next();
  return Object.freeze({
    kind: "number",
    value: literalSeconds(stream, token),
    isDuration: token.kind === "duration",
    at: Object.freeze({ start: token.start, end: token.end }),
  });
}

function parseParentheses(cursor: Cursor): Expression {
  const start = cursor.stream.next().start;
  const inner = parseOperators(deeper(cursor), 0);
  const close = cursor.stream.expectSign(")", "");
  return Object.freeze({ kind: "parentheses", inner, at: Object.freeze({ start, end: close.end }) });
}

/** A keyword where an expression starts: an aggregation, a function named like a keyword, or a metric's name. */
function parseKeyword(cursor: Cursor): Expression {
  const { stream } = cursor;
  const { text } = stream.peek();
  const isAggregation = (aggregationOperators as readonly string[]).includes(text);
  if (isAggregation && (stream.isSign("(", 1) || stream.isKeyword("by", 1) || stream.isKeyword("without", 1))) {
    return parseAggregation(cursor, text as AggregationOperator);
  }
  if (stream.isSign("(", 1) && functionSignatures.has(text)) return parseCall(cursor);
  if (reservedWords.has(text)) throw stream.unexpected("");
  return parseVectorSelector(stream);
}

function parseCall(cursor: Cursor): Expression {
  const { stream } = cursor;
  const token = stream.next();
  // Of the names, only keywords are case-insensitive.
  const name = token.text;
  if (!functionSignatures.has(name)) throw stream.error(token, unknownFunction(name));
  const args = parseArguments(cursor);
  const at = Object.freeze({ start: token.start, end: stream.lastEnd });
  return Object.freeze({ kind: "call", function: name, arguments: Object.freeze(args), at });
}

function unknownFunction(name: string): string {
  const renamed = renamedFunctions.get(name);
  const known = [...functionSignatures.keys(), ...aggregationOperators];
  const hint = renamed === undefined ? suggestion(name, known) : `, it is called "${renamed}" now`;
  return `unknown function with name "${name}"${hint}`;
}

function parseArguments(cursor: Cursor): Expression[] {
  const { stream } = cursor;
  stream.expectSign("(", "function call");
  const args: Expression[] = [];
  if (stream.takeIf(")")) return args;
  for (;;) {
    args.push(parseOperators(deeper(cursor), 0));
    if (stream.takeIf(")")) return args;
    const comma = stream.peek();
    stream.expectSign(",", "function call", '"," or ")"');
    if (stream.isSign(")")) throw stream.error(comma, "trailing commas not allowed in function call args");
  }
}

function parseAggregation(cursor: Cursor, operator: AggregationOperator): Aggregation {
  const { stream } = cursor;
  const start = stream.next().start;
  let grouping = parseGrouping(stream);
  const args = parseArguments(cursor);
  grouping ??= parseGrouping(stream);
  const at = Object.freeze({ start, end: stream.lastEnd });
  if (args.length === 0) throw stream.error(at, "no arguments for aggregate expression provided");
  const expected = withParameter.has(operator) ? 2 : 1;
  if (args.length !== expected) {
    const problem = "wrong number of arguments for aggregate expression provided";
    throw stream.error(at, `${problem}, expected ${expected}, got ${args.length}`);
  }
  return Object.freeze({
    kind: "aggregation",
    operator,
    expression: args[expected - 1]!,
    parameter: expected === 2 ? args[0]! : null,
    grouping: grouping?.labels ?? Object.freeze([]),
    without: grouping?.without ?? false,
    at,
  });
}

function parseGrouping(stream: TokenStream): { labels: readonly string[]; without: boolean } | undefined {
  const without = stream.isKeyword("without");
  if (!without && !stream.isKeyword("by")) return undefined;
  stream.next();
  return { labels: parseLabelList(stream), without };
}
