/** Selectors: a metric's name, matchers in braces, both. */
import type { LabelMatcher, MatchOperator, VectorSelector } from "./ast.ts";
import { isLabelName, quoteForMessage, unquoteString } from "./string-literal.ts";
import type { Token } from "./token.ts";
import type { TokenStream } from "./token-stream.ts";

export const metricNameLabel = "__name__";

/** A selector whose name or opening brace comes next. */
export function parseVectorSelector(stream: TokenStream): VectorSelector {
  const start = stream.peek().start;
  const name = stream.isSign("{") ? null : stream.text.slice(start, stream.next().end);
  const matchers = stream.isSign("{") ? parseMatchers(stream) : [];
  if (name !== null) matchers.push(nameMatcher(name));
  return Object.freeze({
    kind: "vector-selector",
    name,
    matchers: Object.freeze(matchers),
    offset: null,
    atTime: null,
    boundary: null,
    at: Object.freeze({ start, end: stream.lastEnd }),
  });
}

/** The matcher equivalent to a metric's name. */
function nameMatcher(name: string): LabelMatcher {
  return Object.freeze({ name: metricNameLabel, operator: "=", value: name });
}

function parseMatchers(stream: TokenStream): LabelMatcher[] {
  const matchers: LabelMatcher[] = [];
  stream.next();
  while (!stream.takeIf("}")) {
    matchers.push(parseMatcher(stream));
    if (stream.isSign("}")) continue;
    stream.expectSign(",", "label matching", '"," or "}"');
  }
  return matchers;
}

function parseMatcher(stream: TokenStream): LabelMatcher {
  const token = stream.peek();
  if (token.kind !== "identifier" && token.kind !== "string") {
    throw stream.unexpected("label matching", 'identifier or "}"');
  }
  stream.next();
  const name = token.kind === "string" ? stringValue(stream, token) : token.text;
  const operator = matchOperator(stream);
  if (operator === undefined) {
    if (token.kind === "string") return nameMatcher(name);
    throw stream.unexpected("label matching", "label matching operator");
  }
  if (!isLabelName(name)) throw stream.error(token, `invalid label name: ${quoteForMessage(name)}`);
  stream.next();
  if (stream.peek().kind !== "string") throw stream.unexpected("label matching", "string");
  return Object.freeze({ name, operator, value: stringValue(stream, stream.next()) });
}

function matchOperator(stream: TokenStream): MatchOperator | undefined {
  const { kind, text } = stream.peek();
  if (kind !== "sign") return undefined;
  return text === "=" || text === "!=" || text === "=~" || text === "!~" ? text : undefined;
}

/** The value of a string token. */
export function stringValue(stream: TokenStream, token: Token): string {
  const value = unquoteString(token.text);
  if (value === undefined) {
    throw stream.error(token, `error unquoting string ${token.text}: invalid escape sequence`);
  }
  return value;
}
