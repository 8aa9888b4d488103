/**
 * String literals: Go's escapes in double and single quotes, none in backticks.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/#string-literals
 *
 * A JavaScript string cannot hold bytes that are not UTF-8, which `"\xc5"` can write: such a byte becomes the lone
 * surrogate U+DC00 + byte (the convention of Python's PEP 383), so that nothing is lost and nothing valid collides.
 */
const simpleEscapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  "\\": 92,
};

/** The value of a literal with its quotes, or undefined when an escape is broken. */
export function unquoteString(literal: string): string | undefined {
  const quote = literal[0]!;
  const body = literal.slice(1, -1);
  if (quote === "`" || !body.includes("\\")) return body;
  const parts: string[] = [];
  let bytes: number[] = [];
  let position = 0;
  while (position < body.length) {
    if (body[position] !== "\\") {
      const next = body.indexOf("\\", position);
      const end = next === -1 ? body.length : next;
      parts.push(decodeBytes(bytes), body.slice(position, end));
      bytes = [];
      position = end;
      continue;
    }
    const escape = readEscape(body, position + 1, quote);
    if (escape === undefined) return undefined;
    if (escape.isByte) {
      bytes.push(escape.value);
    } else {
      parts.push(decodeBytes(bytes), String.fromCodePoint(escape.value));
      bytes = [];
    }
    position = escape.end;
  }
  parts.push(decodeBytes(bytes));
  return parts.join("");
}

interface Escape {
  readonly value: number;
  /** One byte (`\x41`, `\101`) rather than a code point (`\u0041`). */
  readonly isByte: boolean;
  readonly end: number;
}

/** The escape whose character after the backslash is at `position`. */
function readEscape(body: string, position: number, quote: string): Escape | undefined {
  const letter = body[position];
  if (letter === undefined) return undefined;
  if (letter === quote) return { value: quote.charCodeAt(0), isByte: false, end: position + 1 };
  const simple = simpleEscapes[letter];
  if (simple !== undefined) return { value: simple, isByte: false, end: position + 1 };
  if (/[0-7]/.test(letter)) return readDigits({ body, position, count: 3, base: 8, max: 255 }, true);
  if (letter === "x") return readDigits({ body, position: position + 1, count: 2, base: 16, max: 255 }, true);
  if (letter === "u") return readDigits({ body, position: position + 1, count: 4, base: 16, max: 0xffff }, false);
  if (letter === "U") return readDigits({ body, position: position + 1, count: 8, base: 16, max: 0x10ffff }, false);
  return undefined;
}

function readDigits(
  from: { body: string; position: number; count: number; base: 8 | 16; max: number },
  isByte: boolean,
): Escape | undefined {
  const end = from.position + from.count;
  const digits = from.body.slice(from.position, end);
  const wanted = from.base === 8 ? /^[0-7]+$/ : /^[\da-fA-F]+$/;
  if (digits.length !== from.count || !wanted.test(digits)) return undefined;
  const value = Number.parseInt(digits, from.base);
  const isSurrogate = !isByte && value >= 0xd800 && value <= 0xdfff;
  return value > from.max || isSurrogate ? undefined : { value, isByte, end };
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeBytes(bytes: readonly number[]): string {
  if (bytes.length === 0) return "";
  if (bytes.every((byte) => byte < 0x80)) return String.fromCharCode(...bytes);
  let text = "";
  for (let index = 0; index < bytes.length;) {
    const length = [1, 2, 3, 4].find((candidate) => isUtf8(bytes, index, candidate));
    text += length === undefined ? String.fromCharCode(0xdc00 + bytes[index]!) : decode(bytes, index, length);
    index += length ?? 1;
  }
  return text;
}

function decode(bytes: readonly number[], start: number, length: number): string {
  return strictDecoder.decode(Uint8Array.from(bytes.slice(start, start + length)));
}

function isUtf8(bytes: readonly number[], start: number, length: number): boolean {
  if (start + length > bytes.length) return false;
  try {
    decode(bytes, start, length);
    return true;
  } catch {
    return false;
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
const needsEscape = /["\\\u0000-\u001f\u007f\u0080-\u009f\u2028\u2029\ufeff\ufffd]/g;

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\u000b": "\\v",
};

/** The value as a double-quoted literal that parses to the same value again. */
export function quoteString(value: string): string {
  const escaped = value.replaceAll(needsEscape, (character) => shortEscapes[character] ?? escapeCode(character));
  return `"${escaped}"`;
}

function escapeCode(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Like `quoteString`, with bytes that are not UTF-8 written as `\xNN`, as Go prints them in messages. */
export function quoteForMessage(value: string): string {
  return quoteString(value).replaceAll(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (lone) => (lone >= "\udc80" && lone <= "\udcff" ? `\\x${(lone.charCodeAt(0) - 0xdc00).toString(16)}` : lone),
  );
}

/** Whether a label name is allowed: any text of valid Unicode but the empty one. */
export function isLabelName(name: string): boolean {
  return name !== "" && name.isWellFormed();
}
