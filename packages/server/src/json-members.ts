/**
 * Locates the members of a JSON object in its bytes without parsing their values: to detect duplicate names, which JSON.parse
 * hides, and to forward large bodies unchanged. https://www.rfc-editor.org/rfc/rfc8259
 */
import { AppError } from "./errors.ts";

export interface JsonMember {
  readonly name: string;
  /** Of the name. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;
/** Short strings are scanned byte by byte, which is faster than a native call. */
const shortStringBytes = 48;

/** For each member, the start and end of its name with the quotes, the start and end of its value. */
export type MemberOffsets = readonly number[];

/**
 * What a scan of a whole text has found on its way. Values should be small: V8's collections of new objects keep the values of
 * dead keys.
 */
const found = new WeakMap<Buffer, MemberOffsets>();

/** Saves the second pass over a text that was scanned. @param offsets of the members of the same object */
export function rememberMembers(text: Buffer, offsets: MemberOffsets): void {
  found.set(text, offsets);
}

/**
 * @param text one JSON object, known to be well-formed
 * @throws AppError invalid_json if it is not
 */
export function readMembers(text: Buffer): readonly JsonMember[] {
  const offsets = found.get(text);
  return offsets === undefined ? scanMembers(text) : membersAt(text, offsets);
}

function membersAt(text: Buffer, offsets: MemberOffsets): JsonMember[] {
  const members: JsonMember[] = [];
  for (let at = 0; at < offsets.length; at += 4) {
    const start = offsets[at]!;
    const name = readName(text, start, offsets[at + 1]!);
    members.push({ name, start, valueStart: offsets[at + 2]!, end: offsets[at + 3]! });
  }
  return members;
}

function scanMembers(text: Buffer): JsonMember[] {
  const members: JsonMember[] = [];
  let at = skipSpace(text, text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0);
  expect(text, at, openBrace);
  at = skipSpace(text, at + 1);
  if (text[at] === closeBrace) return members;
  for (;;) {
    expect(text, at, quote);
    const start = at;
    const nameEnd = skipString(text, at);
    at = skipSpace(text, nameEnd);
    expect(text, at, colon);
    const valueStart = skipSpace(text, at + 1);
    const end = skipValue(text, valueStart);
    members.push({ name: readName(text, start, nameEnd), start, valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === closeBrace) return members;
    expect(text, at, comma);
    at = skipSpace(text, at + 1);
  }
}

/** The name between these offsets of its quotes, with its escapes, such as `\u0065`, decoded. */
function readName(text: Buffer, start: number, end: number): string {
  const name = text.toString("utf8", start + 1, end - 1);
  return name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name;
}

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  for (let byte = text[at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = text[at]) at++;
  return at;
}

/** @returns the end of the value that starts at `at` */
function skipValue(text: Buffer, at: number): number {
  const first = text[at];
  if (first === quote) return skipString(text, at);
  if (first === openBrace || first === openBracket) return skipNested(text, at);
  let end = at;
  for (;;) {
    const byte = text[end];
    if (byte === undefined) throw malformed(end);
    if (byte === comma || byte === closeBrace || byte <= 32) break;
    end++;
  }
  if (end === at) throw malformed(at);
  return end;
}

function skipNested(text: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  for (;;) {
    const byte = text[at];
    if (byte === undefined) throw malformed(at);
    if (byte === quote) {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      depth--;
      if (depth === 0) return at;
    }
  }
}

/** @returns the index after the closing quote of the string whose opening quote is at `from` */
function skipString(text: Buffer, from: number): number {
  for (let at = from + 1; ;) {
    for (const shortEnd = at + shortStringBytes; at < shortEnd;) {
      const byte = text[at];
      if (byte === quote) return at + 1;
      if (byte === undefined) throw malformed(at);
      at += byte === backslash ? 2 : 1;
    }
    const end = text.indexOf(quote, at);
    if (end === -1) throw malformed(text.length);
    let escapes = 0;
    while (end - 1 - escapes >= at && text[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end + 1;
    // Escaped quotes tend to come in clusters, so scan byte by byte again.
    at = end + 1;
  }
}

function expect(text: Buffer, at: number, byte: number): void {
  if (text[at] !== byte) throw malformed(at);
}

function malformed(at: number): AppError {
  return new AppError("invalid_json", `The request's body is not a JSON object: unexpected text at byte ${at}.`);
}
