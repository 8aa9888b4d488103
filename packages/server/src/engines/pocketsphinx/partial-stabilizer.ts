/**
 * Decides which words of an unfinished utterance are stable: several consecutive partial results agree on a word and all
 * words before it, and it ended a while ago. A word once sent is never taken back: if the decoder changes its mind at the
 * end, the sent words stay and its own words follow.
 */
import type { RecognizedWord } from "./protocol.ts";

/** Number of consecutive partial results that must agree. */
const agreeingPartials = 3;
/** Audio after a word before it is sent, in ms. */
const distanceMs = 300;

export class PartialStabilizer {
  readonly #partials: (readonly RecognizedWord[])[] = [];
  #sent: RecognizedWord[] = [];

  /** Takes a partial result. @returns the words that are now stable */
  update(words: readonly RecognizedWord[], heardMs: number): readonly RecognizedWord[] {
    this.#partials.push(words);
    if (this.#partials.length > agreeingPartials) this.#partials.shift();
    if (this.#partials.length < agreeingPartials || !continues(words, this.#sent)) return [];
    const stable = words.slice(this.#sent.length).filter(({ endMs }) => endMs + distanceMs <= heardMs);
    const agreed = stable.findIndex((_, index) => !this.#agreeOn(this.#sent.length + index));
    const fresh = agreed === -1 ? stable : stable.slice(0, agreed);
    this.#sent = [...this.#sent, ...fresh];
    return fresh;
  }

  /** The words of the whole utterance, beginning with those that were sent. */
  finish(words: readonly RecognizedWord[]): readonly RecognizedWord[] {
    const last = this.#sent.at(-1);
    if (last === undefined || continues(words, this.#sent)) return words;
    const sent = this.#sent.map((word) => words.find((other) => isSame(word, other)) ?? word);
    return [...sent, ...words.filter(({ startMs, endMs }) => (startMs + endMs) / 2 > last.endMs)];
  }

  #agreeOn(index: number): boolean {
    const [first, ...others] = this.#partials.map((words) => words[index]?.text);
    return first !== undefined && others.every((text) => text === first);
  }
}

function continues(words: readonly RecognizedWord[], sent: readonly RecognizedWord[]): boolean {
  return sent.every(({ text }, index) => words[index]?.text === text);
}

function isSame(one: RecognizedWord, other: RecognizedWord): boolean {
  return one.text === other.text && one.startMs < other.endMs && other.startMs < one.endMs;
}
