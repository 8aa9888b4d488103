/** Reads the pairs of a line in logfmt, as go-logfmt does: `key=value key="quoted value" key`. */

const space = 32;
const quote = 34;
const equals = 61;
const backslash = 92;

export class LogfmtScanner {
  key = "";
  value = "";
  /** What is wrong with the last invalid pair; "" if none was. */
  problem = "";
  readonly #line: string;
  #at = 0;

  constructor(line: string) {
    this.#line = line;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#line.length;
  }

  get position(): number {
    return this.#at;
  }

  /** Reads the next pair; false if there is none or it is invalid. */
  next(): boolean {
    const line = this.#line;
    this.key = "";
    this.value = "";
    while (this.#at < line.length && line.charCodeAt(this.#at) <= space) this.#at++;
    if (this.isAtEnd) return false;
    const start = this.#at;
    let at = start;
    for (; at < line.length; at++) {
      const unit = line.charCodeAt(at);
      if (unit <= space || unit === equals || unit === quote) break;
    }
    this.#at = at;
    const unit = line.charCodeAt(at);
    if (unit === quote || (unit === equals && at === start)) return this.#unexpected();
    this.key = line.slice(start, at);
    if (this.key.includes("\uFFFD")) {
      this.#fail("invalid key");
      if (unit === equals) this.#skip();
      return false;
    }
    if (unit !== equals) return true;
    this.#at = at + 1;
    return this.#readValue();
  }

  #readValue(): boolean {
    const line = this.#line;
    const start = this.#at;
    if (line.charCodeAt(start) === quote) return this.#readQuoted();
    let at = start;
    for (; at < line.length; at++) {
      const unit = line.charCodeAt(at);
      if (unit <= space) break;
      if (unit === equals || unit === quote) {
        this.#at = at;
        return this.#unexpected();
      }
    }
    this.#at = at;
    this.value = line.slice(start, at);
    return true;
  }

  #readQuoted(): boolean {
    const line = this.#line;
    const start = this.#at + 1;
    let hasEscapes = false;
    for (let at = start; at < line.length; at++) {
      const unit = line.charCodeAt(at);
      if (unit === backslash) {
        hasEscapes = true;
        at++;
      } else if (unit === quote) {
        this.#at = at + 1;
        const raw = line.slice(start, at);
        const value = hasEscapes ? unquote(raw) : raw;
        if (value === undefined) return this.#fail("invalid quoted value");
        this.value = value;
        return true;
      }
    }
    this.#at = line.length;
    return this.#fail("unterminated quoted value");
  }

  #unexpected(): boolean {
    this.#fail(`unexpected '${this.#line[this.#at]!}'`);
    this.#skip();
    return false;
  }

  #skip(): void {
    while (this.#at < this.#line.length && this.#line.charCodeAt(this.#at) > space) this.#at++;
  }

  #fail(message: string): false {
    const bytes = Buffer.byteLength(this.#line.slice(0, this.#at));
    this.problem = `logfmt syntax error at pos ${bytes + 1} : ${message}`;
    return false;
  }
}

const escape = /\\(?:u([\da-fA-F]{4})|([^]|$))/g;
const escaped: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  "'": "'",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** A quoted value with its escape sequences replaced; undefined if one is invalid. */
function unquote(raw: string): string | undefined {
  let isValid = true;
  const value = raw.replaceAll(escape, (_, hex: string | undefined, character: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    const plain = escaped[character];
    if (plain === undefined) isValid = false;
    return plain ?? "";
  });
  return isValid ? value.toWellFormed() : undefined;
}
