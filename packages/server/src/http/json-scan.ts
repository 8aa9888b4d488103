/**
 * Scans JSON before it is parsed, in one pass over its bytes: limits its nesting, values, names and escapes, since JSON.parse
 * cannot be interrupted; finds its long texts, so that they need not be parsed, and the members of its object, so that it can
 * be forwarded with few changes. https://www.rfc-editor.org/rfc/rfc8259
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { MemberOffsets } from "../json-members.ts";
import { longestTextBytes } from "./string-scanner-layout.ts";
import { StringScanner } from "./string-scanner.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const space = 0x20;

export const maxJsonDepth = inputLimit({
  area: "HTTP",
  bounds: "Levels of nesting of a JSON body",
  value: 500,
  error: "invalid_json",
});
/** JSON.parse takes about 10 ns per escape. */
export const maxJsonEscapes = inputLimit({
  area: "HTTP",
  bounds: "Escapes such as `\\n` in the strings of a JSON body",
  value: 524_288,
  error: "payload_too_large",
});
/** JSON.parse hashes and looks up each name. */
export const maxJsonNameBytes = inputLimit({
  area: "HTTP",
  bounds: "Member names of a JSON body, all together",
  value: 4_194_304,
  unit: "bytes",
  error: "payload_too_large",
});

/** A long string deep inside, which is no member's name; the offsets are those of its bytes between the quotes. */
export interface LongText {
  readonly start: number;
  readonly end: number;
  readonly hasEscapes: boolean;
}

/** Longer strings are long. Names of tools can be compared: they have at most 64 characters, of six bytes each. */
const shortBytes = 384;
/** Identifiers and other parameters are further outside, where the texts of messages are not. */
const shallowDepth = 2;

/** Shorter strings are scanned byte by byte, which is faster than a call of WebAssembly. */
const shortStringBytes = 32;

const scanner = new StringScanner();

export class JsonScan {
  readonly longTexts: LongText[] = [];
  readonly #text: Buffer;
  readonly #maxValues: number;
  #at = 0;
  #depth = 0;
  #escapes = 0;
  #values = 0;
  #inString = false;
  /** Whether the scanner has what remains of this step. */
  #isLoaded = false;
  #inScalar = false;
  #stringStart = 0;
  #stringEnd = 0;
  #escapesBefore = 0;
  #nameBytes = 0;
  #isDamaged = false;
  #isAscii = true;
  /** The end of the last string, number, literal or bracket. */
  #tokenEnd = 0;
  readonly #memberOffsets: number[] = [];

  /** @param text JSON in UTF-8. The counts of invalid JSON mean nothing; the parser refuses it. */
  constructor(text: Buffer, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  /** Values and member names so far. */
  get values(): number {
    return this.#values;
  }

  /** Whether a string has a control character or an unknown escape, which no parser accepts. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  /** Whether all strings are ASCII; if not known, false. Outside of strings, other bytes are no JSON. */
  get isAscii(): boolean {
    return this.#isAscii;
  }

  /** The members of the scanned object, once the text is known to be well-formed. */
  get memberOffsets(): MemberOffsets {
    return this.#memberOffsets;
  }

  /** Scans up to the byte `end`. @throws AppError invalid_json or payload_too_large when a limit is exceeded */
  run(end: number): void {
    for (let stepEnd = this.#at; stepEnd < end;) {
      stepEnd = Math.min(end, stepEnd + longestTextBytes);
      this.#isLoaded = false;
      while (this.#at < stepEnd) {
        if (this.#inString) this.#scanString(stepEnd);
        else this.#scanOutsideStrings(stepEnd);
      }
    }
  }

  #scanOutsideStrings(end: number): void {
    const text = this.#text;
    let at = this.#at;
    let inScalar = this.#inScalar;
    for (; at < end; at += 1) {
      const byte = text[at]!;
      if (byte === quote) {
        this.#beginValue(at);
        inScalar = false;
        at += 1;
        const plainEnd = findPlainEnd(text, at, Math.min(end, at + shortStringBytes));
        if (plainEnd !== -1) {
          this.#stringStart = at;
          this.#stringEnd = plainEnd;
          this.#tokenEnd = plainEnd + 1;
          at = plainEnd;
          continue;
        }
        this.#inString = true;
        this.#stringStart = at;
        this.#escapesBefore = this.#escapes;
        break;
      }
      if (byte === 0x5b || byte === 0x7b) {
        this.#beginValue(at);
        this.#depth += 1;
        if (this.#depth > maxJsonDepth) throw tooDeep();
        inScalar = false;
      } else if (byte === 0x5d || byte === 0x7d) {
        if (inScalar) this.#tokenEnd = at;
        if (this.#depth === 1) this.#endMember();
        this.#depth -= 1;
        this.#tokenEnd = at + 1;
        inScalar = false;
      } else if (byte <= space || byte === comma || byte === colon) {
        if (inScalar) this.#tokenEnd = at;
        inScalar = false;
        if (byte === colon) this.#endName();
        else if (byte === comma && this.#depth === 1) this.#endMember();
      } else if (!inScalar) {
        this.#beginValue(at);
        inScalar = true;
      }
    }
    this.#at = at;
    this.#inScalar = inScalar;
  }

  #scanString(end: number): void {
    this.#scanBytes(Math.min(end, this.#at + shortStringBytes));
    if (!this.#inString) return;
    this.#passBytes(end);
    this.#scanBytes(end);
  }

  /** Scans most of a long string at once. */
  #passBytes(end: number): void {
    if (!this.#isLoaded) scanner.load(this.#text, this.#at, end);
    this.#isLoaded = true;
    this.#at = scanner.pass(this.#at);
    this.#escapes += scanner.escapes;
    if (this.#escapes > maxJsonEscapes) throw tooManyEscapes();
    if (scanner.isDamaged) this.#isDamaged = true;
    if (!scanner.isAscii) this.#isAscii = false;
  }

  #scanBytes(end: number): void {
    const text = this.#text;
    let at = this.#at;
    while (at < end) {
      const byte = text[at]!;
      if (byte === quote) return this.#endString(at);
      if (byte === backslash) at = this.#passEscape(at);
      else {
        if (byte < space) this.#isDamaged = true;
        else if (byte >= 0x80) this.#isAscii = false;
        at += 1;
      }
    }
    this.#at = at;
  }

  #endString(at: number): void {
    this.#inString = false;
    this.#stringEnd = at;
    this.#tokenEnd = at + 1;
    this.#at = at + 1;
    if (at - this.#stringStart <= shortBytes || this.#depth <= shallowDepth) return;
    const hasEscapes = this.#escapes > this.#escapesBefore;
    this.longTexts.push({ start: this.#stringStart, end: at, hasEscapes });
  }

  /** @returns the index after the escape */
  #passEscape(at: number): number {
    this.#escapes += 1;
    if (this.#escapes > maxJsonEscapes) throw tooManyEscapes();
    const text = this.#text;
    const kind = text[at + 1];
    if (kind !== 0x75) {
      if (kind === undefined || !isEscape(kind)) this.#isDamaged = true;
      return at + 2;
    }
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      if (!isHexadecimal(text[digit])) {
        this.#isDamaged = true;
        return at + 2;
      }
    }
    return at + 6;
  }

  /** Counts the string before a colon as a member name. */
  #endName(): void {
    const start = this.#stringStart;
    const end = this.#stringEnd;
    this.#nameBytes += end - start;
    if (this.#nameBytes > maxJsonNameBytes) throw tooLongNames();
    if (this.longTexts.at(-1)?.end === end) this.longTexts.pop();
    // The value's start and end follow.
    if (this.#depth === 1) this.#memberOffsets.push(start - 1, end + 1, -1, -1);
  }

  #endMember(): void {
    if (this.#memberOffsets.length > 0) this.#memberOffsets[this.#memberOffsets.length - 1] = this.#tokenEnd;
  }

  #beginValue(at: number): void {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw tooManyValues(this.#maxValues);
    if (this.#depth !== 1) return;
    const offsets = this.#memberOffsets;
    if (offsets.length > 0 && offsets.at(-2) === -1) offsets[offsets.length - 2] = at;
  }
}

/** The closing quote before `end` of a string of ASCII without escapes, as most names are; else -1. */
function findPlainEnd(text: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const byte = text[at]!;
    if (byte === quote) return at;
    if (byte === backslash || byte < space || byte >= 0x80) return -1;
  }
  return -1;
}

/** After a backslash; `u` is followed by digits. */
function isEscape(byte: number): boolean {
  return (
    byte === quote ||
    byte === backslash ||
    byte === 0x6e ||
    byte === 0x74 ||
    byte === 0x72 ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66
  );
}

function isHexadecimal(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function tooDeep(): AppError {
  return new AppError("invalid_json", `The body is nested more than ${maxJsonDepth} levels deep, which is the limit.`);
}

function tooLarge(what: string, advice: string): AppError {
  return new AppError("payload_too_large", `The body${what}, which is the limit. ${advice}`);
}

function tooLongNames(): AppError {
  return tooLarge(`'s member names have more than ${maxJsonNameBytes} bytes together`, "Use shorter names.");
}

function tooManyValues(limit: number): AppError {
  const advice = "Send a smaller request; the operator can raise server.max_json_values.";
  return tooLarge(` has more than ${limit} JSON values and member names`, advice);
}

function tooManyEscapes(): AppError {
  return tooLarge(` has more than ${maxJsonEscapes} escapes`, "Send characters as UTF-8, or a smaller request.");
}
