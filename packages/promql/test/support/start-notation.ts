/** Start timestamps in test scripts: offsets from each sample's time, `-1m`, `-30s-1mx2`, `_x3`. */
import { parseDuration } from "../../src/syntax/duration.ts";
import { NotationError } from "./series-notation.ts";

/** The offset of each sample in milliseconds, null if it has none. */
export function parseStartOffsets(text: string): (number | null)[] {
  return text.split(/\s+/).flatMap(parseItem);
}

const item = /^([+-]?\d+(?:ms|[smhdwy])?)(?:([+-]\d+(?:ms|[smhdwy])?))?(?:x(\d+))?$/;

function parseItem(text: string): (number | null)[] {
  const blank = /^_(?:x(\d+))?$/.exec(text);
  if (blank !== null) return Array.from({ length: Number(blank[1] ?? 1) }, () => null);
  const match = item.exec(text);
  if (match === null) throw new NotationError(`invalid ST item "${text}"`);
  const first = signedDuration(match[1]!);
  const step = match[2] === undefined ? 0 : signedDuration(match[2]);
  return Array.from({ length: Number(match[3] ?? 0) + 1 }, (_, index) => first + index * step);
}

function signedDuration(text: string): number {
  const duration = parseDuration(text.replace(/^[+-]/, ""));
  if ("problem" in duration) throw new NotationError(duration.problem);
  return text.startsWith("-") ? -duration.ms : duration.ms;
}
