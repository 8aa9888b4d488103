/**
 * Changes top-level members of a JSON object in its bytes, without parsing or copying the rest: a request of 16 MiB
 * is forwarded from the buffer in which it arrived. https://www.rfc-editor.org/rfc/rfc8259
 *
 * Names that occur twice are reduced to the last, which is the one that `JSON.parse` saw and that was checked: an
 * engine that reads the first must not get another model, or other limits, than those the caller was allowed.
 */
import { AppError } from "../../errors.ts";

/** JSON text as consecutive pieces. */
export interface JsonPieces {
  readonly pieces: readonly Buffer[];
  readonly byteLength: number;
}

interface Member {
  readonly name: string;
  readonly start: number;
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
/** Below this a string's end is looked for byte by byte, which is faster than a native call. */
const shortStringBytes = 48;

/**
 * @param text one JSON object, known to be well-formed
 * @param changes new values by member name; undefined removes the member
 * @throws AppError invalid_json when the text is no JSON object after all
 */
export function spliceJson(text: Buffer, changes: Readonly<Record<string, unknown>>): JsonPieces {
  const members = readMembers(text);
  const lastIndexes = new Map<string, number>();
  for (const [index, { name }] of members.entries()) lastIndexes.set(name, index);

  const writer = new PieceWriter(text);
  let runStart = -1;
  let runEnd = -1;
  for (const [index, member] of members.entries()) {
    const isChanged = Object.hasOwn(changes, member.name);
    if (!isChanged && lastIndexes.get(member.name) === index) {
      if (runStart === -1) runStart = member.start;
      runEnd = member.end;
      continue;
    }
    if (runStart !== -1) writer.copy(runStart, runEnd);
    runStart = -1;
  }
  if (runStart !== -1) writer.copy(runStart, runEnd);
  for (const name of Object.keys(changes)) {
    const value = JSON.stringify(changes[name]) as string | undefined;
    if (value !== undefined) writer.write(`${JSON.stringify(name)}:${value}`);
  }
  return writer.end();
}

/** Collects members, with the commas between them. */
class PieceWriter {
  readonly #text: Buffer;
  readonly #pieces: Buffer[] = [];
  #byteLength = 0;
  #pending = "{";
  #isEmpty = true;

  constructor(text: Buffer) {
    this.#text = text;
  }

  copy(start: number, end: number): void {
    if (!this.#isEmpty) this.#pending += ",";
    this.#isEmpty = false;
    this.#flush();
    this.#add(this.#text.subarray(start, end));
  }

  write(member: string): void {
    this.#pending += this.#isEmpty ? member : `,${member}`;
    this.#isEmpty = false;
  }

  end(): JsonPieces {
    this.#pending += "}";
    this.#flush();
    return { pieces: this.#pieces, byteLength: this.#byteLength };
  }

  #flush(): void {
    if (this.#pending !== "") this.#add(Buffer.from(this.#pending));
    this.#pending = "";
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#byteLength += piece.length;
  }
}

function readMembers(text: Buffer): Member[] {
  const members: Member[] = [];
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
    const end = skipValue(text, skipSpace(text, at + 1));
    members.push({ name: readName(text, start, nameEnd), start, end });
    at = skipSpace(text, end);
    if (text[at] === closeBrace) return members;
    expect(text, at, comma);
    at = skipSpace(text, at + 1);
  }
}

/** A name as JavaScript sees it: escapes such as `\u0065` are resolved. */
function readName(text: Buffer, start: number, end: number): string {
  const name = text.toString("utf8", start + 1, end - 1);
  return name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name;
}

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  for (let byte = text[at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = text[at]) at++;
  return at;
}

/** @returns where the value that begins at `at` ends */
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

/** @returns the place after the closing quote of the string whose opening quote is at `from` */
function skipString(text: Buffer, from: number): number {
  const shortEnd = from + shortStringBytes;
  let at = from + 1;
  while (at < shortEnd) {
    const byte = text[at];
    if (byte === quote) return at + 1;
    if (byte === undefined) throw malformed(at);
    at += byte === backslash ? 2 : 1;
  }
  const bodyStart = at;
  for (;;) {
    const end = text.indexOf(quote, at);
    if (end === -1) throw malformed(text.length);
    let escapes = 0;
    while (end - 1 - escapes >= bodyStart && text[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end + 1;
    at = end + 1;
  }
}

function expect(text: Buffer, at: number, byte: number): void {
  if (text[at] !== byte) throw malformed(at);
}

function malformed(at: number): AppError {
  return new AppError("invalid_json", `The request's body is no JSON object: unexpected text at byte ${at}.`);
}
