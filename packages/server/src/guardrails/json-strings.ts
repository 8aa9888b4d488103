/**
 * Finds the strings of JSON text, token by token, and validates the text. `JSON.parse` would block the event loop for the
 * whole text. https://www.rfc-editor.org/rfc/rfc8259
 */

export interface JsonString {
  /** Place of the opening quote. */
  readonly start: number;
  /** Place after the closing quote. */
  readonly end: number;
  readonly text: string;
}

type Expected = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end" | "nothing";

/** White space that one step passes. */
const spacesPerStep = 4_096;

export class JsonStrings {
  readonly found: JsonString[] = [];
  readonly #json: string;
  #at = 0;
  #expected: Expected = "value";
  #isInvalid = false;
  /** For each open list or object, whether it is an object. Bytes, since a text may open as many as it has characters. */
  #objects = new Uint8Array(64);
  #depth = 0;

  constructor(json: string) {
    this.#json = json;
  }

  /** Whether the whole text is JSON; known when `step` has returned false. */
  get isValid(): boolean {
    return !this.#isInvalid && this.#expected === "nothing";
  }

  /** Reads the next token. @returns false when there is none, or the text is not JSON */
  step(): boolean {
    const spaceEnd = this.#at + spacesPerStep;
    while (this.#at < spaceEnd && isSpace(this.#json.charCodeAt(this.#at))) this.#at += 1;
    if (this.#at === spaceEnd) return true;
    if (this.#at >= this.#json.length) return false;
    this.#isInvalid = !this.#takeToken(this.#json[this.#at]!);
    return !this.#isInvalid;
  }

  /** @returns false if no such token is allowed here */
  #takeToken(first: string): boolean {
    const expected = this.#expected;
    switch (first) {
      case '"':
        return this.#takeString();
      case "[":
      case "{":
        return this.#takesValue() && this.#open(first === "{");
      case "]":
        return (expected === "value or end" || expected === "comma or end") && this.#close(false);
      case "}":
        return (expected === "name or end" || expected === "comma or end") && this.#close(true);
      case ":":
        this.#at += 1;
        this.#expected = "value";
        return expected === "colon";
      case ",":
        this.#at += 1;
        this.#expected = this.#isInObject() ? "name" : "value";
        return expected === "comma or end";
      default:
        return this.#takesValue() && this.#takeScalar(first);
    }
  }

  #takesValue(): boolean {
    return this.#expected === "value" || this.#expected === "value or end";
  }

  #isInObject(): boolean {
    return this.#objects[this.#depth - 1] === 1;
  }

  #open(isObject: boolean): boolean {
    if (this.#depth === this.#objects.length) {
      const larger = new Uint8Array(this.#depth * 2);
      larger.set(this.#objects);
      this.#objects = larger;
    }
    this.#objects[this.#depth] = isObject ? 1 : 0;
    this.#depth += 1;
    this.#at += 1;
    this.#expected = isObject ? "name or end" : "value or end";
    return true;
  }

  #close(isObject: boolean): boolean {
    if (this.#isInObject() !== isObject) return false;
    this.#depth -= 1;
    this.#at += 1;
    this.#endValue();
    return true;
  }

  #endValue(): void {
    this.#expected = this.#depth === 0 ? "nothing" : "comma or end";
  }

  #takeString(): boolean {
    const isName = this.#expected === "name" || this.#expected === "name or end";
    if (!isName && !this.#takesValue()) return false;
    const start = this.#at;
    const end = endOfString(this.#json, start);
    const text = end === -1 ? undefined : textOf(this.#json.slice(start, end));
    if (text === undefined) return false;
    this.found.push({ start, end, text });
    this.#at = end;
    if (isName) this.#expected = "colon";
    else this.#endValue();
    return true;
  }

  #takeScalar(first: string): boolean {
    const word = first === "t" ? "true" : first === "f" ? "false" : first === "n" ? "null" : undefined;
    const end =
      word === undefined
        ? endOfNumber(this.#json, this.#at)
        : this.#json.startsWith(word, this.#at)
          ? this.#at + word.length
          : -1;
    this.#at = end;
    this.#endValue();
    return end !== -1;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The place after the closing quote of the string that begins at `start`; -1 where it has none. */
function endOfString(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return -1;
}

function textOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** The place after the number that begins at `start`; -1 where none does. */
function endOfNumber(json: string, start: number): number {
  let at = json[start] === "-" ? start + 1 : start;
  at = json[at] === "0" ? at + 1 : endOfDigits(json, at);
  if (at !== -1 && json[at] === ".") at = endOfDigits(json, at + 1);
  if (at === -1 || (json[at] !== "e" && json[at] !== "E")) return at;
  return endOfDigits(json, json[at + 1] === "+" || json[at + 1] === "-" ? at + 2 : at + 1);
}

/** -1 where there is no digit. */
function endOfDigits(json: string, start: number): number {
  let at = start;
  for (let code = json.charCodeAt(at); code >= 0x30 && code <= 0x39; code = json.charCodeAt(at)) at += 1;
  return at === start ? -1 : at;
}
