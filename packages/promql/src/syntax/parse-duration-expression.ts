/** Durations inside brackets and after `offset`: literals, and arithmetic on them. */
import type { DurationExpression } from "./ast.ts";
import { longestDurationMs, parseDuration } from "./duration.ts";
import { parseNumber } from "./number-literal.ts";
import { durationWords, type Token } from "./token.ts";
import type { TokenStream } from "./token-stream.ts";

type ArithmeticOperator = Extract<DurationExpression, { kind: "duration-arithmetic" }>["operator"];

const strength: Readonly<Record<ArithmeticOperator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 4 };
const unaryStrength = 2;

/** The length of a range or of a subquery's step: a literal must be positive. */
export function parsePositiveDuration(stream: TokenStream, context: string): DurationExpression {
  const expression = parseDurationExpression(stream, context, 0);
  if (expression.kind === "duration-number" && expression.seconds <= 0) {
    throw stream.error(expression.at, "duration must be greater than 0");
  }
  return expression;
}

/**
 * What follows `offset`: one operand with an optional sign, so that `a offset 5m - b` stays a subtraction of vectors.
 * As in Prometheus, a sum may continue only after parentheses: `a offset (5m) + 1m`.
 */
export function parseOffset(stream: TokenStream): DurationExpression {
  const operand = parseOperand(stream, "offset", false);
  if (operand.kind !== "duration-parentheses" || !isDuration(stream)) return operand;
  return continueDuration(stream, operand, { context: "offset", minimum: 0 });
}

/** Whether an operator and a duration come next. */
function isDuration(stream: TokenStream): boolean {
  const operator = stream.peek();
  const operand = stream.peek(1);
  const isOperator = operator.kind === "sign" && Object.hasOwn(strength, operator.text);
  const isCall = operand.kind === "keyword" && durationWords.has(operand.text) && stream.isSign("(", 2);
  return isOperator && (operand.kind === "number" || operand.kind === "duration" || isCall);
}

function parseDurationExpression(stream: TokenStream, context: string, minimum: number): DurationExpression {
  return continueDuration(stream, parseOperand(stream, context, true), { context, minimum });
}

function continueDuration(
  stream: TokenStream,
  first: DurationExpression,
  { context, minimum }: { context: string; minimum: number },
): DurationExpression {
  let left = first;
  for (;;) {
    const token = stream.peek();
    if (context === "offset" && first.kind === "duration-parentheses" && !isDuration(stream)) return left;
    if (token.kind !== "sign" || !Object.hasOwn(strength, token.text)) return left;
    const operator = token.text as ArithmeticOperator;
    if (strength[operator] < Math.max(minimum, 1)) return left;
    stream.nextOperator();
    // Powers group from the right, everything else from the left.
    const right = parseDurationExpression(stream, context, strength[operator] + (operator === "^" ? 0 : 1));
    refuseZeroDivisor(stream, token, right);
    left = Object.freeze({
      kind: "duration-arithmetic",
      operator,
      left,
      right,
      at: Object.freeze({ start: left.at.start, end: right.at.end }),
    });
  }
}

function refuseZeroDivisor(stream: TokenStream, operator: Token, right: DurationExpression): void {
  if (right.kind !== "duration-number" || right.seconds !== 0) return;
  if (operator.text === "/") throw stream.error(operator, "division by zero");
  if (operator.text === "%") throw stream.error(operator, "modulo by zero");
}

function parseOperand(stream: TokenStream, context: string, mayCompute: boolean): DurationExpression {
  const token = stream.peek();
  if (token.kind === "number" || token.kind === "duration") return parseLiteral(stream);
  if (stream.isSign("+") || stream.isSign("-")) return parseSigned(stream, context, mayCompute);
  if (stream.isSign("(")) {
    stream.nextOperator();
    const inner = parseDurationExpression(stream, context, 0);
    const close = stream.expectSign(")", context);
    return Object.freeze({
      kind: "duration-parentheses",
      inner,
      at: Object.freeze({ start: token.start, end: close.end }),
    });
  }
  if (token.kind === "keyword" && stream.isSign("(", 1)) {
    if (token.text === "step" || token.text === "range") return parseContext(stream, token.text);
    if (token.text === "min_of" || token.text === "max_of") return parseChoice(stream, token.text, context);
  }
  throw stream.unexpected(context, "number, duration, step(), or range()");
}

function parseLiteral(stream: TokenStream): DurationExpression {
  const token = stream.next();
  const seconds = literalSeconds(stream, token);
  if (!(Math.abs(seconds) * 1000 <= longestDurationMs)) throw stream.error(token, "duration out of range");
  return Object.freeze({
    kind: "duration-number",
    seconds,
    isDuration: token.kind === "duration",
    at: Object.freeze({ start: token.start, end: token.end }),
  });
}

/** The value of a number or duration token, in seconds. */
export function literalSeconds(stream: TokenStream, token: Token): number {
  if (token.kind === "duration") {
    const duration = parseDuration(token.text);
    if ("problem" in duration) throw stream.error(token, duration.problem);
    return duration.ms / 1000;
  }
  const value = parseNumber(token.text);
  if (value === undefined) throw stream.error(token, `error parsing number: "${token.text}"`);
  return value;
}

function parseSigned(stream: TokenStream, context: string, mayCompute: boolean): DurationExpression {
  const sign = stream.nextOperator();
  const operand = mayCompute
    ? parseDurationExpression(stream, context, unaryStrength + 1)
    : parseOperand(stream, context, false);
  if (sign.text === "+") return operand;
  const at = Object.freeze({ start: sign.start, end: operand.at.end });
  if (operand.kind === "duration-number") return Object.freeze({ ...operand, seconds: -operand.seconds, at });
  return Object.freeze({ kind: "duration-negation", operand, at });
}

function parseContext(stream: TokenStream, contextWord: "step" | "range"): DurationExpression {
  const start = stream.next().start;
  stream.expectSign("(", `${contextWord}()`);
  const close = stream.expectSign(")", `${contextWord}()`);
  return Object.freeze({ kind: "duration-context", word: contextWord, at: Object.freeze({ start, end: close.end }) });
}

function parseChoice(stream: TokenStream, choice: "min_of" | "max_of", context: string): DurationExpression {
  const start = stream.nextOperator().start;
  stream.expectSign("(", `${choice}()`);
  const left = parseDurationExpression(stream, context, 0);
  stream.expectSign(",", `${choice}()`);
  const right = parseDurationExpression(stream, context, 0);
  const close = stream.expectSign(")", `${choice}()`);
  const at = Object.freeze({ start, end: close.end });
  return Object.freeze({ kind: "duration-choice", word: choice, left, right, at });
}
