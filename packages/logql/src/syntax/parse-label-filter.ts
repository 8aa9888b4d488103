/** Conditions on labels: matchers, numbers, durations, bytes and addresses, joined by `and`, `or`, commas and parentheses. */
import type { ComparisonOperator, LabelFilter } from "./ast.ts";
import { nextMatchOperator, parseMatcher } from "./parse-matcher.ts";
import type { TokenStream } from "./token-stream.ts";

const strengths = { or: 1, and: 2 } as const;

/** The condition that comes next. */
export function parseLabelFilter(stream: TokenStream): LabelFilter {
  return parseConditions(stream, 0);
}

/** Conditions whose operators bind at least as strongly as `minimum`. */
function parseConditions(stream: TokenStream, minimum: number): LabelFilter {
  let left = parseCondition(stream);
  for (;;) {
    const word = (["or", "and"] as const).find((one) => stream.isNext(one));
    if (word !== undefined) {
      if (strengths[word] < minimum) return left;
      stream.countOperator();
      stream.next();
      left = Object.freeze({ kind: word, left, right: parseConditions(stream, strengths[word] + 1) });
      continue;
    }
    // A comma, or nothing between two conditions, means "and". It binds what comes before it most strongly, and what comes
    // after it least, as in Loki: `a or b, c or d` is `a or (b and (c or d))`.
    const hasComma = stream.isNext(",");
    if (!hasComma && stream.peek().kind !== "identifier" && !stream.isNext("(")) return left;
    stream.countOperator();
    if (hasComma) stream.next();
    left = Object.freeze({ kind: "and", left, right: parseConditions(stream, 0) });
  }
}

const operators = ["=", "!=", "=~", "!~", "==", ">", ">=", "<", "<="];

function parseCondition(stream: TokenStream): LabelFilter {
  if (stream.takeIf("(")) {
    const inner = stream.nested(() => parseConditions(stream, 0));
    stream.expect(")");
    return inner;
  }
  if (nextMatchOperator(stream, 1) !== undefined && stream.peek(2).kind === "string") {
    return Object.freeze({ kind: "matcher", matcher: parseMatcher(stream) });
  }
  const label = stream.expectKind("identifier").text;
  const operator = operators.find((sign) => stream.takeIf(sign));
  if (operator === undefined) throw stream.unexpected("an operator such as =, =~ or >");
  const { kind, text } = stream.peek();
  if (kind === "function" && text === "ip" && (operator === "=" || operator === "!=")) {
    return Object.freeze({ kind: "ip", label, operator, addresses: parseAddresses(stream) });
  }
  if (operator === "=~" || operator === "!~") throw stream.unexpected("STRING");
  const comparison: ComparisonOperator = operator === "=" ? "==" : (operator as ComparisonOperator);
  return Object.freeze(parseComparison(stream, label, comparison));
}

function parseAddresses(stream: TokenStream): string {
  stream.next();
  stream.expect("(");
  const addresses = stream.expectKind("string").text;
  stream.expect(")");
  return addresses;
}

function parseComparison(stream: TokenStream, label: string, operator: ComparisonOperator): LabelFilter {
  const { kind } = stream.peek();
  if (kind === "duration") return { kind: "duration", label, operator, nanoseconds: stream.next().value };
  if (kind === "bytes") return { kind: "bytes", label, operator, bytes: stream.next().value };
  const isNegative = stream.takeIf("-");
  if (!isNegative) stream.takeIf("+");
  if (stream.peek().kind !== "number") throw stream.unexpected("NUMBER, DURATION or BYTES");
  const { value } = stream.next();
  return { kind: "number", label, operator, value: isNegative ? -value : value };
}
