/** Splits a query into tokens, by the rules of Go's text/scanner, which Loki uses. */
import { parseDuration } from "@sounding/promql/syntax/duration";
import { unquoteString } from "@sounding/promql/syntax/string-literal";
import { parseError } from "./parse-error.ts";
import { parseBytes, parseNanoseconds } from "./quantity.ts";
import { functionWords, keywords, type Token, type TokenKind } from "./token.ts";

const blank = /(?:[ \t\r\n]+|#[^\n]*|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const word = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const hexadecimalFloat = /0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+/y;
const otherBase = /0(?:[xX][\da-fA-F]|[oO][0-7]|[bB][01])\w*/y;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
// Bounded, so that a long row of digits and dots is not read again for each number in it.
const durationEnd = /[\d.nuµmshdwy]{1,64}/y;
const bytesEnd = /[\d.BikKMGTP]{1,64}/y;
const negativeDuration = /-[\d.nuµmshdwy]{1,64}/y;
const flag = /--(?:strict|keep-empty)(?![\p{L}-])/uy;
const sign = /!=|!~|!>|\|=|\|~|\|>|=~|==|>=|<=|[-{}(),.=|+*/%^<>]/y;
const callStart = /[\s]*(?:\(|(?:by|without)\s*\()/iy;

interface LexerState {
  readonly text: string;
  position: number;
  readonly tokens: Token[];
}

/** All tokens of a query, closed by one of kind `end`. */
export function tokenize(text: string): readonly Token[] {
  const state: LexerState = { text, position: 0, tokens: [] };
  for (;;) {
    state.position += matchAt(blank, state)!.length;
    if (state.position >= text.length) break;
    readToken(state);
  }
  push(state, "end", 0);
  return state.tokens;
}

function matchAt(pattern: RegExp, { position, text }: LexerState, offset = 0): string | undefined {
  pattern.lastIndex = position + offset;
  return pattern.exec(text)?.[0];
}

function push(state: LexerState, kind: TokenKind, length: number, parts: Partial<Token> = {}): void {
  const start = state.position;
  state.position += length;
  state.tokens.push({
    kind,
    text: state.text.slice(start, state.position),
    value: 0,
    start,
    end: state.position,
    ...parts,
  });
}

function fail(state: LexerState, problem: string): never {
  throw parseError(state.text, { start: state.position, end: state.text.length }, problem);
}

function readToken(state: LexerState): void {
  const character = state.text[state.position]!;
  if (character === '"' || character === "`") return readString(state, character);
  if (character === "[") return readRange(state);
  if (character === "-" && readMinus(state)) return;
  const name = matchAt(word, state);
  if (name !== undefined) return readWord(state, name);
  if (character === "0" && readOtherBase(state)) return;
  const digits = matchAt(number, state);
  if (digits !== undefined) return readNumber(state, digits);
  const operator = matchAt(sign, state);
  if (operator !== undefined) return push(state, "sign", operator.length);
  if (character === "'") fail(state, "unexpected ': strings need double quotes or backticks");
  fail(state, `unexpected character ${JSON.stringify(String.fromCodePoint(state.text.codePointAt(state.position)!))}`);
}

function readString(state: LexerState, quote: string): void {
  let end = state.position + 1;
  for (;;) {
    const character = state.text[end];
    if (character === undefined || (quote === '"' && character === "\n")) fail(state, "literal not terminated");
    if (character === quote) break;
    end += quote === '"' && character === "\\" ? 2 : 1;
  }
  const value = unquoteString(state.text.slice(state.position, end + 1));
  if (value === undefined)
    fail(state, "invalid escape sequence in a string; to use no escapes, quote it with backticks");
  push(state, "string", end + 1 - state.position, { text: value });
}

function readRange(state: LexerState): void {
  const close = state.text.indexOf("]", state.position);
  if (close === -1) fail(state, "missing closing ']' in duration");
  const duration = parseDuration(state.text.slice(state.position + 1, close));
  if ("problem" in duration) fail(state, duration.problem);
  push(state, "range", close + 1 - state.position, { value: duration.ms });
}

/** Whether the minus starts a flag of a parser or a negative duration. */
function readMinus(state: LexerState): boolean {
  const parserFlag = matchAt(flag, state);
  if (parserFlag !== undefined) {
    push(state, "flag", parserFlag.length);
    return true;
  }
  const text = matchAt(negativeDuration, state);
  // "-0" is a number.
  const value = text === undefined || /^[-\d.]*$/.test(text) ? undefined : parseNanoseconds(text);
  if (value === undefined) return false;
  push(state, "duration", text!.length, { value });
  return true;
}

function readWord(state: LexerState, name: string): void {
  const lowered = name.toLowerCase();
  if (functionWords.has(lowered)) {
    const isCall = matchAt(callStart, state, name.length) !== undefined;
    return push(state, isCall ? "function" : "identifier", name.length, isCall ? { text: lowered } : {});
  }
  if (keywords.has(lowered)) return push(state, "keyword", name.length, { text: lowered });
  push(state, "identifier", name.length);
}

/** Whether a number begins that is not decimal. Of those, only floats are numbers of LogQL. */
function readOtherBase(state: LexerState): boolean {
  const text = matchAt(hexadecimalFloat, state);
  if (text === undefined) {
    const integer = matchAt(otherBase, state);
    if (integer !== undefined) fail(state, `unable to parse literal as a float: ${integer}: use decimal digits`);
    return false;
  }
  const [mantissa, exponent] = text.slice(2).split(/p/i) as [string, string];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const value = Number(`0x0${whole}${fraction}`) * 2 ** (Number(exponent) - 4 * fraction.length);
  if (mantissa.length < 2 && !/[\da-f]/i.test(mantissa)) fail(state, `unable to parse literal as a float: ${text}`);
  push(state, "number", text.length, { value });
  return true;
}

function readNumber(state: LexerState, digits: string): void {
  for (const [kind, end, parse] of [
    ["duration", durationEnd, parseNanoseconds],
    ["bytes", bytesEnd, parseBytes],
  ] as const) {
    const unit = matchAt(end, state, digits.length);
    const value = unit === undefined ? undefined : parse(digits + unit);
    if (value !== undefined) return push(state, kind, digits.length + unit!.length, { value });
  }
  const value = Number(digits);
  if (!Number.isFinite(value)) fail(state, `unable to parse literal as a float: ${digits} is out of range`);
  push(state, "number", digits.length, { value });
}
