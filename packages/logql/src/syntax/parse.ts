/** The parser: a query's text to a typed, frozen tree. Recursive descent with operator precedence, after Loki's grammar. */
import { suggestion } from "@sounding/promql/syntax/closest-name";
import type { NumberLiteral } from "@sounding/promql/syntax/ast";
import {
  isLogQuery,
  type BinaryExpression,
  type BinaryOperator,
  type LabelReplace,
  type LogqlExpression,
  type MetricExpression,
  type RangeAggregation,
  type RangeOperator,
  type VectorAggregation,
  type VectorOperator,
} from "./ast.ts";
import { numberOperation } from "./fold-numbers.ts";
import { tokenize } from "./lexer.ts";
import { parseBinaryModifiers, parseGrouping } from "./parse-modifiers.ts";
import { parseLogQuery, parseLogRange } from "./parse-log-query.ts";
import { functionWords, powerStrength, rangeOperators, strengthOf, vectorOperators } from "./token.ts";
import { TokenStream } from "./token-stream.ts";

/** The tree of a query before its checks; throws a QueryError `invalid_request` with the position of the problem. */
export function parseTree(text: string): LogqlExpression {
  const stream = new TokenStream(text, tokenize(text));
  const expression = parseOperators(stream, 0);
  if (stream.peek().kind !== "end") throw stream.unexpected();
  return expression;
}

/** An expression of operators that bind at least as strongly as `minimum`. */
function parseOperators(stream: TokenStream, minimum: number): LogqlExpression {
  let left = parsePrimary(stream);
  for (;;) {
    const token = stream.peek();
    const strength = token.kind === "sign" || token.kind === "keyword" ? strengthOf.get(token.text) : undefined;
    if (strength === undefined || strength < minimum) return left;
    stream.countOperator();
    stream.next();
    const operator = token.text as BinaryOperator;
    const modifiers = parseBinaryModifiers(stream);
    // Powers group from the right, everything else from the left.
    const right = stream.nested(() => parseOperators(stream, strength + (strength === powerStrength ? 0 : 1)));
    left = binaryExpression({
      operator,
      left: expectMetric(stream, left, `left of ${operator}`),
      right: expectMetric(stream, right, `right of ${operator}`),
      ...modifiers,
    });
  }
}

function expectMetric(stream: TokenStream, expression: LogqlExpression, place: string): MetricExpression {
  if (!isLogQuery(expression)) return expression;
  throw stream.error(expression.at, `a log query cannot be ${place}: use a metric query such as rate({…}[5m])`);
}

/** A metric query inside of another one. */
function parseMetric(stream: TokenStream, place: string): MetricExpression {
  return expectMetric(
    stream,
    stream.nested(() => parseOperators(stream, 0)),
    place,
  );
}

function isSetOperator(operator: BinaryOperator): operator is "and" | "or" | "unless" {
  return operator === "and" || operator === "or" || operator === "unless";
}

function binaryExpression(
  parts: Omit<BinaryExpression, "kind" | "matching" | "at"> & { matching: NonNullable<BinaryExpression["matching"]> },
): BinaryExpression | NumberLiteral {
  const { left, operator, right } = parts;
  const at = Object.freeze({ start: left.at.start, end: right.at.end });
  if (left.kind === "number" && right.kind === "number" && !isSetOperator(operator)) {
    const value = numberOperation(operator)(left.value, right.value);
    return Object.freeze({ kind: "number", value, isDuration: false, at });
  }
  const hasNumber = left.kind === "number" || right.kind === "number";
  const isManyToMany = isSetOperator(operator) && parts.matching.cardinality === "one-to-one";
  const matching = isManyToMany ? { ...parts.matching, cardinality: "many-to-many" as const } : parts.matching;
  return Object.freeze({ kind: "binary", ...parts, matching: hasNumber ? null : Object.freeze(matching), at });
}

function parsePrimary(stream: TokenStream): LogqlExpression {
  const token = stream.peek();
  if (stream.isNext("{")) return parseLogQuery(stream);
  if (stream.isNext("(")) {
    stream.next();
    const inner = stream.nested(() => parseOperators(stream, 0));
    stream.expect(")");
    return inner;
  }
  if (token.kind === "number" || stream.isNext("-") || stream.isNext("+")) return parseNumber(stream);
  if (token.kind === "function") {
    if ((rangeOperators as readonly string[]).includes(token.text)) return parseRangeAggregation(stream);
    if ((vectorOperators as readonly string[]).includes(token.text)) return parseVectorAggregation(stream);
    if (token.text === "label_replace") return parseLabelReplace(stream);
    if (token.text === "vector") return parseVectorLiteral(stream);
  }
  if (token.kind === "identifier" && stream.isNext("(", 1)) throw stream.error(token, unknownFunction(token.text));
  throw stream.unexpected("a stream selector in braces or a function");
}

function unknownFunction(name: string): string {
  if (name === "variants") return "variants(…) of (…) is experimental in Loki and not available: send several queries";
  return `unknown function ${JSON.stringify(name)}.${suggestion(name, functionWords)}`;
}

function parseNumber(stream: TokenStream): NumberLiteral {
  const start = stream.peek();
  const isNegative = stream.takeIf("-");
  if (!isNegative) stream.takeIf("+");
  const { value } = stream.expectKind("number");
  const at = stream.rangeFrom(start);
  return Object.freeze({ kind: "number", value: isNegative ? -value : value, isDuration: false, at });
}

/** The number before the query of `quantile_over_time`, `topk` and the like; null if none comes next. */
function parseParameter(stream: TokenStream): number | null {
  if (stream.peek().kind !== "number" || !stream.isNext(",", 1)) return null;
  const { value } = stream.next();
  stream.next();
  return value;
}

function parseRangeAggregation(stream: TokenStream): RangeAggregation {
  const token = stream.next();
  stream.expect("(");
  const parameter = parseParameter(stream);
  const range = parseLogRange(stream);
  stream.expect(")");
  const grouping = parseGrouping(stream);
  return Object.freeze({
    kind: "range-aggregation",
    operator: token.text as RangeOperator,
    parameter,
    ...range,
    grouping,
    at: stream.rangeFrom(token),
  });
}

function parseVectorAggregation(stream: TokenStream): VectorAggregation {
  const token = stream.next();
  let grouping = parseGrouping(stream);
  stream.expect("(");
  const parameter = parseParameter(stream);
  const expression = parseMetric(stream, `aggregated by ${token.text}`);
  stream.expect(")");
  grouping ??= parseGrouping(stream);
  // Without a clause, an aggregation has one group, as with `by ()`.
  if (grouping !== null && !grouping.without && grouping.labels.length === 0) grouping = null;
  return Object.freeze({
    kind: "vector-aggregation",
    operator: token.text as VectorOperator,
    parameter,
    expression,
    grouping,
    at: stream.rangeFrom(token),
  });
}

function parseLabelReplace(stream: TokenStream): LabelReplace {
  const token = stream.next();
  stream.expect("(");
  const expression = parseMetric(stream, "an argument of label_replace");
  const [destination, replacement, source, regularExpression] = ["dst_label", "replacement", "src_label", "regex"].map(
    (name) => {
      stream.expect(",", `, and STRING ${name} of label_replace(query, dst_label, replacement, src_label, regex)`);
      return stream.expectKind("string").text;
    },
  ) as [string, string, string, string];
  stream.expect(")");
  return Object.freeze({
    kind: "label-replace",
    expression,
    destination,
    replacement,
    source,
    regularExpression,
    at: stream.rangeFrom(token),
  });
}

function parseVectorLiteral(stream: TokenStream): MetricExpression {
  const token = stream.next();
  stream.expect("(");
  const { value } = stream.expectKind("number");
  stream.expect(")");
  return Object.freeze({ kind: "vector", value, at: stream.rangeFrom(token) });
}
