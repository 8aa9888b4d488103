/**
 * Scans JSON before it is parsed and limits its nesting, values, names and escapes. JSON.parse cannot be interrupted, so
 * these limits bound its time.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Shorter strings are scanned byte by byte, which is faster than a native search. */
const shortStringBytes = 32;

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

  /** @param text JSON in UTF-8. The counts of invalid JSON mean nothing; the parser refuses it. */
  constructor(text: Buffer, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  /** Values and member names so far. */
  get values(): number {
    return this.#values;
  }

  /** Scans up to the byte `end`. @throws AppError invalid_json or payload_too_large when a limit is exceeded */
  run(end: number): void {
    while (this.#at < end) {
      if (this.#inString) this.#scanString();
      else this.#scanOutsideStrings(end);
    }
  }

  #scanOutsideStrings(end: number): void {
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

  /** Scans to the end of the string, or past its next escape. */
  #scanString(): void {
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
    // Escapes come in clusters, so scan byte by byte again.
    this.#searchStart = this.#at;
  }

  /** Counts the string before a colon as a member name. */
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
    `The body's member names have more than ${maxJsonNameBytes} bytes together, which is the limit. Use shorter names.`,
  );
}

function indexOrEnd(text: Buffer, byte: number, from: number): number {
  const index = text.indexOf(byte, from);
  return index === -1 ? text.length : index;
}

function tooDeep(): AppError {
  return new AppError("invalid_json", `The body is nested more than ${maxJsonDepth} levels deep, which is the limit.`);
}

function tooManyValues(limit: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${limit} JSON values and member names, which is the limit. Send a smaller request; the operator can raise server.max_json_values.`,
  );
}

function tooManyEscapes(): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${maxJsonEscapes} escapes in its strings, which is the limit. Send characters as UTF-8, or a smaller request.`,
  );
}
