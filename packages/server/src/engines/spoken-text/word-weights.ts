/** Splits a text into words with their expected relative durations. */
import { dictionaryWords, graphemes, withoutSpaces } from "./segmenters.ts";

export interface WeightedWord {
  readonly text: string;
  /** Where it begins in the phrase. */
  readonly from: number;
  readonly weight: number;
  /** Whether punctuation at which a speaker pauses follows. */
  readonly sign: boolean;
}

/** Words before a pause are lengthened. */
const lengthening = 1.15;
const pausingSign = /[,;:.!?…—–、。]["'”’)\]]*$/;

/** The words of a phrase with their relative durations. */
export function weightedWords(phrase: string): WeightedWord[] {
  const found: Omit<WeightedWord, "weight">[] = [];
  for (const { 0: chunk, index: start } of phrase.matchAll(/\S+/g)) {
    const words = wordsIn(chunk);
    const sign = pausingSign.test(chunk);
    let from = start;
    for (const [index, text] of words.entries()) {
      from = phrase.indexOf(text, from);
      found.push({ text, from, sign: sign && index === words.length - 1 });
      from += text.length;
    }
    // A dash on its own counts as punctuation after the word before it.
    if (words.length === 0 && sign && found.length > 0) found.push({ ...found.pop()!, sign: true });
  }
  return found.map((word, index) => {
    const drawnOut = word.sign || index === found.length - 1;
    return { ...word, weight: weightOf(word.text) * (drawnOut ? lengthening : 1) };
  });
}

/** Words are separated by white space, without punctuation; scripts without white space use a dictionary. */
function wordsIn(chunk: string): string[] {
  if (withoutSpaces.test(chunk)) {
    const segments = dictionaryWords.segment(chunk);
    return [...segments].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
  }
  const word = /(?:[\p{L}\p{N}\p{Sc}\p{So}]|[#*](?=\uFE0F?\u20E3))(?:.*[\p{L}\p{M}\p{N}\p{Sc}\p{So}\p{Sk}])?/u.exec(
    chunk,
  );
  return word === null ? [] : [word[0]];
}

/** About the number of phonemes: a digit is a word, a Chinese or Japanese character a syllable. */
function weightOf(word: string): number {
  let weight = 0;
  for (const { segment } of graphemes.segment(asSounds(word))) {
    if (/\p{N}|\p{So}|\p{Sc}/u.test(segment)) weight += 4;
    else if (/\p{Script=Han}|\p{Script=Hangul}/u.test(segment)) weight += 3;
    else if (/\p{L}/u.test(segment)) weight += 1;
  }
  return Math.max(1, weight);
}

/** Letters that form one sound count once; letters that are silent in most Latin-script languages do not count. */
function asSounds(word: string): string {
  return word
    .toLowerCase()
    .replaceAll(/(?<letter>[a-z])\k<letter>/g, "$<letter>")
    .replaceAll(/[tscw]h|ph|gh|ck|qu|ng/g, "x")
    .replace(/(?<=[a-z]{2})e(?=d?$)/, "")
    .replaceAll(/[aeiou]{2,}/g, "a");
}
