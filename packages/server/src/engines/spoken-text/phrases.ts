/**
 * Splits sentences into phrases, the units of synthesis: short enough for a fast first sound and for quick cancellation,
 * split where a speaker would pause.
 */
import { pauseAfter } from "./pauses-between-phrases.ts";
import { cutBefore, sentencesOf, trimmed, type TextRange } from "./sentences.ts";

export interface Phrase extends TextRange {
  /** The sentence that begins with this phrase. */
  readonly sentence: TextRange | undefined;
  /** Seconds of silence after it at speed 1. */
  readonly pause: number;
}

export interface PhraseOptions {
  /** Longest phrase, in UTF-16 code units. */
  readonly longest: number;
  /** The first phrase ends at a pause in the text within this length, if there is one. */
  readonly longestFirst: number;
  readonly language?: string | undefined;
}

const pause = /[,;:!?…—–)\]]["'”’]*\s+|\s[—–-]+\s+/g;

/** The phrases of a readable text, in order. Together they hold every character that is not white space. */
export function* phrasesOf(readable: string, options: PhraseOptions): Generator<Phrase, void, undefined> {
  let first = true;
  for (const sentence of sentencesOf(readable, options.language)) {
    const end = sentence.offset + sentence.length;
    for (let from = sentence.offset; from < end;) {
      const to = phraseEnd(readable, from, end, { ...options, first });
      const range = trimmed(readable, from, to);
      if (range.length > 0) {
        const pause = pauseAfter(readable, range.offset + range.length, to === end);
        yield { ...range, sentence: from === sentence.offset ? sentence : undefined, pause };
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

function phraseEnd(text: string, from: number, end: number, limits: PhraseOptions & { first: boolean }): number {
  const { longest, longestFirst, first } = limits;
  const length = end - from;
  if (first && length > longestFirst) {
    const cut = lastPause(text.slice(from, from + longestFirst));
    if (cut !== undefined) return from + cut;
  }
  if (length <= longest) return end;
  const cut = lastPause(text.slice(from, from + longest));
  return cut !== undefined && cut > longest / 4 ? from + cut : cutBefore(text, from, from + longest);
}

function lastPause(part: string): number | undefined {
  const last = [...part.matchAll(pause)].at(-1);
  return last === undefined ? undefined : last.index + last[0].length;
}
