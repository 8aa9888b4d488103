/** Functions from one float to another; histograms and metric names are dropped. */

/** The functions of one argument by name. */
export const floatFunctions: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  exp: Math.exp,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  rad: (value) => (value * Math.PI) / 180,
  deg: (value) => (value * 180) / Math.PI,
  sgn: (value) => (value < 0 ? -1 : value > 0 ? 1 : value),
};

/** To the nearest multiple, ties up. */
export function roundTo(value: number, nearest: number): number {
  // Multiplying by the inverse loses less precision than dividing.
  const inverse = 1 / nearest;
  return Math.floor(value * inverse + 0.5) / inverse;
}

/** The greater value; NaN unless the other one is infinite, since nothing is greater. */
export function greaterOf(left: number, right: number): number {
  return left === Infinity || right === Infinity ? Infinity : Math.max(left, right);
}

/** The smaller value; NaN unless the other one is negatively infinite. */
export function smallerOf(left: number, right: number): number {
  return left === -Infinity || right === -Infinity ? -Infinity : Math.min(left, right);
}

/** Clamps between two limits; the lower limit wins, and NaN stays NaN. */
export function clampTo(value: number, minimum: number, maximum: number): number {
  return greaterOf(minimum, smallerOf(maximum, value));
}

type DatePart = (date: Date) => number;

/** Parts of a Unix time in seconds, in UTC. */
const dateParts: Readonly<Record<string, DatePart>> = {
  minute: (date) => date.getUTCMinutes(),
  hour: (date) => date.getUTCHours(),
  day_of_week: (date) => date.getUTCDay(),
  day_of_month: (date) => date.getUTCDate(),
  day_of_year: (date) => {
    const newYear = new Date(0);
    newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
    return Math.floor((date.getTime() - newYear.getTime()) / 86_400_000) + 1;
  },
  days_in_month: (date) => {
    const nextMonth = new Date(0);
    nextMonth.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + 1, 0);
    return nextMonth.getUTCDate();
  },
  month: (date) => date.getUTCMonth() + 1,
  year: (date) => date.getUTCFullYear(),
};

/** The date functions by name, from seconds; NaN outside the years that dates can represent. */
export const dateFunctions: Readonly<Record<string, (seconds: number) => number>> = Object.fromEntries(
  Object.entries(dateParts).map(([name, part]) => [
    name,
    (seconds: number) => part(new Date(Math.trunc(seconds) * 1000)),
  ]),
);
