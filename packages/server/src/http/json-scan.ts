/**
 * Reads JSON text byte by byte before it is parsed, in steps: how deep it is nested, how many values and names it has,
 * how many escapes. JSON.parse cannot be interrupted, so these bound how long it takes.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Up to here a string's end is searched byte by byte, which is faster than a native call. */
const shortStringBytes = 32;

export const maxJsonDepth = inputLimit({
  area: "HTTP",
  bounds: "Levels of nesting of a JSON body",
  value: 500,
  error: "invalid_json",
});
/** JSON.parse takes about 10 ns for each. */
export const maxJsonEscapes = inputLimit({
  area: "HTTP",
  bounds: "Escapes such as `\\n` in the strings of a JSON body",
  value: 524_288,
  error: "payload_too_large",
});
/** JSON.parse hashes each name and looks it up. */
export const maxJsonNameBytes = inputLimit({
  area: "HTTP",
  bounds: "Names of all members of a JSON body together",
  value: 4_194_304,
  unit: "bytes",
  error: "payload_too_large",
});

export class JsonScan {
  readonly #text: Buffer;
  readonly #maxValues: number;
  #at = 0;
  #depth = 0;
  #escapes = 0;
  #values = 0;
  #inString = false;
  #inScalar = false;
  #stringStart = 0;
  #searchStart = 0;
  #stringLength = 0;
  #nameBytes = 0;
  #nextBackslash = -1;

  /** @param text JSON in UTF-8. Text that is not JSON is counted somehow; the parser refuses it. */
  constructor(text: Buffer, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  /** Values so far, with the names of members. */
  get values(): number {
    return this.#values;
  }

  /** @throws AppError invalid_json or payload_too_large where a limit is passed before the byte `end` */
  run(end: number): void {
    while (this.#at < end) {
      if (this.#inString) this.#goOnInString();
      else this.#goOnOutside(end);
    }
  }

  #goOnOutside(end: number): void {
    const text = this.#text;
    let at = this.#at;
    let inScalar = this.#inScalar;
    for (; at < end; at += 1) {
      const byte = text[at]!;
      if (byte === quote) {
        this.#countValue();
        this.#inString = true;
        inScalar = false;
        at += 1;
        this.#stringStart = at;
        this.#searchStart = at;
        break;
      }
      if (byte === 0x5b || byte === 0x7b) {
        this.#countValue();
        this.#depth += 1;
        if (this.#depth > maxJsonDepth) throw tooDeep();
        inScalar = false;
      } else if (byte === 0x5d || byte === 0x7d) {
        this.#depth -= 1;
        inScalar = false;
      } else if (byte <= 0x20 || byte === 0x2c || byte === 0x3a) {
        if (byte === 0x3a) this.#countName();
        inScalar = false;
      } else if (!inScalar) {
        this.#countValue();
        inScalar = true;
      }
    }
    this.#at = at;
    this.#inScalar = inScalar;
  }

  /** To the string's end, or past an escape after which the rest is searched again. */
  #goOnInString(): void {
    const text = this.#text;
    let at = this.#at;
    for (const shortEnd = this.#searchStart + shortStringBytes; at < shortEnd && at < text.length; at += 1) {
      const byte = text[at]!;
      if (byte === quote) return this.#endString(at);
      if (byte === backslash) return this.#passEscape(at);
    }
    if (this.#nextBackslash < at) this.#nextBackslash = indexOrEnd(text, backslash, at);
    const end = indexOrEnd(text.subarray(0, this.#nextBackslash), quote, at);
    if (end < this.#nextBackslash) this.#endString(end);
    else if (end < text.length) this.#passEscape(end);
    else this.#at = text.length;
  }

  #endString(at: number): void {
    this.#inString = false;
    this.#stringLength = at - this.#stringStart;
    this.#at = at + 1;
  }

  #passEscape(at: number): void {
    this.#escapes += 1;
    if (this.#escapes > maxJsonEscapes) throw tooManyEscapes();
    this.#at = at + 2;
    // Where one escape is, others are near.
    this.#searchStart = this.#at;
  }

  /** The string before a colon is the name of a member. */
  #countName(): void {
    this.#nameBytes += this.#stringLength;
    if (this.#nameBytes > maxJsonNameBytes) throw tooLongNames();
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw tooManyValues(this.#maxValues);
  }
}

function tooLongNames(): AppError {
  return new AppError(
    "payload_too_large",
    `The member names of the body have more than ${maxJsonNameBytes} bytes together, the most that is taken. Use shorter names.`,
  );
}

function indexOrEnd(text: Buffer, byte: number, from: number): number {
  const index = text.indexOf(byte, from);
  return index === -1 ? text.length : index;
}

function tooDeep(): AppError {
  return new AppError(
    "invalid_json",
    `The body is nested more than ${maxJsonDepth} levels deep, the most that is taken.`,
  );
}

function tooManyValues(limit: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${limit} JSON values and member names, the most that is taken. Send a smaller request; the operator can raise server.max_json_values.`,
  );
}

function tooManyEscapes(): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${maxJsonEscapes} escapes in its strings, the most that is taken. Send characters as UTF-8, or a smaller request.`,
  );
}
