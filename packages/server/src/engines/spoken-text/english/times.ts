/** Reads times of the day: `3:30pm`, `3 p.m.`, `15:45`, `10:00`, `9:00-17:00`, `7.30pm`, and `at 14.30`. */
import { cardinal } from "./numbers.ts";
import { one, say, sayAbbreviation, type Reading, type Sentence } from "./tokens.ts";

const clock = String.raw`([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?`;
const alone = new RegExp(`^${clock}([AaPp]\\.?[Mm])?$`);
const span = new RegExp(`^${clock}([AaPp]\\.?[Mm])?[-–]${clock}([AaPp]\\.?[Mm])?$`);
const hour = /^(1[0-2]|0?[1-9])([AaPp]\.?[Mm])$/;
const hours = /^(1[0-2]|0?[1-9])([AaPp]\.?[Mm])?[-–](1[0-2]|0?[1-9])([AaPp]\.?[Mm])$/;
const dotted = /^([01]?\d|2[0-3])\.([0-5]\d)([AaPp]\.?[Mm])?$/;
/** Words after a time; after others a number with a full stop is an amount: "at 2.30 percent". */
const afterTime = /^(?:on|in|and|or|but|for|with|today|tomorrow|every|each|sharp|local|UTC|GMT)$/;
const halfOfDay = /^[AaPp]\.?[Mm]$/;

export function readTime(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const next = sentence.tokens[index + 1];
  const half = next !== undefined && token.after === "" && halfOfDay.test(next.text) ? next.text : undefined;
  const words = timeWords(token.text, half !== undefined) ?? dottedWords(sentence, index, half !== undefined);
  if (words === undefined) return undefined;
  if (half === undefined) return { rewrites: [withFullStop(sentence, index, words)], count: 1 };
  return { rewrites: [say(token, words), sayAbbreviation(sentence, index + 1, letters(half))], count: 2 };
}

function dottedWords({ tokens }: Sentence, index: number, halved: boolean): string | undefined {
  const { text, after } = tokens[index]!;
  const parts = dotted.exec(text)?.slice(1);
  if (parts === undefined) return undefined;
  const next = tokens[index + 1];
  const ends = next === undefined || after !== "" || afterTime.test(next.text);
  const isTime = halved || parts[2] !== undefined || (tokens[index - 1]?.text === "at" && ends);
  return isTime ? toWords([parts[0], parts[1], undefined, parts[2]], halved) : undefined;
}

/** A full stop after `p.m` belongs to it. */
function withFullStop(sentence: Sentence, index: number, words: string) {
  const token = sentence.tokens[index]!;
  return token.text.endsWith(".m") ? sayAbbreviation(sentence, index, words) : say(token, words);
}

/** @param halved whether "a.m." or "p.m." follows */
function timeWords(text: string, halved: boolean): string | undefined {
  const ofClock = alone.exec(text);
  if (ofClock !== null) return toWords(ofClock.slice(1), halved);
  const ofSpan = span.exec(text);
  if (ofSpan !== null) {
    const end = toWords(ofSpan.slice(5), halved);
    return `${toWords(ofSpan.slice(1, 5), halved || ofSpan[8] !== undefined)} to ${end}`;
  }
  const ofHour = hour.exec(text);
  if (ofHour !== null) return `${cardinal(String(Number(ofHour[1])))} ${letters(ofHour[2]!)}`;
  const ofHours = hours.exec(text);
  if (ofHours !== null) {
    const [, from, fromHalf, to, toHalf] = ofHours;
    const begin = fromHalf === undefined ? "" : ` ${letters(fromHalf)}`;
    return `${cardinal(String(Number(from)))}${begin} to ${cardinal(String(Number(to)))} ${letters(toHalf!)}`;
  }
  return halved && /^(?:1[0-2]|[1-9])$/.test(text) ? cardinal(text) : undefined;
}

function toWords([hourDigits, minutes, seconds, half]: (string | undefined)[], halved: boolean): string {
  const hourOfDay = Number(hourDigits);
  const suffix = half === undefined ? "" : ` ${letters(half)}`;
  const name = hourOfDay === 0 && halved ? "twelve" : cardinal(String(hourOfDay));
  const after = seconds === undefined ? "" : ` and ${cardinal(String(Number(seconds)))} seconds`;
  if (minutes !== "00") return `${name} ${minutesPast(minutes!)}${after}${suffix}`;
  if (half !== undefined || halved) return `${name}${after}${suffix}`;
  if (hourOfDay === 0) return `midnight${after}`;
  return hourOfDay <= 12 ? `${name} o'clock${after}` : `${name} hundred${after}`;
}

function minutesPast(minutes: string): string {
  return minutes.startsWith("0") ? `oh ${cardinal(minutes.slice(1))}` : cardinal(minutes);
}

function letters(half: string): string {
  return `${half[0]!.toUpperCase()}-M`;
}

/** `T23:59:59Z` of a timestamp. */
export function clockWords(text: string): string | undefined {
  return timeWords(text, false);
}

/** "a.m." and "p.m." after something else than a number. */
export function readHalfOfDay(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  if (!/^[ap]\.m$/i.test(token.text)) return undefined;
  return token.after.startsWith(".")
    ? { rewrites: [sayAbbreviation(sentence, index, letters(token.text))], count: 1 }
    : one(token, letters(token.text));
}
