/** Times as text in Go's layouts. https://pkg.go.dev/time#Time.Format */
import { dayNames, monthNames, parseLayout } from "./date-layout.ts";
import { abbreviationAt, formatOffset, offsetSecondsAt } from "./time-zone.ts";
import type { GoTime } from "./values.ts";

interface Civil {
  /** The local time, as if it were in UTC. */
  readonly date: Date;
  readonly nanoseconds: number;
  readonly offsetSeconds: number;
  readonly abbreviation: string;
}

const nanosPerSecond = 1_000_000_000n;

export function formatDate(layout: string, time: GoTime): string {
  const civil = toCivil(time);
  return parseLayout(layout)
    .map(({ kind, text }) => (kind === "text" ? text : formatElement(text, civil)))
    .join("");
}

/** A time as `print` writes it. */
export function goTimeText(time: GoTime): string {
  return formatDate("2006-01-02 15:04:05.999999999 -0700 MST", time);
}

function toCivil({ unixNano, zone }: GoTime): Civil {
  const nanoseconds = Number(((unixNano % nanosPerSecond) + nanosPerSecond) % nanosPerSecond);
  const seconds = Number((unixNano - BigInt(nanoseconds)) / nanosPerSecond);
  const offsetSeconds = typeof zone === "string" ? offsetSecondsAt(zone, seconds) : zone.offsetSeconds;
  return {
    date: new Date((seconds + offsetSeconds) * 1000),
    nanoseconds,
    offsetSeconds,
    abbreviation: typeof zone === "string" ? abbreviationAt(zone, seconds) : formatOffset(offsetSeconds, "-0700"),
  };
}

function formatElement(element: string, { abbreviation, date, nanoseconds, offsetSeconds }: Civil): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const hour12 = date.getUTCHours() % 12 || 12;
  switch (element) {
    case "2006":
      return String(date.getUTCFullYear()).padStart(4, "0");
    case "06":
      return two(date.getUTCFullYear() % 100);
    case "January":
      return monthNames[date.getUTCMonth()]!;
    case "Jan":
      return monthNames[date.getUTCMonth()]!.slice(0, 3);
    case "1":
      return String(date.getUTCMonth() + 1);
    case "01":
      return two(date.getUTCMonth() + 1);
    case "Monday":
      return dayNames[date.getUTCDay()]!;
    case "Mon":
      return dayNames[date.getUTCDay()]!.slice(0, 3);
    case "2":
      return String(date.getUTCDate());
    case "_2":
      return String(date.getUTCDate()).padStart(2);
    case "02":
      return two(date.getUTCDate());
    case "__2":
      return String(dayOfYear(date)).padStart(3);
    case "002":
      return String(dayOfYear(date)).padStart(3, "0");
    case "15":
      return two(date.getUTCHours());
    case "3":
      return String(hour12);
    case "03":
      return two(hour12);
    case "4":
      return String(date.getUTCMinutes());
    case "04":
      return two(date.getUTCMinutes());
    case "5":
      return String(date.getUTCSeconds());
    case "05":
      return two(date.getUTCSeconds());
    case "PM":
      return date.getUTCHours() >= 12 ? "PM" : "AM";
    case "pm":
      return date.getUTCHours() >= 12 ? "pm" : "am";
    case "MST":
      return abbreviation;
    default:
      if (element.startsWith("Z")) return offsetSeconds === 0 ? "Z" : formatOffset(offsetSeconds, element);
      return element.startsWith("-") ? formatOffset(offsetSeconds, element) : formatFraction(element, nanoseconds);
  }
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
}

/** `.000` has as many digits as zeros; `.999` drops zeros at the end. */
function formatFraction(element: string, nanoseconds: number): string {
  const digits = String(nanoseconds)
    .padStart(9, "0")
    .slice(0, element.length - 1)
    .padEnd(element.length - 1, "0");
  if (element[1] === "0") return element[0]! + digits;
  const needed = digits.slice(0, 9).replace(/0+$/, "");
  return needed === "" ? "" : element[0]! + needed;
}
