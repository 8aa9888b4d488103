/** Functions on times. A time without a zone is in UTC, wherever the server runs. */
import { formatDate } from "./date-format.ts";
import { parseDate } from "./date-parse.ts";
import { fixed, slow, textOf, timeOf, type TemplateFunction } from "./function.ts";
import { TemplateProblem } from "./problem.ts";
import { zoneNamed } from "./time-zone.ts";
import { GoTime, type Value } from "./values.ts";

const nanosPerMilli = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;

const now = (): GoTime => new GoTime(BigInt(Date.now()) * nanosPerMilli);

/** A number counts as seconds since 1970, and anything else as now. */
function toTime(value: Value): GoTime {
  if (value instanceof GoTime) return new GoTime(value.unixNano);
  return typeof value === "bigint" ? new GoTime(value * nanosPerSecond) : now();
}

/** Nanoseconds per unit of a Unix time, by the number of its characters. */
const unixUnits: ReadonlyMap<number, bigint> = new Map([
  [5, 86_400n * nanosPerSecond],
  [10, nanosPerSecond],
  [13, nanosPerMilli],
  [16, 1000n],
  [19, 1n],
]);

function unixToTime(text: string): GoTime {
  const unit = unixUnits.get(text.length);
  if (!/^[+-]?\d+$/.test(text) || unit === undefined) throw new TemplateProblem(`unable to parse time '${text}'`);
  return new GoTime(BigInt(text.replace("+", "")) * unit);
}

/** Division that rounds down, also before 1970. */
function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

const unix = (unit: bigint): TemplateFunction => fixed(1, ([time]) => String(floorDivide(timeOf(time).unixNano, unit)));

export const dateFunctions: Readonly<Record<string, TemplateFunction>> = {
  now: fixed(0, now),
  date: slow(fixed(2, ([layout, time]) => formatDate(textOf(layout), toTime(time!)))),
  toDate: slow(fixed(2, ([layout, text]) => parseDate(textOf(layout), textOf(text), "UTC"))),
  toDateInZone: slow(
    fixed(3, ([layout, zone, text]) => parseDate(textOf(layout), textOf(text), zoneNamed(textOf(zone)))),
  ),
  unixEpoch: unix(nanosPerSecond),
  unixEpochMillis: unix(nanosPerMilli),
  unixEpochNanos: unix(1n),
  unixToTime: fixed(1, ([text]) => unixToTime(textOf(text))),
};
