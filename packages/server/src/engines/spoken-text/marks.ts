/**
 * Turns spoken tokens into speech marks of the source text: a word that was spoken as several ("$3.50", an emoji) is one
 * mark over its source, and the text between words is punctuation.
 */
import type { SpeechMark } from "../engine.ts";
import type { SpokenText } from "./spoken-text.ts";

/** A token of the text, as the engine split it, in order. */
export interface SpokenToken {
  /** The characters of the spoken text. */
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

/** When the first token starts and the last one ends, in seconds; undefined if none is spoken. */
export function extentOf(tokens: readonly SpokenToken[]): { start: number; end: number } | undefined {
  const spoken = tokens.flatMap(({ start, end }) => (start === undefined || end === undefined ? [] : [{ start, end }]));
  const [first, last] = [spoken[0], spoken.at(-1)];
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end };
}

/** The tokens of audio from whose start `seconds` were removed. */
export function movedForward(tokens: readonly SpokenToken[], seconds: number): SpokenToken[] {
  const moved = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : Math.max(0, time - seconds);
  return tokens.map(({ text, start, end }) => ({ text, start: moved(start), end: moved(end) }));
}

/**
 * The marks in the order of time.
 * @param end where the audio ends, in seconds: the pause after the last word belongs to the sign after it
 */
export function toMarks(spoken: SpokenText, tokens: readonly SpokenToken[], end: number): SpeechMark[] {
  const words = place(spoken.text, tokens);
  const marks: SpeechMark[] = [];
  let cursor = 0;
  let spokenUntil = words[0]?.start ?? 0;
  for (const [index, word] of words.entries()) {
    addAll(marks, punctuation(spoken, { from: cursor, to: word.from, before: spokenUntil, after: word.start }));
    const to = abbreviationEnd(spoken.text, word, index < words.length - 1);
    add(marks, {
      kind: "word",
      ...spoken.source(word.from, to),
      startMs: milliseconds(word.start),
      durationMs: milliseconds(word.end - word.start),
    });
    cursor = to;
    spokenUntil = word.end;
  }
  const rest = { from: cursor, to: spoken.text.length, before: spokenUntil, after: Math.max(spokenUntil, end) };
  addAll(marks, punctuation(spoken, rest));
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
  /** Positions in the spoken text. */
  readonly from: number;
  readonly to: number;
  /** Seconds: the end of the word before and the start of the word after. */
  readonly before: number;
  readonly after: number;
}

/** Signs at which a speaker pauses. */
const pausing = /^[,;:.!?…—–、。，；：！？।؟،؛]/;

/**
 * The sign that causes a pause lasts as long as the pause: of the signs that close what was said, the first at which a
 * speaker pauses, else the first one. All others last for no time. Signs that open what follows start with it.
 */
function punctuation(spoken: SpokenText, { from, to, before, after }: Gap): SpeechMark[] {
  const { text } = spoken;
  const signs = [...text.slice(from, to).matchAll(/(?<sign>\S\p{M}*)\k<sign>*/gu)].map((found) => {
    const start = from + found.index;
    const end = start + found[0].length;
    const dash = /^\s-+\s/.test(text.slice(start - 1, end + 1));
    return { start, end, pauses: dash || pausing.test(found[0]) };
  });
  const opening = from === 0 ? 0 : signs.findIndex(({ start, pauses }) => !pauses && /\s/.test(text[start - 1] ?? ""));
  const closing = to === text.length || opening === -1 ? signs.length : opening;
  const cause = Math.max(
    0,
    signs.slice(0, closing).findIndex(({ pauses }) => pauses),
  );
  return signs.map(({ start, end }, index) => {
    const pause = index === cause && index < closing ? Math.max(0, after - before) : 0;
    const at = index < closing ? before : after;
    return {
      kind: "punctuation",
      ...spoken.source(start, end),
      startMs: milliseconds(at),
      durationMs: milliseconds(pause),
    };
  });
}
