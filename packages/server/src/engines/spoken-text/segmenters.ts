/**
 * Shares segmenters of characters and words for any script, because they are slow to create.
 * https://unicode.org/reports/tr29/
 */

/** Characters as a reader sees them. */
export const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Words by dictionary, for scripts without white space. */
export const dictionaryWords = new Intl.Segmenter(undefined, { granularity: "word" });
/** Whether a text has something in a script that puts no white space between words. */
export const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
