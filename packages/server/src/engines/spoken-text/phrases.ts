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
  /**
   * For engines that are not much faster than speech: phrases begin short and grow, so that each is there before the ones before it
   * have been played, if the engine speaks at least twice as fast as real time. The first one ends at the first pause that leaves
   * something to play meanwhile, and may exceed its length to end well.
   */
  readonly grows?: boolean;
  readonly language?: string | undefined;
  /** Finds what is spoken differently in a sentence; by default nothing is. */
  readonly rewrite?: ((sentence: string) => readonly Rewrite[]) | undefined;
}

/** The shortest bound of a phrase that grows: three seconds. */
const shortestBound = 40;
/** The shortest first phrase of those that grow, unless its sentence is shorter: more than a second. */
const shortestFirst = 20;
/** Words before which English speakers pause, if at all. */
const joints =
  /\s+(?=(?:and|but|or|so|because|which|that|who|when|while|where|if|as|than|with|without|for|from|to|into|in|on|at|of|by|about|after|before|between|through|until|near|over|under|during)\s)/gi;

const pause = /[,;:!?…—–)\]]["'”’]*\s+|\s[—–-]+\s+/g;

/** The phrases of a readable text, in order. Together they hold every character that is not white space. */
export function* phrasesOf(readable: string, options: PhraseOptions): Generator<Phrase, void, undefined> {
  let first = true;
  // Characters that will be left to play when the next phrase begins to be synthesized.
  let ahead = 0;
  for (const sentence of sentencesOf(readable, options.language)) {
    const end = sentence.offset + sentence.length;
    const found = options.rewrite?.(readable.slice(sentence.offset, end)) ?? [];
    const rewrites = found.map(({ start, end: until, spoken }) => ({
      start: sentence.offset + start,
      end: sentence.offset + until,
      spoken,
    }));
    for (let from = sentence.offset; from < end;) {
      const bound = options.grows === true ? boundOf(options, first ? undefined : ahead) : options.longest;
      const to = phraseEnd({ text: readable, from, end, rewrites }, { ...options, bound, first });
      const range = trimmed(readable, from, to);
      if (range.length > 0) {
        const pause = pauseAfter(readable, range, to === end);
        const own = rewrites.filter((each) => each.start >= from && each.end <= to);
        yield { ...range, sentence: from === sentence.offset ? sentence : undefined, pause, rewrites: own };
      }
      // While it is synthesized, half of its length is played.
      ahead += range.length * (first ? 1 : 0.5);
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
function phraseEnd(rest: Rest, options: PhraseOptions & { bound: number; first: boolean }): number {
  const { text, from, end } = rest;
  const { longest, longestFirst, grows, bound, first } = options;
  if (first) {
    const cut = grows === true ? firstClause(rest, bound, longest) : earlyPause(rest, longestFirst);
    if (cut !== undefined) return cut;
  }
  const reach = reachOf(rest, bound);
  // A short rest of a sentence is not worth a break.
  if (reach >= end || (grows === true && furtherOf(rest, bound, longest) >= end)) return end;
  const cut = lastPause(rest, reach);
  const least = grows === true && first ? shortestFirst : (reach - from) / 4;
  if (cut !== undefined && cut - from > least) return cut;
  const natural = grows === true ? naturalEnd(rest, bound, longest) : undefined;
  if (natural !== undefined) return natural;
  const before = cutBefore(text, from, reach);
  const split = rewriteAt(rest, before);
  if (split === undefined) return before;
  return split.start > from ? split.start : split.end;
}

/** Where a pause follows the first words that take long enough to play. */
function firstClause(rest: Rest, bound: number, longest: number): number | undefined {
  return firstPause(rest, reachOf(rest, shortestFirst), furtherOf(rest, bound, longest));
}

/** The last pause of a long sentence within the limit. */
function earlyPause(rest: Rest, limit: number): number | undefined {
  const reach = reachOf(rest, limit);
  return reach < rest.end ? lastPause(rest, reach) : undefined;
}

/** @param ahead what will be left to play; undefined for the first phrase */
function boundOf({ longest, longestFirst }: PhraseOptions, ahead: number | undefined): number {
  return Math.min(longest, ahead === undefined ? longestFirst : Math.max(shortestBound, 2 * ahead));
}

/** How far a phrase may exceed its bound to end well. */
function furtherOf(rest: Rest, bound: number, longest: number): number {
  return reachOf(rest, Math.min(longest, 1.5 * bound));
}

/** A pause a little further than the bound; else before a word that may follow a pause. */
function naturalEnd(rest: Rest, bound: number, longest: number): number | undefined {
  const { text, from } = rest;
  const further = furtherOf(rest, bound, longest);
  const reach = reachOf(rest, bound);
  const words = [...text.slice(from, reach).matchAll(joints)].map(({ 0: space, index }) => from + index + space.length);
  const early = from + (reach - from) / 4;
  return firstPause(rest, reach, further) ?? words.findLast((at) => at > early && rewriteAt(rest, at) === undefined);
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
  return pausesIn(rest, reach).findLast((cut) => rewriteAt(rest, cut) === undefined);
}

function firstPause(rest: Rest, after: number, reach: number): number | undefined {
  return pausesIn(rest, reach).find((cut) => cut > after && rewriteAt(rest, cut) === undefined);
}

function pausesIn({ text, from }: Rest, reach: number): readonly number[] {
  return [...text.slice(from, reach).matchAll(pause)].map(({ 0: found, index }) => from + index + found.length);
}
