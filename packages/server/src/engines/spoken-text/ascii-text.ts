/**
 * Transliterates a text to ASCII for engines that read nothing else, and maps every ASCII character back to the characters
 * of the source. Letters lose their accents, other scripts are transliterated, an emoji becomes its name.
 * https://anyascii.com
 */
import anyAscii from "any-ascii";
import { graphemes } from "./segmenters.ts";
import type { SpokenText } from "./spoken-text.ts";

// eslint-disable-next-line no-control-regex -- ASCII is what is looked for
const onlyAscii = /^[\u0000-\u007F]*$/;

/** The ASCII form of what is spoken, with its places in the input. */
export function asciiOf(spoken: SpokenText): SpokenText {
  const ascii = toAscii(spoken.text, 0);
  return {
    text: ascii.text,
    source(start, end) {
      const { offset, length } = ascii.source(start, end);
      return spoken.source(offset, offset + length);
    },
  };
}

/** `offset` is the position of `part` in the source. */
export function toAscii(part: string, offset: number): SpokenText {
  if (onlyAscii.test(part)) {
    return { text: part, source: (start, end) => ({ offset: offset + start, length: end - start }) };
  }
  let text = "";
  const starts: number[] = [];
  const ends: number[] = [];
  // Letters without an ASCII form belong to their word: to the letter before them, or after.
  let silentFrom: number | undefined;
  let afterLetter = false;
  for (const { segment, index } of graphemes.segment(part)) {
    const ascii = onlyAscii.test(segment) ? segment : spelled(segment);
    const isLetter = /^\p{L}/u.test(segment);
    if (isLetter && ascii === "") {
      if (afterLetter) ends[ends.length - 1] = offset + index + segment.length;
      else silentFrom ??= offset + index;
      continue;
    }
    text += ascii;
    for (let each = 0; each < ascii.length; each++) {
      starts.push(isLetter ? (silentFrom ?? offset + index) : offset + index);
      ends.push(offset + index + segment.length);
    }
    afterLetter = isLetter;
    silentFrom = undefined;
  }
  return {
    text,
    source(start, end) {
      const from = starts[start] ?? offset + part.length;
      return { offset: from, length: (ends[end - 1] ?? from) - from };
    },
  };
}

function spelled(grapheme: string): string {
  if (/^[—–]$/.test(grapheme)) return "-";
  // Variation selectors, joiners and tags are not spoken.
  const ascii = anyAscii(grapheme).replaceAll(/[^\u0020-\u007E]/g, "");
  if (/^\p{L}/u.test(grapheme)) return /[A-Za-z0-9]/.test(ascii) ? ascii.replaceAll(/[^A-Za-z0-9' ]/g, "") : "";
  if (!/^\p{Extended_Pictographic}/u.test(grapheme)) return ascii;
  // `:thumbsup::medium_skin_tone:` is read as two names.
  return ` ${ascii.replaceAll(/[:_]+/g, " ").trim()} `;
}
