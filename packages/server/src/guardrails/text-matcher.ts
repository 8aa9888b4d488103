/**
 * Compiles a rule's words and patterns into functions that find them, in linear time.
 * docs/adr/0008-routing-and-guardrails.md
 */
import { RE2JS } from "re2js";
import type { GuardrailRule } from "../config/guardrails.ts";
import { detectors } from "../sensitive-data/detectors.ts";
import type { TextFinding } from "./finding.ts";

export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Finds one thing that a rule looks for. */
export interface TextMatcher {
  readonly finding: TextFinding;
  /** Declared upper bound for the length of a match, in UTF-16 code units. */
  readonly longestMatch: number;
  /** The first match that begins at `from` or later; the text before `from` only decides where words begin. */
  find(text: string, from: number): Match | undefined;
  /** Where the next match may begin. */
  resumeAfter(match: Match): number;
}

/** @param maxMatchCharacters how long a pattern's match may be */
export function compileRule(rule: GuardrailRule, maxMatchCharacters: number): TextMatcher[] {
  const { action, category, detect, patterns, words } = rule;
  const finding = { category, action };
  return [
    ...(words.length === 0 ? [] : [wordsMatcher(words, finding)]),
    ...patterns.map((pattern) => patternMatcher(pattern, { finding, maxMatchCharacters })),
    ...detect.map((kind) => ({ ...detectors[kind], finding, resumeAfter: ({ end }: Match) => end })),
  ];
}

/** What continues a word. */
export const wordSign = String.raw`[\p{L}\p{M}\p{N}_]`;
/** Scripts without spaces between words, where word boundaries mean nothing. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** White space between the words of a phrase, at most. */
const widestSpace = 8;

/** Only literals, for which the built-in engine cannot backtrack. */
function wordsMatcher(words: readonly string[], finding: TextFinding): TextMatcher {
  // The longest first, since the first alternative that fits is taken.
  const sorted = words.toSorted((left, right) => right.length - left.length);
  const [free, bounded] = [sorted.filter((word) => unspaced.test(word)), sorted.filter((word) => !unspaced.test(word))];
  const alternatives = [
    ...(bounded.length === 0 ? [] : [`(?<!${wordSign})(?:${bounded.map(literal).join("|")})(?!${wordSign})`]),
    ...free.map(literal),
  ];
  const expression = new RegExp(alternatives.join("|"), "giu");
  return {
    finding,
    longestMatch: Math.max(...words.map((word) => word.length + (widestSpace - 1) * (word.match(/\s+/g) ?? []).length)),
    find(text, from) {
      // In the middle of a surrogate pair the engine would step back to its begin.
      const isInside = /[\udc00-\udfff]/.test(text[from] ?? "") && /[\ud800-\udbff]/.test(text[from - 1] ?? "");
      expression.lastIndex = isInside ? from + 1 : from;
      const match = expression.exec(text);
      return match === null ? undefined : { start: match.index, end: expression.lastIndex };
    },
    // Words may overlap, and none of them may stay.
    resumeAfter: ({ start }) => start + 1,
  };
}

function literal(word: string): string {
  return word
    .split(/\s+/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
    .join(String.raw`\s{1,${widestSpace}}`);
}

function patternMatcher(
  pattern: string,
  { finding, maxMatchCharacters }: { finding: TextFinding; maxMatchCharacters: number },
): TextMatcher {
  const expression = RE2JS.compile(pattern);
  return {
    finding,
    longestMatch: maxMatchCharacters,
    find(text, from) {
      const matcher = expression.matcher(text);
      // An empty match, as of `\b`, cannot be reported or redacted.
      for (let at = from; at <= text.length && matcher.find(at); at = matcher.end() + 1) {
        if (matcher.end() > matcher.start()) return { start: matcher.start(), end: matcher.end() };
      }
      return undefined;
    },
    resumeAfter: ({ end }) => end,
  };
}
