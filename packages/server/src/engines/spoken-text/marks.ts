/**
 * Turns spoken tokens into speech marks of the source text: a word that was spoken as several ("$3.50", an emoji) is one
 * mark over its source, and the text between words is punctuation.
 */
import type { SpeechMark } from "../engine.ts";
import type { AsciiText } from "./ascii-text.ts";

/** A token of the text, as the engine split it, in order. */
export interface SpokenToken {
  /** The characters of the ASCII text. */
  readonly text: string;
  /** When it is spoken, seconds; undefined where it is not. */
  readonly start: number | undefined;
  readonly end: number | undefined;
}

interface Placed extends SpokenToken {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** The marks in the order of time. */
export function toMarks(ascii: AsciiText, tokens: readonly SpokenToken[]): SpeechMark[] {
  const words = place(ascii.text, tokens);
  const marks: SpeechMark[] = [];
  let cursor = 0;
  let spokenUntil = words[0]?.start ?? 0;
  for (const [index, word] of words.entries()) {
    addAll(marks, punctuation(ascii, { from: cursor, to: word.from, before: spokenUntil, after: word.start }));
    const to = abbreviationEnd(ascii.text, word, index < words.length - 1);
    add(marks, {
      kind: "word",
      ...ascii.source(word.from, to),
      startMs: milliseconds(word.start),
      durationMs: milliseconds(word.end - word.start),
    });
    cursor = to;
    spokenUntil = word.end;
  }
  const rest = { from: cursor, to: ascii.text.length, before: spokenUntil, after: spokenUntil };
  addAll(marks, punctuation(ascii, rest));
  return marks;
}

/** One character of the source may have become several signs and words ("©", an emoji): it is one mark, a word if it can be. */
function add(marks: SpeechMark[], mark: SpeechMark): void {
  const last = marks.at(-1);
  if (last === undefined || mark.offset >= last.offset + last.length) {
    if (mark.length > 0) marks.push(mark);
  } else if (mark.kind === "word") {
    const { offset, startMs } = last;
    const length = Math.max(last.offset + last.length, mark.offset + mark.length) - offset;
    const durationMs = Math.round((mark.startMs + mark.durationMs - startMs) * 10) / 10;
    marks[marks.length - 1] = { kind: "word", offset, length, startMs, durationMs };
  }
}

function addAll(marks: SpeechMark[], added: readonly SpeechMark[]): void {
  for (const mark of added) add(marks, mark);
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 10_000) / 10;
}

/** Finds the tokens in the text; a token that is not spoken separately belongs to the one before it, if it has letters. */
function place(text: string, tokens: readonly SpokenToken[]): Placed[] {
  const placed: Placed[] = [];
  let cursor = 0;
  for (const token of tokens) {
    const from = text.indexOf(token.text, cursor);
    if (from === -1 || token.text === "") continue;
    const to = from + token.text.length;
    cursor = to;
    const { start, end } = token;
    const last = placed.at(-1);
    if (start !== undefined && end !== undefined) placed.push({ ...token, from, to, start, end });
    else if (last !== undefined && /[\p{L}\p{N}]/u.test(token.text)) placed[placed.length - 1] = { ...last, to };
  }
  return placed;
}

/** A single period inside a sentence belongs to the abbreviation before it, and always after others ("U.S."). */
function abbreviationEnd(text: string, { from, to }: Placed, wordsFollow: boolean): number {
  const dotted = /^(?:[A-Za-z]\.)+[A-Za-z]$/.test(text.slice(from, to));
  if (dotted && /^\.(?!\.)/.test(text.slice(to, to + 2))) return to + 1;
  return wordsFollow && /^\.(?!\.)\s/.test(text.slice(to, to + 3)) ? to + 1 : to;
}

interface Gap {
  /** Positions in the ASCII text. */
  readonly from: number;
  readonly to: number;
  /** Seconds: the end of the word before and the start of the word after. */
  readonly before: number;
  readonly after: number;
}

/** Punctuation right after a word is timed as the pause after it; punctuation before a word starts with it. */
function punctuation(ascii: AsciiText, { from, to, before, after }: Gap): SpeechMark[] {
  const marks: SpeechMark[] = [];
  for (const found of ascii.text.slice(from, to).matchAll(/(?<sign>\S\p{M}*)\k<sign>*/gu)) {
    const start = from + found.index;
    const closes = from > 0 && !/\s/.test(ascii.text.slice(from, start));
    const pause = closes && marks.length === 0 ? after - before : 0;
    marks.push({
      kind: "punctuation",
      ...ascii.source(start, start + found[0].length),
      startMs: milliseconds(closes ? before : after),
      durationMs: milliseconds(Math.max(0, pause)),
    });
  }
  return marks;
}
