/** Reads numbers without a unit: `1,234`, `3.14`, `2024`, `1st`, `1/2`, `10-12`, `No. 5`, `v1.2.3`, `192.168.0.1`. */
import { cardinal, digitByDigit, isNumber, numberPattern, numberWords, ordinal, plural, year } from "./numbers.ts";
import { signWords } from "./measures.ts";
import { adjacent, one, together, type Reading, type Sentence, type Token } from "./tokens.ts";

const signed = new RegExp(`^([-−+±~≈<>≤≥])(${numberPattern})$`);
const range = new RegExp(`^(${numberPattern})[-–](${numberPattern})$`);
const ordinalNumber = /^(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)(-\D*)?$/;
const fraction = /^(\d{1,4})[/⁄](\d{1,4})$/;
const version = /^[vV]?(\d{1,6}(?:\.\d{1,6}){1,5})(?:-([a-z]+)\.?(\d{1,4})?)?$/;
const numbered = /^#(\d{1,6})$/;
const scientific = /^(\d{1,9}(?:\.\d{1,9})?)[eE]([-+]?)(\d{1,3})$/;
const ratio = /^(\d{1,3}):(\d{1,3})$/;
const equation = /^\d{1,9}(?:[+×÷*=]\d{1,9})+$/;
const pluralNumber = /^(\d{1,9})['’]?s$/;

const namedFractions: Readonly<Record<string, string>> = { "2": "half", "4": "quarter" };
const vulgar: Readonly<Record<string, string>> = {
  "½": "one half",
  "⅓": "one third",
  "⅔": "two thirds",
  "¼": "one quarter",
  "¾": "three quarters",
  "⅕": "one fifth",
  "⅛": "one eighth",
  "⅜": "three eighths",
  "⅝": "five eighths",
  "⅞": "seven eighths",
};
const operators: Readonly<Record<string, string>> = {
  "+": "plus",
  "×": "times",
  "÷": "divided by",
  "*": "times",
  "=": "equals",
};
/** Read in pairs, not as fractions. */
const wellKnown: Readonly<Record<string, string>> = {
  "24/7": "twenty four seven",
  "9/11": "nine eleven",
  "50/50": "fifty fifty",
};

export function readPlainNumber(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const { text } = token;
  if (!/[\d½⅓⅔¼¾⅕⅛⅜⅝⅞]/.test(text)) return undefined;
  const mixed = mixedFraction(sentence, index) ?? groupedBySpaces(sentence, index);
  if (mixed !== undefined) return mixed;
  const words = Object.hasOwn(wellKnown, text) ? wellKnown[text] : plainWords(sentence, index);
  return words === undefined ? undefined : one(token, words);
}

function plainWords(sentence: Sentence, index: number): string | undefined {
  const { british } = sentence;
  const { text } = sentence.tokens[index]!;
  if (isNumber(text)) return isYear(sentence, index) ? year(text) : integerOrDecimal(text, british);
  if (/^\d{1,3}(?:['’]\d{3})+$/.test(text)) return cardinal(text.replaceAll(/\D/g, ""), british);
  const [, sign, number] = signed.exec(text) ?? [];
  if (number !== undefined) return `${signWords(sign!)}${integerOrDecimal(number, british)}`;
  const [, nth, rest] = ordinalNumber.exec(text) ?? [];
  if (nth !== undefined) return `${ordinal(nth.replaceAll(",", ""), british)}${rest?.replaceAll("-", " ") ?? ""}`;
  const [, top, bottom] = fraction.exec(text) ?? [];
  if (top !== undefined) return fractionWords(top, bottom!);
  const [, from, to] = range.exec(text) ?? [];
  if (from !== undefined) return rangeWords(from, to!, british);
  const [, hash] = numbered.exec(text) ?? [];
  if (hash !== undefined) return `number ${cardinal(hash, british)}`;
  return versionWords(text) ?? mathWords(text, british) ?? codeWords(text, british);
}

function integerOrDecimal(text: string, british: boolean): string {
  // Long digits without separators are a number of something, such as an order, unless they are round.
  const isLong = /^\d{10,}$/.test(text) && !text.endsWith("000");
  return isLong ? digitByDigit(text) : numberWords(text, british);
}

const yearWord =
  /^(?:in|since|by|until|till|from|during|year|circa|ca|c|before|after|of|late|early|mid|spring|summer|autumn|fall|winter|copyright|©)$/i;
const notPlural =
  /^(?:is|was|has|as|this|its|his|us|versus|series|plus|thus|always|perhaps|does|goes|brings|saw|[a-z]*(?:ss|us|is))$/;

/** Four digits from 1100 to 2099 are a year unless things are counted; others only after a word such as "in". */
function isYear({ tokens }: Sentence, index: number): boolean {
  const { text, before, after } = tokens[index]!;
  if (!/^[1-9]\d{3}$/.test(text)) return false;
  const previous = tokens[index - 1];
  if (previous !== undefined && yearWord.test(previous.text)) return true;
  if (!/^(?:1[1-9]|20)/.test(text) || before.endsWith("$")) return false;
  const next = after === "" ? tokens[index + 1] : undefined;
  const counts =
    next !== undefined && /^[a-z]{2,}s$|^(?:people|men|women|children)$/.test(next.text) && !notPlural.test(next.text);
  return !(counts && previous?.text.toLowerCase() !== "the");
}

function fractionWords(top: string, bottom: string): string {
  const [above, below] = [Number(top), Number(bottom)];
  if (below < 2 || below > 100 || above >= below || (below > 20 && below !== 100)) {
    return `${cardinal(String(above))} over ${cardinal(String(below))}`;
  }
  const part = namedFractions[String(below)] ?? ordinal(String(below));
  return `${cardinal(String(above))} ${above === 1 ? part : plural(part)}`;
}

/** `1 1/2` and `2½`. */
function mixedFraction(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const [, whole, sign] = /^(\d{1,6})?([½⅓⅔¼¾⅕⅛⅜⅝⅞])$/.exec(token.text) ?? [];
  if (sign !== undefined)
    return one(token, whole === undefined ? vulgar[sign]! : `${cardinal(whole)} and ${halfOf(vulgar[sign]!)}`);
  const next = adjacent(sentence, index);
  if (next === undefined || !/^\d{1,6}$/.test(token.text)) return undefined;
  const [, top, bottom] = fraction.exec(next.text) ?? [];
  if (top === undefined || Number(top) >= Number(bottom) || Number(bottom) > 20) return undefined;
  const part = halfOf(fractionWords(top, bottom!));
  return together(sentence, index, { count: 2, spoken: `${cardinal(token.text)} and ${part}` });
}

/** `1 234 567` and `10 000`; "12 345" may be two numbers. */
function groupedBySpaces(sentence: Sentence, index: number): Reading | undefined {
  const { tokens } = sentence;
  if (!/^[1-9]\d{0,2}$/.test(tokens[index]!.text)) return undefined;
  let last = index;
  while (/^\d{3}$/.test(adjacent(sentence, last)?.text ?? "")) last += 1;
  const count = last - index + 1;
  if (count < 3 && !(count === 2 && tokens[last]!.text === "000")) return undefined;
  if (/^\d/.test(adjacent(sentence, last)?.text ?? "")) return undefined;
  const digits = tokens.slice(index, last + 1).map(({ text }) => text);
  return together(sentence, index, { count, spoken: cardinal(digits.join(""), sentence.british) });
}

function halfOf(words: string): string {
  return words === "one half" ? "a half" : words;
}

function rangeWords(from: string, to: string, british: boolean): string {
  const areYears = /^(?:1[1-9]|20)\d\d$/.test(from) && (/^\d\d$/.test(to) || /^(?:1[1-9]|20)\d\d$/.test(to));
  if (areYears)
    return `${year(from)} to ${to.length === 2 && to.startsWith("0") ? `oh ${cardinal(to.slice(1))}` : year(to)}`;
  return `${numberWords(from, british)} to ${numberWords(to, british)}`;
}

function versionWords(text: string): string | undefined {
  const [, numbers, label, count] = version.exec(text) ?? [];
  if (numbers === undefined) return undefined;
  const parts = numbers.split(".");
  const isAddress = parts.length === 4 && parts.every((part) => Number(part) < 256 && part.length < 4);
  if (isAddress && !/^v/i.test(text)) return parts.map((part) => digitByDigit(part)).join(" dot ");
  if (/^\d{1,3}(?:\.\d{3}){2,}$/.test(text)) return cardinal(parts.join(""));
  const words = parts.map((part) => cardinal(part)).join(" point ");
  const after = `${label === undefined ? "" : ` ${label}`}${count === undefined ? "" : ` ${cardinal(count)}`}`;
  return `${/^v/i.test(text) ? "version " : ""}${words}${after}`;
}

function mathWords(text: string, british: boolean): string | undefined {
  const [, mantissa, sign, exponent] = scientific.exec(text) ?? [];
  if (mantissa !== undefined) {
    return `${numberWords(mantissa, british)} times ten to the ${sign === "-" ? "minus " : ""}${cardinal(exponent!)}`;
  }
  const [, left, right] = ratio.exec(text) ?? [];
  if (left !== undefined) return `${cardinal(left, british)} to ${cardinal(right!, british)}`;
  if (!equation.test(text)) return undefined;
  return text.replaceAll(/\d+|[+×÷*=]/g, (part) => ` ${operators[part] ?? cardinal(part, british)}`).trim();
}

/** Digits next to letters: `B12`, `MP3`, `COVID-19`, `10-year-old`, `5s`, `1.5x`. */
function codeWords(text: string, british: boolean): string | undefined {
  const [, many] = pluralNumber.exec(text) ?? [];
  if (many !== undefined) return plural(cardinal(many, british));
  const [, decimal, letters] = /^(\d+\.\d+)([A-Za-z]{1,3})$/.exec(text) ?? [];
  if (decimal !== undefined) return `${numberWords(decimal, british)} ${letters}`;
  if (!/^[A-Za-z\d]+(?:[-–'’][A-Za-z\d]+)*$/.test(text)) return undefined;
  const parts = text.match(/\d+|[A-Za-z'’]+|[-–]/g) ?? [];
  const isCompound = /^\d{1,9}(?:[-–][a-z]+)+$/.test(text);
  return parts
    .map((part) => {
      if (/[-–]/.test(part)) return " ";
      if (!/\d/.test(part)) return part;
      if (isCompound) return cardinal(part, british);
      return part.length <= 2
        ? cardinal(part)
        : part.length === 4 && /^(?:19|20)/.test(part)
          ? year(part)
          : digitByDigit(part);
    })
    .join(" ")
    .replaceAll(/ {2,}/g, " ")
    .replaceAll(/\b([A-Z]) (?=[a-z])/g, "$1-");
}

/** Any other digits of a token, with what is between them unchanged. */
export function readRemainingDigits(token: Token): Reading | undefined {
  if (!/\d/.test(token.text)) return undefined;
  const rewrites = [...token.text.matchAll(/\d+/g)].map(({ 0: digits, index }) => {
    const start = token.start + index;
    const end = start + digits.length;
    const glue = (character: string | undefined) =>
      character !== undefined && /[\p{L}\d]/u.test(character) ? " " : "";
    const spoken = digits.length <= 4 ? cardinal(digits) : digitByDigit(digits);
    return { start, end, spoken: glue(token.text[index - 1]) + spoken + glue(token.text[index + digits.length]) };
  });
  return { rewrites, count: 1 };
}
