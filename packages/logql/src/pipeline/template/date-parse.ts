/** Reads times in Go's layouts. https://pkg.go.dev/time#ParseInLocation */
import { dayNames, monthNames, parseLayout } from "./date-layout.ts";
import { offsetSecondsAt } from "./time-zone.ts";
import { GoTime } from "./values.ts";

/** The time of the year 1, which Go has where a text is no time. */
export const zeroTime = new GoTime(-62_135_596_800_000_000_000n);

interface Fields {
  year: number;
  month: number;
  day: number;
  dayOfYear: number;
  hour: number;
  minute: number;
  second: number;
  nanoseconds: number;
  isAfternoon: boolean | null;
  offsetSeconds: number | null;
}

/** @param zone of a time without an offset */
export function parseDate(layout: string, text: string, zone: string): GoTime {
  const fields: Fields = {
    year: 0,
    month: 1,
    day: 1,
    dayOfYear: 0,
    hour: 0,
    minute: 0,
    second: 0,
    nanoseconds: 0,
    isAfternoon: null,
    offsetSeconds: null,
  };
  const parts = parseLayout(layout);
  let rest = text;
  for (const [index, part] of parts.entries()) {
    const next = part.kind === "text" ? skipText(rest, part.text) : readElement(rest, part.text, fields);
    if (next === undefined) return zeroTime;
    rest = next;
    const isSecond = part.text === "5" || part.text === "05";
    // A fraction may follow seconds that the layout writes without one.
    if (part.kind === "element" && isSecond && !/^[.,][09]/.test(parts[index + 1]?.text ?? "")) {
      const fraction = /^[.,]\d+/.exec(rest)?.[0] ?? "";
      if (fraction !== "") readFraction(fraction, fields);
      rest = rest.slice(fraction.length);
    }
  }
  return rest === "" ? toTime(fields, zone) : zeroTime;
}

/** A space stands for any number of them. */
function skipText(rest: string, expected: string): string | undefined {
  let at = 0;
  for (const [index, word] of expected.split(/ +/).entries()) {
    if (index > 0) while (rest[at] === " ") at++;
    if (!rest.startsWith(word, at)) return undefined;
    at += word.length;
  }
  return rest.slice(at);
}

function readElement(rest: string, element: string, fields: Fields): string | undefined {
  switch (element) {
    case "2006":
      return take(/^\d{4}/, rest, (text) => (fields.year = Number(text)));
    case "06":
      return take(/^\d\d/, rest, (text) => (fields.year = Number(text) + (Number(text) >= 69 ? 1900 : 2000)));
    case "January":
    case "Jan":
      return takeName(monthNames, element === "Jan", rest, (index) => (fields.month = index + 1));
    case "Monday":
    case "Mon":
      return takeName(dayNames, element === "Mon", rest, () => undefined);
    case "1":
    case "01":
      return takeNumber(element, rest, (value) => (fields.month = value));
    case "2":
    case "_2":
    case "02":
      return takeNumber(element, rest.replace(/^ /, element === "02" ? " " : ""), (value) => (fields.day = value));
    case "__2":
    case "002":
      return take(/^[ \d]{2}\d/, rest, (text) => (fields.dayOfYear = Number(text)));
    case "15":
      return takeNumber(element, rest, (value) => (fields.hour = value));
    case "3":
    case "03":
      return takeNumber(element, rest, (value) => {
        fields.hour = value;
        fields.isAfternoon ??= null;
      });
    case "4":
    case "04":
      return takeNumber(element, rest, (value) => (fields.minute = value));
    case "5":
    case "05":
      return takeNumber(element, rest, (value) => (fields.second = value));
    case "PM":
      return take(/^[AP]M/, rest, (text) => (fields.isAfternoon = text === "PM"));
    case "pm":
      return take(/^[ap]m/, rest, (text) => (fields.isAfternoon = text === "pm"));
    case "MST":
      return take(/^(?:[A-Z]{3,5}|[+-]\d\d)/, rest, (text) => {
        if (text === "UTC") fields.offsetSeconds = 0;
      });
    default:
      if (/^[-Z]/.test(element)) return takeOffset(element, rest, fields);
      if (element[1] === "9" && !/^[.,]\d/.test(rest)) return rest;
      return takeFraction(element, rest, fields);
  }
}

/** Nines take all digits, zeros as many as they are. */
function takeFraction(element: string, rest: string, fields: Fields): string | undefined {
  const all = /^[.,]\d+/.exec(rest)?.[0] ?? "";
  const text = element[1] === "9" ? all : all.slice(0, element.length);
  if (text === "" || (element[1] !== "9" && text.length < element.length)) return undefined;
  readFraction(text, fields);
  return rest.slice(text.length);
}

function take(pattern: RegExp, rest: string, use: (text: string) => unknown): string | undefined {
  const match = pattern.exec(rest);
  if (match === null) return undefined;
  use(match[0]);
  return rest.slice(match[0].length);
}

/** A number of one or two digits; two where the layout begins with a zero. */
function takeNumber(element: string, rest: string, use: (value: number) => unknown): string | undefined {
  return take(element.startsWith("0") ? /^\d\d/ : /^\d\d?/, rest, (text) => use(Number(text)));
}

function takeName(
  names: readonly string[],
  isShort: boolean,
  rest: string,
  use: (index: number) => unknown,
): string | undefined {
  for (const [index, name] of names.entries()) {
    const expected = isShort ? name.slice(0, 3) : name;
    if (rest.slice(0, expected.length).toLowerCase() !== expected.toLowerCase()) continue;
    use(index);
    return rest.slice(expected.length);
  }
  return undefined;
}

function takeOffset(element: string, rest: string, fields: Fields): string | undefined {
  if (element.startsWith("Z") && rest.startsWith("Z")) {
    fields.offsetSeconds = 0;
    return rest.slice(1);
  }
  const groups = Math.ceil((element.length - 1) / 2.5);
  const colon = element.includes(":") ? ":" : "";
  const pattern = new RegExp(
    `^([+-])(\\d\\d)${groups > 1 ? `${colon}(\\d\\d)` : ""}${groups > 2 ? `${colon}(\\d\\d)` : ""}`,
  );
  const match = pattern.exec(rest);
  if (match === null) return undefined;
  const [all, sign, hours, minutes = "0", seconds = "0"] = match;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  fields.offsetSeconds = sign === "-" ? -size : size;
  return rest.slice(all.length);
}

function readFraction(text: string, fields: Fields): void {
  fields.nanoseconds = Number(text.slice(1, 10).padEnd(9, "0"));
}

function toTime(fields: Fields, zone: string): GoTime {
  const { day, dayOfYear, minute, month, nanoseconds, second, year } = fields;
  let { hour } = fields;
  if (fields.isAfternoon === true && hour < 12) hour += 12;
  if (fields.isAfternoon === false && hour === 12) hour = 0;
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return zeroTime;
  const date = new Date(0);
  date.setUTCFullYear(year, dayOfYear > 0 ? 0 : month - 1, dayOfYear > 0 ? dayOfYear : day);
  if (dayOfYear === 0 && (date.getUTCMonth() !== month - 1 || day < 1)) return zeroTime;
  const local = date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
  const nanos = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
  if (fields.offsetSeconds === 0) return new GoTime(nanos(local));
  if (fields.offsetSeconds !== null) {
    return new GoTime(nanos(local - fields.offsetSeconds), { offsetSeconds: fields.offsetSeconds });
  }
  const guess = offsetSecondsAt(zone, local);
  const offset = offsetSecondsAt(zone, local - guess);
  return new GoTime(nanos(local - offset), zone);
}
