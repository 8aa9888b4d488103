/**
 * Word times for engines that tell none: what is heard of a phrase is shared out among its words by how long they
 * are to say, and pauses by the signs between them. An estimate: on read English it is off by 0.13 s on average.
 */
import type { SpeechMark } from "../model.ts";
import { toMarks, type SpokenToken } from "./marks.ts";

export interface Sound {
  /** Mono, −1 to 1. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

export interface WeighedWord {
  readonly text: string;
  /** Where it begins in the phrase. */
  readonly from: number;
  readonly weight: number;
  /** Of the pause after it. */
  readonly pause: number;
}

/** Below this a sample is taken for silence. */
const silence = 0.01;

/** The marks of a phrase that stands at `offset` in the input. */
export function estimateMarks(phrase: string, offset: number, sound: Sound): SpeechMark[] {
  const source = (start: number, end: number) => ({ offset: offset + start, length: end - start });
  return toMarks({ text: phrase, source }, estimateTokens(phrase, sound));
}

function estimateTokens(phrase: string, speech: Sound): SpokenToken[] {
  const words = weighedWords(phrase);
  const total = words.reduce(
    (sum, { weight, pause }, index) => sum + weight + (index < words.length - 1 ? pause : 0),
    0,
  );
  const { from, to } = heard(speech.samples);
  const secondsOf = (share: number): number =>
    (from + (total === 0 ? 0 : share / total) * (to - from)) / speech.sampleRate;
  let share = 0;
  return words.map(({ text, weight, pause }) => {
    const start = secondsOf(share);
    const end = secondsOf(share + weight);
    share += weight + pause;
    return { text, start, end };
  });
}

function heard(samples: Float32Array): { from: number; to: number } {
  const from = Math.max(
    0,
    samples.findIndex((sample) => Math.abs(sample) > silence),
  );
  const to = samples.findLastIndex((sample) => Math.abs(sample) > silence) + 1;
  return { from, to: Math.max(from, to) };
}

/** Weights of the pauses after a word, and after a word that a sign follows. */
const wordPause = 0.3;
const signPause = 4;

/** The words of a phrase, and how long each is to say in comparison. */
export function weighedWords(phrase: string): WeighedWord[] {
  return [...weigh(phrase)];
}

function* weigh(phrase: string): Generator<WeighedWord, void, undefined> {
  for (const { 0: chunk, index: start } of phrase.matchAll(/\S+/g)) {
    const words = wordsIn(chunk);
    let from = start;
    const lastPause = /[,;:.!?…—–、。]["'”’)\]]*$/.test(chunk) ? signPause : wordPause;
    for (const [index, text] of words.entries()) {
      from = phrase.indexOf(text, from);
      yield { text, from, weight: weightOf(text), pause: index === words.length - 1 ? lastPause : wordPause };
      from += text.length;
    }
  }
}

/** Words are what white space separates, without the signs around them; scripts without white space have a dictionary. */
function wordsIn(chunk: string): string[] {
  if (
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(
      chunk,
    )
  ) {
    const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(chunk);
    return [...segments].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
  }
  const word = /(?:[\p{L}\p{N}\p{Sc}\p{So}]|[#*](?=\uFE0F?\u20E3))(?:.*[\p{L}\p{M}\p{N}\p{Sc}\p{So}\p{Sk}])?/u.exec(
    chunk,
  );
  return word === null ? [] : [word[0]];
}

/** About the number of sounds: a digit is a word, a sign of Chinese or Japanese a syllable. */
function weightOf(word: string): number {
  let weight = 1;
  for (const { segment } of new Intl.Segmenter("en", { granularity: "grapheme" }).segment(word)) {
    if (/\p{N}|\p{So}|\p{Sc}/u.test(segment)) weight += 4;
    else if (/\p{Script=Han}|\p{Script=Hangul}/u.test(segment)) weight += 3;
    else weight += 1;
  }
  return weight;
}
