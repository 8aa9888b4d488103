/**
 * Decides which words of an unfinished utterance are stable: several partial results in a row agree on a word and all
 * words before it, and it ended a while ago. A word once sent is never taken back: if the decoder changes its mind at the
 * end, the sent words stay and its own words follow.
 */
import type { RecognizedWord } from "./protocol.ts";

/** Looks in a row that must agree. */
const agreeingLooks = 3;
/** Sound after a word before it is told, in ms. */
const distanceMs = 300;

export class PartialStabilizer {
  readonly #looks: (readonly RecognizedWord[])[] = [];
  #told: RecognizedWord[] = [];

  /** Takes what was understood so far. @returns the words that are settled by it */
  look(words: readonly RecognizedWord[], heardMs: number): readonly RecognizedWord[] {
    this.#looks.push(words);
    if (this.#looks.length > agreeingLooks) this.#looks.shift();
    if (this.#looks.length < agreeingLooks || !continues(words, this.#told)) return [];
    const settled = words.slice(this.#told.length).filter(({ endMs }) => endMs + distanceMs <= heardMs);
    const agreed = settled.findIndex((_, index) => !this.#agreeOn(this.#told.length + index));
    const fresh = agreed === -1 ? settled : settled.slice(0, agreed);
    this.#told = [...this.#told, ...fresh];
    return fresh;
  }

  /** The words of the whole utterance, beginning with those that were told. */
  finish(words: readonly RecognizedWord[]): readonly RecognizedWord[] {
    const last = this.#told.at(-1);
    if (last === undefined || continues(words, this.#told)) return words;
    const told = this.#told.map((word) => words.find((other) => isSame(word, other)) ?? word);
    return [...told, ...words.filter(({ startMs, endMs }) => (startMs + endMs) / 2 > last.endMs)];
  }

  #agreeOn(index: number): boolean {
    const [first, ...others] = this.#looks.map((words) => words[index]?.text);
    return first !== undefined && others.every((text) => text === first);
  }
}

function continues(words: readonly RecognizedWord[], told: readonly RecognizedWord[]): boolean {
  return told.every(({ text }, index) => words[index]?.text === text);
}

function isSame(one: RecognizedWord, other: RecognizedWord): boolean {
  return one.text === other.text && one.startMs < other.endMs && other.startMs < one.endMs;
}
