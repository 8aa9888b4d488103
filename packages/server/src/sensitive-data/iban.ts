/** Finds international bank account numbers: the length of their country, and valid check digits (ISO 13616, modulo 97). */
import type { Detector } from "./detector.ts";

/** Characters by country. https://www.swift.com/standards/data-standards/iban-international-bank-account-number */
const lengths: ReadonlyMap<string, number> = new Map(
  [
    "15 NO",
    "16 BE",
    "18 DK FI FK FO GL NL SD",
    "19 MK SI",
    "20 AT BA EE KZ LT LU MN XK",
    "21 CH CR HR LI LV",
    "22 BG BH DE GB GE IE ME RS VA",
    "23 AE GI IL IQ OM SO TL",
    "24 AD CZ ES MD PK RO SA SE SK TN VG",
    "25 LY PT ST",
    "26 IS TR",
    "27 BI DJ FR GR IT MC MR SM",
    "28 AL AZ BY CY DO GT HN HU LB NI PL SV",
    "29 BR EG PS QA UA",
    "30 JO KW MU YE",
    "31 MT SC",
    "32 LC",
    "33 RU",
  ].flatMap((line) => {
    const [length, ...countries] = line.split(" ");
    return countries.map((country): [string, number] => [country, Number(length)]);
  }),
);

const begin = /(?<![A-Za-z\d])[A-Z]{2}\d{2}/g;

export const ibanDetector: Detector = {
  longestMatch: 66,
  find(text, from) {
    begin.lastIndex = from;
    for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
      const end = endOf(text, match.index, lengths.get(match[0].slice(0, 2)) ?? 0);
      if (end !== undefined && hasCheckDigits(text.slice(match.index, end))) return { start: match.index, end };
    }
    return undefined;
  },
};

/** The end of so many characters, with at most one space between two of them. */
function endOf(text: string, start: number, length: number): number | undefined {
  let at = start;
  for (let count = 0; count < length; count += 1) {
    if (count > 0 && text[at] === " ") at += 1;
    if (!/[A-Z\d]/.test(text[at] ?? "")) return undefined;
    at += 1;
  }
  return length === 0 || /[A-Za-z\d]/.test(text[at] ?? "") ? undefined : at;
}

function hasCheckDigits(account: string): boolean {
  const characters = account.replaceAll(" ", "");
  let rest = 0;
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
