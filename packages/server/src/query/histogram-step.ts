/** Chooses or reads the width of a histogram's buckets. */
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

const { s: second, m: minute, h: hour, d: day } = unitSeconds;

/** Each is at most 2.5 times the one before. */
const widths = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 400].map((days) => days * day),
];

const mostChosen = 120;
const mostRequested = 1000;

/** The narrowest width of at most 120 buckets, in seconds. */
function chosenStep(rangeSeconds: number): number {
  return widths.find((width) => rangeSeconds / width <= mostChosen) ?? widths.at(-1)!;
}

/**
 * The width of a bucket in seconds.
 * @param text as in `30s` or `5m`; undefined lets the server choose
 * @throws AppError invalid_request
 */
export function histogramStep(text: string | undefined, rangeSeconds: number): number {
  if (text === undefined) return chosenStep(rangeSeconds);
  const { count = "0", unit = "s" } = /^(?<count>\d{1,9})(?<unit>[smhd])$/.exec(text)?.groups ?? {};
  const seconds = Number(count) * unitSeconds[unit as keyof typeof unitSeconds];
  const complaint =
    seconds === 0
      ? "expected an integer of at least 1 followed by s (seconds), m (minutes), h (hours) or d (days)"
      : rangeSeconds / seconds > mostRequested
        ? `expected at most ${mostRequested} buckets, but the time range has ${Math.ceil(rangeSeconds / seconds)}`
        : undefined;
  if (complaint === undefined) return seconds;
  throw new AppError("invalid_request", `step is ${showValue(text)}; ${complaint}, for example "5m".`, {
    param: "step",
  });
}
