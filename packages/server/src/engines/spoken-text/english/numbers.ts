/** Writes numbers in English words: cardinals, ordinals, years, decimals, digits. */

const ones =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const scales =
  " thousand million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion".split(
    " ",
  );
/** Longer numbers are read digit by digit. */
const longestCardinal = 15;
const irregularOrdinals: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

/** A number without separators: an integer or a decimal, `.5` included, with or without commas. */
export const numberPattern = String.raw`(?:\d{1,3}(?:,\d{2,3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+`;
const wholeNumber = new RegExp(`^(?:${numberPattern})$`);

export function isNumber(text: string): boolean {
  return wholeNumber.test(text);
}

/** `12` as "twelve"; beyond a quadrillion, and with leading zeros, digit by digit. */
export function cardinal(digits: string, british = false): string {
  if (digits.length > longestCardinal || (digits.length > 1 && digits.startsWith("0"))) return digitByDigit(digits);
  const words: string[] = [];
  const groups = Math.ceil(digits.length / 3);
  for (let group = groups - 1; group >= 0; group--) {
    const end = digits.length - 3 * group;
    const value = Number(digits.slice(Math.max(0, end - 3), end));
    if (value === 0) continue;
    const joined = british && group === 0 && value < 100 && words.length > 0;
    words.push(...(joined ? ["and"] : []), ...hundreds(value, british));
    if (group > 0) words.push(scales[group]!);
  }
  return words.length === 0 ? "zero" : words.join(" ");
}

function hundreds(value: number, british: boolean): string[] {
  const hundred = Math.floor(value / 100);
  const rest = value % 100;
  const words = hundred > 0 ? [ones[hundred]!, "hundred"] : [];
  if (hundred > 0 && rest > 0 && british) words.push("and");
  return rest > 0 ? [...words, belowHundred(rest)] : words;
}

function belowHundred(value: number): string {
  if (value < 20) return ones[value]!;
  const unit = value % 10;
  return unit === 0 ? tens[Math.floor(value / 10)]! : `${tens[Math.floor(value / 10)]!} ${ones[unit]!}`;
}

export function ordinal(digits: string, british = false): string {
  const words = cardinal(digits, british).split(" ");
  const last = words.pop()!;
  return [...words, irregularOrdinals[last] ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`)].join(
    " ",
  );
}

export function plural(word: string): string {
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return word.endsWith("x") ? `${word}es` : `${word}s`;
}

/** `1905` as "nineteen oh five". */
export function year(digits: string): string {
  const value = Number(digits);
  if (digits.length !== 4 || value < 1000) return cardinal(digits);
  const [high, low] = [Math.floor(value / 100), value % 100];
  if (high % 10 === 0 && low < 10) return cardinal(digits);
  if (low === 0) return `${belowHundred(high)} hundred`;
  return `${belowHundred(high)} ${low < 10 ? `oh ${ones[low]!}` : belowHundred(low)}`;
}

export function digitByDigit(digits: string): string {
  return Array.from(digits, (digit) => ones[Number(digit)]!).join(" ");
}

/** A number as `isNumber` takes it: "one thousand two hundred", "three point one four". */
export function numberWords(text: string, british = false): string {
  const [whole = "", decimals] = text.replaceAll(",", "").split(".");
  const integer = cardinal(whole === "" ? "0" : whole, british);
  return decimals === undefined ? integer : `${integer} point ${digitByDigit(decimals)}`;
}

/** `k`, `M`, `bn` and the like after a number. */
export const magnitudes: Readonly<Record<string, string>> = {
  k: "thousand",
  K: "thousand",
  m: "million",
  M: "million",
  mn: "million",
  mm: "million",
  MM: "million",
  b: "billion",
  B: "billion",
  bn: "billion",
  Bn: "billion",
  t: "trillion",
  T: "trillion",
  tn: "trillion",
  trn: "trillion",
  thousand: "thousand",
  million: "million",
  billion: "billion",
  trillion: "trillion",
};
