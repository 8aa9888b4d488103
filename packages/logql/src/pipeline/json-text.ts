/** Reads the parts of JSON text by their positions, without building values; as lenient as Loki. */

export const jsonProblems = {
  json: "Malformed JSON error",
  string: "Value is string, but can't find closing '\"' symbol",
  array: "Value is array, but can't find closing ']' symbol",
  object: "Value looks like object, but can't find closing '}' symbol",
  escape: "Encountered an invalid escape sequence in a string",
  type: "Unknown value type",
} as const;

export const code = {
  tab: 9,
  newline: 10,
  carriageReturn: 13,
  space: 32,
  quote: 34,
  comma: 44,
  minus: 45,
  colon: 58,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  openBrace: 123,
  closeBrace: 125,
} as const;

/** The position of the next character that is no white space; the text's length if there is none. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > code.space) return at;
    if (unit !== code.space && unit !== code.tab && unit !== code.newline && unit !== code.carriageReturn) return at;
  }
  return at;
}

/** The position of the quote that ends a string; -1 if there is none. `from` is behind the opening quote. */
export function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - backslashes > from && text.charCodeAt(at - backslashes - 1) === code.backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

/** The position behind the bracket that closes the array or object at `from`; -1 if none does. */
export function blockEnd(text: string, from: number): number {
  const open = text.charCodeAt(from);
  const close = open + 2;
  let level = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === code.quote) {
      at = stringEnd(text, at + 1);
      if (at === -1) return -1;
    } else if (unit === open) {
      level++;
    } else if (unit === close && --level === 0) {
      return at + 1;
    }
  }
  return -1;
}

/** The position behind a number or word. */
export function tokenEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === code.comma || unit === code.closeBrace || unit === code.closeBracket) return at;
    if (unit === code.space || (unit <= code.carriageReturn && unit >= code.tab && unit !== 11 && unit !== 12))
      return at;
  }
  return at;
}

/** The kind of the number or word between two positions; undefined if it is neither. */
export function tokenKind(text: string, from: number, to: number): "number" | "boolean" | "null" | undefined {
  const unit = text.charCodeAt(from);
  if (unit === code.minus || (unit >= 48 && unit <= 57)) return "number";
  if (text.startsWith("true", from) && to === from + 4) return "boolean";
  if (text.startsWith("false", from) && to === from + 5) return "boolean";
  return text.startsWith("null", from) && to === from + 4 ? "null" : undefined;
}

const plainEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** The text of a string without its quotes; undefined if an escape sequence is invalid. */
export function unescapeJson(raw: string): string | undefined {
  let at = raw.indexOf("\\");
  if (at === -1) return raw;
  let text = "";
  let kept = 0;
  for (; at !== -1; at = raw.indexOf("\\", kept)) {
    text += raw.slice(kept, at);
    const plain = plainEscapes[raw.charAt(at + 1)];
    if (plain !== undefined) {
      text += plain;
      kept = at + 2;
      continue;
    }
    const first = raw.charAt(at + 1) === "u" ? hexUnit(raw, at + 2) : -1;
    if (first === -1) return undefined;
    if (first < 0xd800 || first > 0xdfff) {
      text += String.fromCharCode(first);
      kept = at + 6;
      continue;
    }
    const second = hexUnit(raw, at + 8);
    if (second < 0xdc00) return undefined;
    const codePoint = 0x1_0000 + (first - 0xd800) * 1024 + (second - 0xdc00);
    text += codePoint > 0x10_ffff ? "\uFFFD" : String.fromCodePoint(codePoint);
    kept = at + 12;
  }
  return text + raw.slice(kept);
}

function hexUnit(raw: string, from: number): number {
  const digits = raw.slice(from, from + 4);
  return /^[\da-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}
