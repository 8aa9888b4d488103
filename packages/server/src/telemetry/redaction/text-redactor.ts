/** Replaces sensitive data in texts of telemetry, in slices: the time for a text is linear in its length. */
import { RE2JS } from "re2js";
import { inputLimit } from "../../input-limits.ts";
import { compileSearch } from "@sounding/promql/regex/search";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { longStep, type CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { detectors, type Detector, type FoundRange } from "../../sensitive-data/detectors.ts";
import { sensitiveKinds, type SensitiveKind } from "../../sensitive-data/kinds.ts";
import { byteFilter, type ByteFilter } from "./byte-filter.ts";

/** What is replaced. */
export interface RedactedKinds {
  readonly kinds: ReadonlySet<SensitiveKind>;
  /** Expressions in RE2 syntax, each with the name that replaces its matches. */
  readonly patterns: readonly (readonly [name: string, pattern: string])[];
}

export interface TextRedactor {
  /** Whether the bytes, of one text or of several, may contain something to replace. */
  readonly mayMatch: ByteFilter;
  /** @returns undefined if nothing is replaced */
  redact(text: string, yielder: CooperativeYield): Promise<string | undefined>;
}

/** Replacements are longer than what they replace may be. */
const maxReplacements = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Matches of one kind that redaction replaces in one text",
  value: 1000,
  error: { instead: "the rest of the text is replaced" },
});
/** Longer matches of own patterns may be cut in longer texts. */
const longestPatternMatch = 256;
/** Texts are searched in windows of this many longest matches, and of this many characters at least. */
const windowMatches = 8;
const smallestWindow = 1024;
/** What a detector may read before the place where it searches. */
const contextLength = 2;

interface NamedDetector extends Detector {
  readonly name: string;
}

interface Redaction extends FoundRange {
  readonly name: string;
}

/** @param count called for each replacement */
export function createTextRedactor({ kinds, patterns }: RedactedKinds, count: (name: string) => void): TextRedactor {
  const named: readonly NamedDetector[] = [
    ...sensitiveKinds.filter((kind) => kinds.has(kind)).map((kind) => ({ ...detectors[kind], name: kind })),
    ...patterns.map(([name, pattern]) => ({ ...patternDetector(pattern), name })),
  ];
  return {
    mayMatch: patterns.length > 0 ? () => true : byteFilter(kinds),
    async redact(text, yielder) {
      const searched = await withoutEscapes(text, yielder);
      const found: Redaction[] = [];
      for (const detector of named) await search(searched, { detector, found, yielder });
      if (found.length === 0) return undefined;
      return replaced(text, found, count);
    },
  };
}

/** Characters whose escapes are replaced in one step. */
const escapesWindow = 32_768;
const longestEscape = 6;

/**
 * JSON inside a text has escapes such as `\n`, whose letter would be a part of the word that follows. Spaces in their places keep all
 * positions.
 */
async function withoutEscapes(text: string, yielder: CooperativeYield): Promise<string> {
  if (!text.includes("\\")) return text;
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + escapesWindow);
    const escape = end < text.length ? text.lastIndexOf("\\", end - 1) : -1;
    if (escape > at && escape > end - longestEscape) end = escape;
    pieces.push(
      text
        .slice(at, end)
        .replaceAll(/\\u[\dA-Fa-f]{4}/g, "      ")
        .replaceAll(/\\[nrtbf"/]/g, "  ")
        .replaceAll("\\", " "),
    );
    at = end;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return pieces.join("");
}

interface SearchState {
  readonly detector: NamedDetector;
  readonly found: Redaction[];
  readonly yielder: CooperativeYield;
}

async function search(text: string, { detector, found, yielder }: SearchState): Promise<void> {
  const { longestMatch, name } = detector;
  const length = Math.max(smallestWindow, windowMatches * longestMatch);
  let count = 0;
  for (let at = 0; at < text.length;) {
    const begin = Math.max(0, at - contextLength);
    const window = begin === 0 && text.length <= length ? text : text.slice(begin, at + 2 * length);
    const end = at + length;
    for (;;) {
      const match = detector.find(window, at - begin);
      if (yielder.isDue(longStep)) await yielder.yield();
      // What begins in the next window is found whole there.
      if (match === undefined || match.start + begin >= end) break;
      count += 1;
      if (count > maxReplacements) return void found.push({ start: match.start + begin, end: text.length, name });
      found.push({ start: match.start + begin, end: match.end + begin, name });
      at = match.end + begin;
    }
    at = Math.max(at, end);
  }
}

/** Of matches that overlap, the one that begins first is named; all of them are replaced. */
function replaced(text: string, found: Redaction[], count: (name: string) => void): string {
  let result = "";
  let at = 0;
  for (const { start, end, name } of found.sort((left, right) => left.start - right.start || right.end - left.end)) {
    if (start >= at) {
      result += `${text.slice(at, start)}[redacted: ${name}]`;
      count(name);
    }
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}

/** An expression that the configuration has checked. */
function patternDetector(pattern: string): Detector {
  const expression = RE2JS.compile(pattern);
  const quick = compileSearch(pattern);
  return {
    longestMatch: longestPatternMatch,
    find(text, from) {
      // Far quicker than a search for the place, and nearly always enough.
      if (!("problem" in quick) && quick.isIn(text, neverYield) === false) return undefined;
      const matcher = expression.matcher(text);
      for (let at = from; at <= text.length && matcher.find(at); at = matcher.end() + 1) {
        if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end() };
      }
      return undefined;
    },
  };
}
