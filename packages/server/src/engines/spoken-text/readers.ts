/** Selects how numbers, dates, abbreviations and the like are read in a language. */
import { readEnglish } from "./english/read-english.ts";
import type { Rewrite } from "./spoken-text.ts";

/**
 * Finds what is spoken differently than written; undefined for languages that are left to the engine.
 * @param language BCP 47, such as `en-GB`; the region decides what 3/4 is
 */
export function readerOf(language: string | undefined): ((sentence: string) => Rewrite[]) | undefined {
  if (language === undefined || !/^en(?:$|-)/i.test(language)) return undefined;
  return (sentence) => readEnglish(sentence, language);
}
