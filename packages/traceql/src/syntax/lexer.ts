/**
 * Splits a TraceQL query into tokens. The rules are those of Go's scanner, plus attributes: after the dot of a scope, nearly
 * every character belongs to the attribute's name.
 */
import { inputLimit } from "@sounding/promql/input-limit";
import { unquoteString } from "@sounding/promql/syntax/string-literal";
import { readAttributeName, readParentScope } from "./attribute-name.ts";
import { parseDurationNano } from "./duration.ts";
import { parseError } from "./parse-error.ts";
import type { Token } from "./token.ts";

const space = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const word = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const restOfDuration = /[\p{N}nsumhµdwy.]*/uy;
/** Longer ones first. */
const sign = /&>>|&<<|&>|&<|&~|&&|\|\||\||!>>|!<<|!>|!<|!~|!=|!|=~|=|>>|>=|>|<<|<=|<|~|[-+*/%^(){},:]/y;
const scopesOfAttributes = new Set(["span", "resource", "event", "link", "instrumentation"]);
const scopesOfIntrinsics = new Set(["span", "trace", "event", "link", "instrumentation"]);
const largestInt = 2n ** 63n - 1n;

/** Reading 65,536 signs would take some 20 ms, during which no other request is served. */
const maximumTokens = inputLimit({
  area: "TraceQL",
  bounds: "Names, values and signs of a query",
  value: 10_000,
  error: "invalid_request",
});

/** All tokens of a query, closed by one of kind `end`. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let position = 0;
  for (;;) {
    position += matchAt(space, text, position)!.length;
    if (position >= text.length) break;
    const token = readToken(text, position);
    if (tokens.length >= maximumTokens) {
      throw parseError(text, position, `the query has more than ${maximumTokens} names, values and signs`);
    }
    tokens.push(token);
    position = token.end;
  }
  tokens.push({ kind: "end", text: "", start: text.length, end: text.length });
  return tokens;
}

function matchAt(pattern: RegExp, text: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0];
}

function readToken(text: string, start: number): Token {
  const character = text[start]!;
  if (character === '"' || character === "`") return readString(text, start, character);
  const digits = matchAt(number, text, start);
  if (digits !== undefined) return readNumber(text, start, digits);
  if (character === ".") return readAttribute(text, { start, nameAt: start + 1, scope: null, ofParent: false });
  const name = matchAt(word, text, start);
  if (name !== undefined) return readWord(text, start, name);
  const found = matchAt(sign, text, start);
  if (found !== undefined) return { kind: "sign", text: found, start, end: start + found.length };
  const codePoint = String.fromCodePoint(text.codePointAt(start)!);
  throw parseError(text, start, `unexpected character ${JSON.stringify(codePoint)}`);
}

function readString(text: string, start: number, quote: string): Token {
  let end = start + 1;
  for (;;) {
    const character = text[end];
    if (character === undefined || (quote !== "`" && character === "\n")) {
      throw parseError(text, start, "literal not terminated");
    }
    if (character === quote) break;
    end += quote !== "`" && character === "\\" ? 2 : 1;
  }
  const literal = text.slice(start, end + 1);
  const value = unquoteString(quote === "`" ? literal.replaceAll("\r", "") : literal);
  if (value === undefined) throw parseError(text, start, "invalid escape sequence in a string");
  return { kind: "string", value, text: literal, start, end: end + 1 };
}

function readNumber(text: string, start: number, digits: string): Token {
  const rest = matchAt(restOfDuration, text, start + digits.length)!;
  const nanoseconds = rest === "" ? undefined : parseDurationNano(digits + rest);
  if (nanoseconds !== undefined) {
    const duration = digits + rest;
    return { kind: "duration", nanoseconds, text: duration, start, end: start + duration.length };
  }
  const end = start + digits.length;
  if (!/^\d+$/.test(digits)) {
    const number = Number(digits);
    if (number === Infinity) throw parseError(text, start, `number ${digits} is out of range`);
    return { kind: "float", value: number, text: digits, start, end };
  }
  const value = BigInt(digits);
  if (value > largestInt) throw parseError(text, start, `integer ${digits} is out of range`);
  return { kind: "int", value, text: digits, start, end };
}

function readWord(text: string, start: number, name: string): Token {
  const end = start + name.length;
  if (text[end] === "." && name === "parent") {
    const scope = readParentScope(text, end + 1);
    const nameAt = scope === "" ? end + 1 : end + 2 + scope.length;
    return readAttribute(text, { start, nameAt, scope: scope === "" ? null : scope, ofParent: true });
  }
  if (text[end] === "." && scopesOfAttributes.has(name)) {
    return readAttribute(text, { start, nameAt: end + 1, scope: name as "span", ofParent: false });
  }
  // The colon belongs to the word: `span:` is a scope, `span` alone is not.
  if (text[end] === ":" && scopesOfIntrinsics.has(name)) {
    return { kind: "word", text: `${name}:`, start, end: end + 1 };
  }
  return { kind: "word", text: name, start, end };
}

interface AttributeStart {
  readonly start: number;
  readonly nameAt: number;
  readonly scope: "span" | "resource" | "event" | "link" | "instrumentation" | null;
  readonly ofParent: boolean;
}

function readAttribute(text: string, { nameAt, ofParent, scope, start }: AttributeStart): Token {
  const read = readAttributeName(text, nameAt);
  if ("problem" in read) throw parseError(text, nameAt, read.problem);
  return {
    kind: "attribute",
    scope,
    ofParent,
    name: read.name,
    text: text.slice(start, read.end),
    start,
    end: read.end,
  };
}
