/** Maps the word times of espeak-ng to the words of the text. */
import { weightedWords, type WeightedWord } from "../spoken-text/word-weights.ts";
import type { SpokenToken } from "../spoken-text/marks.ts";
import type { EspeakWord } from "./protocol.ts";

/** Consecutive words that were spoken as one, with their times in milliseconds. */
interface Spoken {
  readonly words: WeightedWord[];
  startMs: number;
  endMs: number;
}

/**
 * What is one written word may have been spoken as several ("$3.50"); what was spoken as one word ("out of") may be
 * several written ones, which share its time by their length.
 *
 * @param secondsPerMs 0.001, but for speech that was stretched
 */
export function alignWords(part: string, words: readonly EspeakWord[], secondsPerMs: number): SpokenToken[] {
  const groups: Spoken[] = [];
  const timed = inUnits(part, words);
  const written = weightedWords(part);
  for (const [index, word] of written.entries()) {
    // Times of punctuation and spaces after a word belong to it, such as the second half of an emoji's name.
    const nextFrom = written[index + 1]?.from ?? Infinity;
    const own = timed.filter(({ from }) => from >= word.from && from < nextFrom);
    const last = groups.at(-1);
    // Words before the first timed one start with the speech.
    if (own.length === 0 && last === undefined) groups.push({ words: [word], startMs: 0, endMs: 0 });
    else if (own.length === 0) last!.words.push(word);
    else groups.push({ words: [word], startMs: own[0]!.startMs, endMs: Math.max(...own.map(({ endMs }) => endMs)) });
  }
  return groups.flatMap((group) => [...shared(group, secondsPerMs)]);
}

/** With positions in UTF-16 code units. */
function inUnits(part: string, words: readonly EspeakWord[]): (EspeakWord & { readonly from: number })[] {
  const units: number[] = [];
  let unit = 0;
  for (const character of part) {
    units.push(unit);
    unit += character.length;
  }
  return words.map((word) => ({ ...word, from: units[word.position] ?? part.length }));
}

function* shared({ words, startMs, endMs }: Spoken, secondsPerMs: number): Generator<SpokenToken, void, undefined> {
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  const at = (weight: number): number => (startMs + (weight / total) * (endMs - startMs)) * secondsPerMs;
  for (const { text, weight } of words) {
    yield { text, start: at(sum), end: at(sum + weight) };
    sum += weight;
  }
}
