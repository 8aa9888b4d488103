/**
 * Splits sentences into phrases, the units of synthesis: short enough for a fast first sound and for quick cancellation,
 * split where a speaker would pause.
 */
import { pauseAfter } from "./pauses-between-phrases.ts";
import type { Rewrite } from "./spoken-text.ts";
import { cutBefore, sentencesOf, trimmed, type TextRange } from "./sentences.ts";

export interface Phrase extends TextRange {
  /** The sentence that begins with this phrase. */
  readonly sentence: TextRange | undefined;
  /** Seconds of silence after it at speed 1. */
  readonly pause: number;
  /** What is spoken differently than written, by position in the text. */
  readonly rewrites: readonly Rewrite[];
}

export interface PhraseOptions {
  /** Longest phrase, in UTF-16 code units of what is spoken. */
  readonly longest: number;
  /** The first phrase ends at a pause in the text within this length, if there is one. */
  readonly longestFirst: number;
  readonly language?: string | undefined;
  /** Finds what is spoken differently in a sentence; by default nothing is. */
  readonly rewrite?: ((sentence: string) => readonly Rewrite[]) | undefined;
}

const pause = /[,;:!?…—–)\]]["'”’]*\s+|\s[—–-]+\s+/g;

/** The phrases of a readable text, in order. Together they hold every character that is not white space. */
export function* phrasesOf(readable: string, options: PhraseOptions): Generator<Phrase, void, undefined> {
  let first = true;
  for (const sentence of sentencesOf(readable, options.language)) {
    const end = sentence.offset + sentence.length;
    const found = options.rewrite?.(readable.slice(sentence.offset, end)) ?? [];
    const rewrites = found.map(({ start, end: until, spoken }) => ({
      start: sentence.offset + start,
      end: sentence.offset + until,
      spoken,
    }));
    for (let from = sentence.offset; from < end;) {
      const to = phraseEnd({ text: readable, from, end, rewrites }, { ...options, first });
      const range = trimmed(readable, from, to);
      if (range.length > 0) {
        const pause = pauseAfter(readable, range, to === end);
        const own = rewrites.filter((each) => each.start >= from && each.end <= to);
        yield { ...range, sentence: from === sentence.offset ? sentence : undefined, pause, rewrites: own };
      }
      from = to;
      first = false;
    }
  }
}

/** The sentences of a readable text, joined up to `longest` UTF-16 code units where they fit. */
export function* sentenceGroups(
  readable: string,
  longest: number,
  language?: string,
): Generator<TextRange, void, undefined> {
  let start: number | undefined;
  let end = 0;
  for (const { offset, length } of sentencesOf(readable, language)) {
    if (start !== undefined && offset + length - start > longest) {
      yield { offset: start, length: end - start };
      start = undefined;
    }
    start ??= offset;
    end = offset + length;
  }
  if (start !== undefined) yield { offset: start, length: end - start };
}

interface Rest {
  readonly text: string;
  readonly from: number;
  readonly end: number;
  readonly rewrites: readonly Rewrite[];
}

/** Never inside a rewrite. */
function phraseEnd(rest: Rest, { longest, longestFirst, first }: PhraseOptions & { first: boolean }): number {
  const { text, from, end } = rest;
  if (first) {
    const reach = reachOf(rest, longestFirst);
    const cut = reach < end ? lastPause(rest, reach) : undefined;
    if (cut !== undefined) return cut;
  }
  const reach = reachOf(rest, longest);
  if (reach >= end) return end;
  const cut = lastPause(rest, reach);
  if (cut !== undefined && cut - from > (reach - from) / 4) return cut;
  const before = cutBefore(text, from, reach);
  const split = rewriteAt(rest, before);
  if (split === undefined) return before;
  return split.start > from ? split.start : split.end;
}

/** How far `limit` spoken characters reach, at least over one rewrite. */
function reachOf({ from, end, rewrites }: Rest, limit: number): number {
  let position = from;
  let left = limit;
  for (const rewrite of rewrites) {
    if (rewrite.start < position) continue;
    if (rewrite.start - position >= left) break;
    left -= rewrite.start - position + rewrite.spoken.length;
    if (left < 0) return rewrite.start > from ? rewrite.start : rewrite.end;
    position = rewrite.end;
  }
  return Math.min(end, position + left);
}

function rewriteAt({ rewrites }: Rest, position: number): Rewrite | undefined {
  return rewrites.find(({ start, end }) => start < position && position < end);
}

function lastPause(rest: Rest, reach: number): number | undefined {
  const { text, from } = rest;
  const cuts = [...text.slice(from, reach).matchAll(pause)].map(({ 0: found, index }) => from + index + found.length);
  return cuts.findLast((cut) => rewriteAt(rest, cut) === undefined);
}
