/** Durations as Go's time.ParseDuration reads them: `1h15m30.918s`. https://pkg.go.dev/time#ParseDuration */
import { refuseLong, type Conversion } from "./conversion.ts";

const unitNanoseconds: ReadonlyMap<string, number> = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["µs", 1e3],
  ["μs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
]);

const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
/** 2^63: beyond what Go's durations hold. */
const tooManyNanoseconds = 9_223_372_036_854_775_808;

/** A duration's nanoseconds, or the reason why the text is none, in Go's words. */
export function parseGoDuration(text: string): Conversion {
  const refusal = refuseLong(text);
  if (refusal !== undefined) return refusal;
  const invalid: Conversion = { problem: `time: invalid duration ${JSON.stringify(text)}` };
  const sign = text.startsWith("-") ? -1 : 1;
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === "0") return { value: 0 };
  if (unsigned === "") return invalid;
  let value = 0;
  part.lastIndex = 0;
  while (part.lastIndex < unsigned.length) {
    const [, whole, fraction, unit] = part.exec(unsigned)!;
    if (whole === "" && (fraction === undefined || fraction === "")) return invalid;
    if (unit === "") return { problem: `time: missing unit in duration ${JSON.stringify(text)}` };
    const nanoseconds = unitNanoseconds.get(unit!);
    if (nanoseconds === undefined) {
      return { problem: `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}` };
    }
    value += Number(whole) * nanoseconds;
    if (fraction !== undefined && fraction !== "") value += Math.trunc(Number(`0.${fraction}`) * nanoseconds);
    if (value >= tooManyNanoseconds) return invalid;
  }
  return { value: sign * value };
}
