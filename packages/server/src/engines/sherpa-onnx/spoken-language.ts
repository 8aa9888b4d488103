/**
 * Decides in which language a model recognizes a recording whose caller names none. Whisper detects the language of each
 * stretch of speech; a single word or music at the beginning must not decide for an hour.
 */
import { recognitionRate } from "./library-settings.ts";
import type { RecognizedStretch } from "./recognize-whole.ts";

/** Speech in one language after which the rest of the recording is recognized in it, in seconds. */
const certainSeconds = 10;

export class SpokenLanguage {
  readonly #seconds = new Map<string, number>();
  #certain: string | undefined;
  #before: Promise<void> = Promise.resolve();

  /** @param named what the model calls the language that the caller named */
  constructor(named: string | undefined) {
    this.#certain = named;
  }

  /**
   * Recognizes one stretch, with the language once it is certain.
   * Until then stretches wait for each other, so that the text does not depend on which one ends first.
   */
  async recognize(work: (language: string | undefined) => Promise<RecognizedStretch[]>): Promise<RecognizedStretch[]> {
    const previous = this.#before;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#before = promise;
    try {
      if (this.#certain === undefined) await previous;
      const language = this.#certain;
      const recognized = await work(language);
      if (language === undefined) for (const each of recognized) this.#count(each);
      return recognized;
    } finally {
      resolve();
    }
  }

  #count({ samples, recognition: { language, text } }: RecognizedStretch): void {
    if (text.trim() === "") return;
    const seconds = (this.#seconds.get(language) ?? 0) + samples.length / recognitionRate;
    this.#seconds.set(language, seconds);
    // A model that reports no language has nothing to wait for.
    if (language === "" || seconds >= certainSeconds) this.#certain = language;
  }
}
