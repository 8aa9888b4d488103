/**
 * Finds what is not spoken as it is written in an English sentence, and the words for it: dates, times, money, units,
 * numbers, addresses, abbreviations. Every rule looks at a token and its neighbors, so the time is linear.
 */
import { readAbbreviation } from "./abbreviations.ts";
import { readAddress } from "./addresses.ts";
import { readDate } from "./dates.ts";
import { readFormula } from "./formulas.ts";
import { readInterjection } from "./interjections.ts";
import { readMarkup } from "./markup.ts";
import { readMeasure } from "./measures.ts";
import { readMoney } from "./money.ts";
import { digitByDigit } from "./numbers.ts";
import { readPlainNumber, readRemainingDigits } from "./plain-numbers.ts";
import { readRoman } from "./roman-numerals.ts";
import { readTelephone } from "./telephone.ts";
import { readHalfOfDay, readTime } from "./times.ts";
import { tokensOf, type Rule, type Sentence } from "./tokens.ts";
import { rewritten, type Rewrite } from "../spoken-text.ts";

/** The first that applies wins. */
const rules: readonly Rule[] = [
  readTelephone,
  readMoney,
  readTime,
  readDate,
  readMeasure,
  readFormula,
  readAbbreviation,
  readInterjection,
  readHalfOfDay,
  readRoman,
  readPlainNumber,
];
/** Longer tokens are addresses, or digits and letters without meaning. */
const longestToken = 60;
/** Digits of a longer token are read in groups, so that speech can begin and pause. */
const digitGroup = 12;

/** Where the month is written before the day. */
const monthFirst = /^en(?:-(?:us|ca|ph)(?:-.*)?)?$/i;

/**
 * The rewrites of a sentence in order; they do not overlap.
 * @param language BCP 47, such as `en-GB`
 */
export function readEnglish(text: string, language: string): Rewrite[] {
  const british = !monthFirst.test(language);
  const sentence: Sentence = { tokens: tokensOf(text), british };
  const { tokens } = sentence;
  const found: Rewrite[] = [];
  for (let index = 0; index < tokens.length;) {
    const token = tokens[index]!;
    const reading =
      readAddress(sentence, index) ??
      (token.text.length <= longestToken
        ? (rules.reduce<ReturnType<Rule>>((result, rule) => result ?? rule(sentence, index), undefined) ??
          readRemainingDigits(token))
        : undefined);
    found.push(...(reading?.rewrites ?? longToken(token)));
    index += reading?.count ?? 1;
  }
  return [...found, ...readMarkup(text, (word) => spoken(word, language))]
    .sort((one, other) => one.start - other.start || other.end - one.end)
    .filter(notOverlapping());
}

/** A word has no markup of links, so this ends. */
function spoken(word: string, language: string): string {
  return rewritten(word, { offset: 0, length: word.length }, readEnglish(word, language)).text;
}

function longToken({ text, start }: { text: string; start: number }): Rewrite[] {
  if (text.length <= longestToken || !/\d/.test(text)) return [];
  return [...text.matchAll(new RegExp(`\\d{1,${digitGroup}}`, "g"))].map(({ 0: digits, index }) => ({
    start: start + index,
    end: start + index + digits.length,
    spoken: ` ${digitByDigit(digits)} `,
  }));
}

function notOverlapping(): (rewrite: Rewrite) => boolean {
  let cursor = 0;
  return ({ start, end }) => {
    if (start < cursor) return false;
    cursor = end;
    return true;
  };
}
