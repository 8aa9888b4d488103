/**
 * Splits a query into tokens. As in Prometheus, two places have their own rules: inside braces, every word is an
 * identifier; inside brackets, only durations, arithmetic and a few words are allowed.
 */
import { parseError } from "./parse-error.ts";
import { durationWords, keywords, type Token, type TokenKind } from "./token.ts";

const space = /[ \t\r\n]*/y;
const comment = /#[^\r\n]*/y;
const word = /[A-Za-z_][\w]*/y;
const metricWord = /[A-Za-z_:][\w:]*/y;
const durationText = /\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdw]))*(?![A-Za-z0-9_])/y;
const hexadecimal = /0[xX]_?[\da-fA-F]+(?:_[\da-fA-F]+)*(?![\w.])/y;
const decimal = /(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?(?![\w.])/y;
const doubleSigns = new Set(["==", "!=", "<=", ">=", "</", ">/"]);

interface LexerState {
  readonly text: string;
  position: number;
  readonly tokens: Token[];
  parentheses: number;
  inBraces: boolean;
  inBrackets: boolean;
}

/** All tokens of a query, closed by one of kind `end`. */
export function tokenize(text: string): readonly Token[] {
  const state: LexerState = { text, position: 0, tokens: [], parentheses: 0, inBraces: false, inBrackets: false };
  for (;;) {
    skip(state);
    if (state.position >= text.length) break;
    readToken(state);
  }
  if (state.inBraces) fail(state, "unexpected end of input inside braces");
  if (state.parentheses > 0) fail(state, "unclosed left parenthesis");
  if (state.inBrackets) fail(state, "unclosed left bracket");
  push(state, "end", "");
  return state.tokens;
}

function skip(state: LexerState): void {
  for (;;) {
    const before = state.position;
    state.position += matchAt(space, state)!.length;
    state.position += matchAt(comment, state)?.length ?? 0;
    if (state.position === before) return;
  }
}

function matchAt(pattern: RegExp, state: LexerState): string | undefined {
  pattern.lastIndex = state.position;
  return pattern.exec(state.text)?.[0];
}

function push(state: LexerState, kind: TokenKind, text: string): void {
  state.tokens.push({ kind, text, start: state.position, end: state.position + text.length });
  state.position += text.length;
}

function fail(state: LexerState, problem: string): never {
  throw parseError(state.text, { start: state.position, end: state.text.length }, problem);
}

function readToken(state: LexerState): void {
  const character = state.text[state.position]!;
  if (character === '"' || character === "'" || character === "`") return readString(state, character);
  if (state.inBraces) return readInsideBraces(state, character);
  if (/\d/.test(character) || /^\.\d/.test(state.text.slice(state.position, state.position + 2))) {
    return readNumber(state);
  }
  if (state.inBrackets && readInsideBrackets(state, character)) return;
  if (/[A-Za-z_:]/.test(character)) return readWord(state);
  readSign(state, character);
}

function readString(state: LexerState, quote: string): void {
  let end = state.position + 1;
  for (;;) {
    const character = state.text[end];
    if (character === undefined) fail(state, quote === "`" ? "unterminated raw string" : "unterminated quoted string");
    if (character === quote) break;
    if (quote !== "`" && character === "\n") fail(state, "unterminated quoted string");
    end += quote !== "`" && character === "\\" ? 2 : 1;
  }
  push(state, "string", state.text.slice(state.position, end + 1));
}

function readInsideBraces(state: LexerState, character: string): void {
  const name = matchAt(word, state);
  if (name !== undefined) return push(state, "identifier", name);
  const pair = state.text.slice(state.position, state.position + 2);
  if (pair === "=~" || pair === "!~" || pair === "!=") return push(state, "sign", pair);
  if (character === "}") state.inBraces = false;
  else if (character === "!") fail(state, `unexpected character after '!' inside braces: ${quoted(pair.slice(1))}`);
  else if (character === "{") fail(state, "unexpected left brace '{'");
  else if (character !== "," && character !== "=")
    fail(state, `unexpected character inside braces: ${quoted(character)}`);
  push(state, "sign", character);
}

function readNumber(state: LexerState): void {
  const duration = matchAt(durationText, state);
  if (duration !== undefined) return push(state, "duration", duration);
  const number = matchAt(hexadecimal, state) ?? matchAt(decimal, state);
  if (number !== undefined) return push(state, "number", number);
  const seen = /^[\w.]*/.exec(state.text.slice(state.position))![0];
  fail(state, `bad number or duration syntax: "${seen}"`);
}

/** Whether the token was one of those that mean something else inside brackets. */
function readInsideBrackets(state: LexerState, character: string): boolean {
  if (character === ":") {
    push(state, "sign", ":");
    return true;
  }
  const name = matchAt(word, state);
  if (name === undefined) return false;
  if (!durationWords.has(name.toLowerCase())) {
    fail(state, `unexpected character in duration expression: ${quoted(character)}`);
  }
  pushKeyword(state, name);
  return true;
}

function pushKeyword(state: LexerState, text: string): void {
  state.tokens.push({
    kind: "keyword",
    text: text.toLowerCase(),
    start: state.position,
    end: state.position + text.length,
  });
  state.position += text.length;
}

function readWord(state: LexerState): void {
  const text = matchAt(metricWord, state)!;
  const lowered = text.toLowerCase();
  if (lowered === "inf" || lowered === "nan") return push(state, "number", text);
  // The fill modifiers are keywords only before a parenthesis, so that metrics with these names keep working.
  const isFill = lowered.startsWith("fill");
  const isKeyword = keywords.has(lowered) && (!isFill || /^\s*\(/.test(state.text.slice(state.position + text.length)));
  if (isKeyword) return pushKeyword(state, text);
  push(state, text.includes(":") ? "metric" : "identifier", text);
}

function readSign(state: LexerState, character: string): void {
  const pair = state.text.slice(state.position, state.position + 2);
  if (pair === "=~") fail(state, "unexpected character after '=': '~'");
  if (character === "!" && pair !== "!=") fail(state, `unexpected character after '!': ${quoted(pair.slice(1))}`);
  if (doubleSigns.has(pair)) return push(state, "sign", pair);
  if (!"+-*/%^=<>(){}[],@:".includes(character)) {
    const codePoint = String.fromCodePoint(state.text.codePointAt(state.position)!);
    fail(state, `unexpected character: ${quoted(codePoint)}`);
  }
  trackNesting(state, character);
  push(state, "sign", character);
}

function trackNesting(state: LexerState, character: string): void {
  if (character === "(") state.parentheses++;
  if (character === ")" && --state.parentheses < 0) fail(state, "unexpected right parenthesis ')'");
  if (character === "{") state.inBraces = true;
  if (character === "[") {
    if (state.inBrackets) fail(state, "unexpected left bracket '['");
    state.inBrackets = true;
  }
  if (character === "]") {
    if (!state.inBrackets) fail(state, "unexpected right bracket ']'");
    state.inBrackets = false;
  }
}

function quoted(character: string): string {
  return character === "" ? "end of input" : `'${character}'`;
}
