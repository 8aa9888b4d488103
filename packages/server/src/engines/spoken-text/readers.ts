/** Selects how numbers, dates, abbreviations and the like are read in a language. Emoji are silent in all of them. */
import { readEnglish } from "./english/read-english.ts";
import type { Rewrite } from "./spoken-text.ts";

/** Also symbols that are shown as one. Digits in boxes are read as digits. */
const emoji = /(?![\d#*])\p{RGI_Emoji}|\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/gv;

/**
 * Finds what is spoken differently than written in a sentence; of most languages the rest is left to the engine.
 * @param language BCP 47, such as `en-GB`; the region decides what 3/4 is
 */
export function readerOf(language: string | undefined): (sentence: string) => readonly Rewrite[] {
  if (language === undefined || !/^en(?:$|-)/i.test(language)) return silentEmoji;
  return (sentence) => {
    const words = readEnglish(sentence, language);
    const silent = silentEmoji(sentence).filter(
      ({ start, end }) => !words.some((word) => word.start < end && start < word.end),
    );
    return silent.length === 0 ? words : [...words, ...silent].sort((one, other) => one.start - other.start);
  };
}

/** A space, since words may be on both sides. */
function silentEmoji(sentence: string): Rewrite[] {
  return Array.from(sentence.matchAll(emoji), ({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    spoken: " ",
  }));
}
