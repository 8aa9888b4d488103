/** Reads dates: `Jan 3rd, 2024`, `3 January`, `12/25/2024`, `2024-12-25`, `2024/12/25`, `Mon, Jan 3`, `the 1990s`. */
import { cardinal, ordinal, plural, year } from "./numbers.ts";
import { clockWords } from "./times.ts";
import { each, one, say, type Reading, type Sentence, type Token } from "./tokens.ts";
import type { Rewrite } from "../spoken-text.ts";

const months = "January February March April May June July August September October November December".split(" ");
const weekdays: Readonly<Record<string, string>> = {
  Mon: "Monday",
  Tue: "Tuesday",
  Tues: "Tuesday",
  Wed: "Wednesday",
  Thu: "Thursday",
  Thur: "Thursday",
  Thurs: "Thursday",
  Fri: "Friday",
  Sat: "Saturday",
  Sun: "Sunday",
};
const day = /^(0?[1-9]|[12]\d|3[01])(st|nd|rd|th)?$/;
const yearAlone = /^[12]\d{3}$/;
const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d\d)$/;
const yearLeads = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/;
const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const iso = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?)?$/;

function monthOf(token: Token | undefined): string | undefined {
  if (token === undefined || !/^(?:[A-Z][a-z]{2,8}|[A-Z]{3})$/.test(token.text)) return undefined;
  const name = token.text[0]! + token.text.slice(1).toLowerCase();
  return name === "Sept" ? "September" : months.find((month) => month === name || month.slice(0, 3) === name);
}

export function readDate(sentence: Sentence, index: number): Reading | undefined {
  return (
    numericDate(sentence, index) ??
    monthFirst(sentence, index) ??
    dayFirst(sentence, index) ??
    weekday(sentence, index) ??
    decade(sentence, index) ??
    abbreviatedMonth(sentence, index)
  );
}

/** A token with a full stop that belongs to it, such as `Jan.` */
function sayDotted(token: Token, spoken: string): Rewrite {
  return { start: token.start, end: token.end + (token.after.startsWith(".") ? 1 : 0), spoken };
}

function monthFirst({ tokens, british }: Sentence, index: number): Reading | undefined {
  const month = monthOf(tokens[index]);
  const dayToken = tokens[index + 1];
  if (month === undefined || dayToken === undefined || !/^[.]?$/.test(tokens[index]!.after)) return undefined;
  if (yearAlone.test(dayToken.text))
    return each([sayDotted(tokens[index]!, month), say(dayToken, year(dayToken.text))]);
  const days = dayWords(dayToken.text, british);
  if (days === undefined) return undefined;
  const rewrites = [sayDotted(tokens[index]!, month), say(dayToken, british ? `the ${days}` : days)];
  const yearToken = tokens[index + 2];
  const isYear = yearToken !== undefined && yearAlone.test(yearToken.text) && /^,?$/.test(dayToken.after);
  return each(isYear ? [...rewrites, say(yearToken, year(yearToken.text))] : rewrites);
}

/** `3`, `3rd` and `3-5` as ordinals. */
function dayWords(text: string, british: boolean): string | undefined {
  if (day.test(text)) return ordinalOf(text, british);
  const [from = "", to = ""] = text.split(/[-–]/, 2);
  if (!day.test(from) || !day.test(to) || text.length > from.length + to.length + 1) return undefined;
  return `${ordinalOf(from, british)} to ${ordinalOf(to, british)}`;
}

function ordinalOf(text: string, british: boolean): string {
  return ordinal(String(Number.parseInt(text, 10)), british);
}

function dayFirst({ tokens, british }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  if (!day.test(token.text) || token.after !== "") return undefined;
  const isOrdinal = /[a-z]$/.test(token.text);
  const of = isOrdinal && tokens[index + 1]?.text === "of" ? 1 : 0;
  const month = monthOf(tokens[index + 1 + of]);
  // "3 May" is a date, "3 may" is not, and "5 Mar" only without a name after it.
  if (month === undefined) return undefined;
  const the = tokens[index - 1]?.text.toLowerCase() === "the" ? "" : "the ";
  const first = say(token, `${the}${ordinalOf(token.text, british)}${of === 1 ? "" : " of"}`);
  const rewrites = [
    first,
    ...(of === 1 ? [say(tokens[index + 1]!, "of")] : []),
    sayDotted(tokens[index + 1 + of]!, month),
  ];
  const last = tokens[index + 2 + of];
  const isYear = last !== undefined && yearAlone.test(last.text) && /^[.,]?$/.test(tokens[index + 1 + of]!.after);
  return each(isYear ? [...rewrites, say(last, year(last.text))] : rewrites);
}

function numericDate(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const isoDate = iso.exec(token.text);
  if (isoDate !== null) {
    const [, years, month, days, clock, zone] = isoDate;
    const date = dateWords(sentence, { years: years!, month: Number(month), days: Number(days) });
    if (date === undefined || clock === undefined) return date === undefined ? undefined : one(token, date);
    const time = clockWords(clock);
    return time === undefined ? undefined : one(token, `${date} at ${time}${zone === "Z" ? " U-T-C" : ""}`);
  }
  const [, leading, monthOfYear, dayOfMonth] = yearLeads.exec(token.text) ?? [];
  if (leading !== undefined) {
    const date = dateWords(sentence, { years: leading, month: Number(monthOfYear), days: Number(dayOfMonth) });
    return date === undefined ? undefined : one(token, date);
  }
  const [, first, second, years] = slashed.exec(token.text) ?? dotted.exec(token.text) ?? [];
  if (years === undefined) return undefined;
  const dayLeads = sentence.british || token.text.includes(".");
  const [former, latter] = [Number(first), Number(second)];
  // What cannot be a month is a day.
  const [month, days] = (dayLeads && latter <= 12) || former > 12 ? [latter, former] : [former, latter];
  const full = years.length === 2 ? `${Number(years) < 70 ? "20" : "19"}${years}` : years;
  const date = dateWords(sentence, { years: full, month, days });
  return date === undefined ? undefined : one(token, date);
}

function dateWords(
  { british }: Sentence,
  { years, month, days }: { years: string; month: number; days: number },
): string | undefined {
  const name = months[month - 1];
  if (name === undefined || days < 1 || days > 31) return undefined;
  const ofDay = ordinal(String(days));
  return `${british ? `the ${ofDay} of ${name}` : `${name} ${ofDay}`}, ${year(years)}`;
}

/** `Mon` and `Tues.` before a date or with a full stop; "Sun" and "Sat" are words. */
function weekday({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const name = Object.hasOwn(weekdays, token.text) ? weekdays[token.text] : undefined;
  if (name === undefined) return undefined;
  const next = tokens[index + 1];
  const beforeDate = next !== undefined && token.after !== "" && (monthOf(next) !== undefined || day.test(next.text));
  const isAbbreviation = token.after.startsWith(".") && !["Sun", "Sat"].includes(token.text) && next !== undefined;
  if (!beforeDate && !isAbbreviation) return undefined;
  return { rewrites: [sayDotted(token, name)], count: 1 };
}

/** What lasts so many seconds. */
const lasting = /^(?:timeout|limit|window|delay|interval|mark|clip|video|run|test|cap|deadline|wait|pause|break)s?$/i;

/** `1990s`, `'90s`, and `90s` and `300s` after "the". */
function decade({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const isDuration = token.after === "" && lasting.test(tokens[index + 1]?.text ?? "");
  if (isDuration && token.before === "") return undefined;
  const [, hundreds] = /^([1-9]00)['’]?s$/.exec(token.text) ?? [];
  if (hundreds !== undefined) return isNamed(tokens, index) ? one(token, plural(cardinal(hundreds))) : undefined;
  const [, century, tens] = /^(\d\d)?(\d0)['’]?s$/.exec(token.text) ?? [];
  if (tens === undefined) return undefined;
  if (century !== undefined) {
    if (!/^1[1-9]|^20/.test(century)) return undefined;
    return one(token, tens === "00" ? plural(year(`${century}00`)) : `${cardinal(century)} ${plural(cardinal(tens))}`);
  }
  return isNamed(tokens, index) && tens !== "00" && tens !== "10" ? one(token, plural(cardinal(tens))) : undefined;
}

function isNamed(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.text.toLowerCase() ?? "";
  return /^(?:the|early|mid|late|his|her|their|my|our|your)$/.test(before) || /['’]$/.test(tokens[index]!.before);
}

/** `Jan.` without a day. */
function abbreviatedMonth({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const month = /^(?:Jan|Feb|Apr|Aug|Sept?|Oct|Nov|Dec)$/.test(token.text) ? monthOf(token) : undefined;
  if (month === undefined || !token.after.startsWith(".")) return undefined;
  return {
    rewrites: [index < tokens.length - 1 ? sayDotted(token, month) : say(token, month)],
    count: 1,
  };
}
