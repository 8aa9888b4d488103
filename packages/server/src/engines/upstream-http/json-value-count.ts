/**
 * Counts the values and levels of JSON text before it is parsed: parsing too many values would block the event loop, and code
 * that walks the result calls itself for each level.
 */
import { inputLimit } from "../../input-limits.ts";
import { tooManyInResponse } from "./invalid-response.ts";

/** Room for 4,000 tokens with the log probabilities of 20 alternatives each. */
export const maxResponseValues = inputLimit({
  area: "Chat completions",
  bounds: "JSON values and member names in an engine's batch response",
  value: 1_250_000,
  error: "upstream_failed",
});

export const maxResponseDepth = inputLimit({
  area: "Chat completions",
  bounds: "Levels of nesting in an engine's response",
  value: 500,
  error: "upstream_failed",
});

/** Shorter text can have neither too many values nor too many levels: a level takes two bytes, a value one. */
export const harmlessJsonLength = 2 * maxResponseDepth;

const quote = 0x22;
const backslash = 0x5c;

/** Counts as bytes arrive: outside strings, each of `,` `:` `[` and `{` begins a value or a member name, or a level. */
export class JsonValueCount {
  readonly #limit: number;
  #values = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws AppError upstream_failed when the limit is passed */
  push(bytes: Buffer): void {
    let values = this.#values;
    let depth = this.#depth;
    let inString = this.#inString;
    let isEscaped = this.#isEscaped;
    for (let at = 0; at < bytes.length;) {
      if (!inString) {
        const byte = bytes[at]!;
        if (byte === quote) inString = true;
        else if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) {
          values += 1;
          if (values > this.#limit) throw tooManyInResponse("JSON values and member names", this.#limit);
          if (byte >= 0x5b) {
            depth += 1;
            if (depth > maxResponseDepth) throw tooManyInResponse("levels of nesting", maxResponseDepth);
          }
        } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
        at += 1;
        continue;
      }
      const found = bytes.indexOf(quote, at);
      const end = found === -1 ? bytes.length : found;
      let backslashes = 0;
      while (backslashes < end - at && bytes[end - 1 - backslashes] === backslash) backslashes += 1;
      const isOdd = backslashes % 2 === 1;
      // A piece of nothing but backslashes continues an escape from the piece before.
      isEscaped = backslashes === end - at ? isEscaped !== isOdd : isOdd;
      at = end + 1;
      if (found === -1) break;
      inString = isEscaped;
      isEscaped = false;
    }
    this.#values = values;
    this.#depth = depth;
    this.#inString = inString;
    this.#isEscaped = isEscaped;
  }
}
