/** Matchers: a label, an operator and a string. */
import type { LabelMatcher, MatchOperator } from "./ast.ts";
import type { TokenStream } from "./token-stream.ts";

const operators: readonly MatchOperator[] = ["=", "!=", "=~", "!~"];

/** The operator of a matcher if it comes next, `ahead` tokens on. */
export function nextMatchOperator(stream: TokenStream, ahead = 0): MatchOperator | undefined {
  return operators.find((operator) => stream.isNext(operator, ahead));
}

/** The matcher whose label comes next. */
export function parseMatcher(stream: TokenStream): LabelMatcher {
  const name = stream.expectKind("identifier").text;
  const operator = nextMatchOperator(stream);
  if (operator === undefined) throw stream.unexpected("=, !=, =~ or !~");
  stream.next();
  return Object.freeze({ name, operator, value: stream.expectKind("string").text });
}
