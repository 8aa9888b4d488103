/**
 * Divides log lines into tokens, and masks those that vary by kind: times, numbers, addresses, identifiers. What remains are
 * the words that lines of the same statement in a program have in common.
 */

/** A masked token: what the line filter `|>` calls a capture without a name. */
export const placeholder = "<_>";

/** Longer lines, and lines with more tokens, have no pattern. */
const longestLine = 4096;
const mostTokens = 160;

/** What varies and extends over separators, as parts of one regular expression without nested repetition. */
const variable = new RegExp(
  [
    // What `|>` would read as a capture.
    String.raw`<[a-z_]\w*>`,
    // Times in ISO 8601, with a space or a T, and times of the day.
    String.raw`\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?`,
    String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`,
    // UUIDs, addresses with ports, and other hexadecimal identifiers.
    String.raw`[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}`,
    String.raw`\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?`,
    String.raw`0x[\da-f]+`,
    // Numbers, with a sign, a fraction, a unit or a percent sign.
    String.raw`[+-]?\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?(?:ns|us|µs|ms|s|m|h|d|[kmgtpe]?i?b|%)?`,
  ]
    .map((part) => `(?:${part})`)
    .join("|"),
  "giy",
);
const word = /[\p{L}\p{N}_]+/uy;
const isIdentifierCharacter = /[\p{L}\p{N}_]/u;

/** A part of a line, and whether it is masked. */
interface Part {
  text: string;
  readonly isMasked: boolean;
}

/** The tokens, joined again they are the line with placeholders; undefined if the line is too long or has no words. */
export function tokenize(line: string): readonly string[] | undefined {
  if (line.length > longestLine) return undefined;
  const parts: Part[] = [];
  for (let at = 0; at < line.length;) {
    const end = variableEnd(line, at);
    const text = end > at ? line.slice(at, end) : wordAt(line, at);
    const isMasked = end > at || isVariableWord(text);
    const last = parts.at(-1);
    if (isMasked && last?.isMasked === true) last.text += text;
    else parts.push({ text, isMasked });
    if (parts.length > mostTokens) return undefined;
    at += text.length;
  }
  const tokens = withoutAmbiguity(parts).map(({ isMasked, text }) => (isMasked ? placeholder : text));
  return tokens.some(isWord) ? tokens : undefined;
}

/**
 * `|>` ends a capture where it first finds the text that follows it. Where what is masked contains that text, the capture must
 * extend further.
 */
function withoutAmbiguity(parts: readonly Part[]): readonly Part[] {
  const clear: Part[] = [];
  for (const [index, part] of parts.entries()) {
    const last = clear.at(-1);
    if (last?.isMasked !== true) clear.push({ ...part });
    else if (part.isMasked || last.text.includes(literalAt(parts, index))) last.text += part.text;
    else clear.push({ ...part });
  }
  return clear;
}

/** The text from here to the next masked part. */
function literalAt(parts: readonly Part[], index: number): string {
  const end = parts.findIndex(({ isMasked }, at) => at >= index && isMasked);
  return parts
    .slice(index, end === -1 ? parts.length : end)
    .map(({ text }) => text)
    .join("");
}

/** Words, as opposed to separators and placeholders. */
export function isWord(token: string): boolean {
  return token !== placeholder && isIdentifierCharacter.test(token);
}

/** Where the variable part ends that begins here; the position itself if none does. */
function variableEnd(line: string, at: number): number {
  variable.lastIndex = at;
  const match = variable.exec(line)?.[0] ?? "";
  const end = at + match.length;
  const next = line[end] ?? "";
  // `3xx` is no number.
  return isIdentifierCharacter.test(match.at(-1) ?? "") && isIdentifierCharacter.test(next) ? at : end;
}

/** The word or the single character here. */
function wordAt(line: string, at: number): string {
  word.lastIndex = at;
  return word.exec(line)?.[0] ?? String.fromCodePoint(line.codePointAt(at)!);
}

/** Identifiers: hexadecimal digits, or letters mixed with many digits. Versions such as `v1` and names such as `http2` are kept. */
function isVariableWord(text: string): boolean {
  const digits = text.replaceAll(/\D/g, "").length;
  if (digits === 0) return false;
  return (text.length >= 8 && /^[\da-f]+$/i.test(text)) || digits >= 4 || digits * 2 > text.length;
}
