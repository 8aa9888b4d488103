/**
 * Quantities with units: durations as Go's time package reads and prints them (`1h30m`, `1.5s`, `2µs`) and numbers of bytes
 * (`5KB`, `1.5MiB`).
 */
import { formatDuration, parseDuration } from "@sounding/promql/syntax/duration";

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const longest = 2n ** 63n - 1n;

/** Nanoseconds of a duration in PromQL's units (days, weeks, years) or in Go's (fractions, ns, µs); undefined if it is none. */
export function parseNanoseconds(text: string): number | undefined {
  const isNegative = text.startsWith("-");
  const digits = isNegative ? text.slice(1) : text;
  const plain = parseDuration(digits);
  const nanoseconds = "ms" in plain ? plain.ms * 1e6 : goNanoseconds(digits);
  return nanoseconds === undefined || !isNegative ? nanoseconds : -nanoseconds;
}

function goNanoseconds(text: string): number | undefined {
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0n;
  for (const [, whole, fraction = "", unit] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
    const nanoseconds = unitNanoseconds[unit!]!;
    // More digits are below a nanosecond.
    const digits = fraction.slice(0, 18);
    const part = Math.trunc(Number(digits) * (Number(nanoseconds) / 10 ** digits.length));
    sum += BigInt(whole!) * nanoseconds + BigInt(part);
  }
  return sum > longest ? undefined : Number(sum);
}

/** A duration as Go prints it: `1h30m0s`, `1.5ms`. */
export function formatNanoseconds(value: number): string {
  if (value === 0) return "0s";
  if (value < 0) return `-${formatNanoseconds(-value)}`;
  const nanoseconds = BigInt(Math.round(value));
  if (nanoseconds < 1000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${withFraction(nanoseconds, 1000n)}µs`;
  if (nanoseconds < 1_000_000_000n) return `${withFraction(nanoseconds, 1_000_000n)}ms`;
  const minutes = nanoseconds / unitNanoseconds["m"]!;
  const hours = minutes / 60n;
  const seconds = `${withFraction(nanoseconds % unitNanoseconds["m"]!, 1_000_000_000n)}s`;
  if (minutes === 0n) return seconds;
  return hours === 0n ? `${minutes}m${seconds}` : `${hours}h${minutes % 60n}m${seconds}`;
}

function withFraction(nanoseconds: bigint, unit: bigint): string {
  const fraction = (nanoseconds % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return `${nanoseconds / unit}${fraction === "" ? "" : `.${fraction}`}`;
}

/** A duration as Prometheus prints it (`1h30m`), or as Go does where milliseconds are not exact. */
export function formatMilliseconds(value: number): string {
  return Number.isInteger(value) ? formatDuration(value) : formatNanoseconds(value * 1e6);
}

/** Units up to petabytes; without `B` they mean the same. */
const unitLetters = ["", "k", "m", "g", "t", "p"];

/** The number of bytes, undefined if the text is none. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d+\.?\d*|\.\d+)([kKMGTP]?)(i?)B?$/.exec(text);
  if (match === null || (match[2] === "" && match[3] !== "")) return undefined;
  const power = unitLetters.indexOf(match[2]!.toLowerCase());
  const value = Number(match[1]) * (match[3] === "i" ? 1024 : 1000) ** power;
  return value >= 2 ** 64 ? undefined : Math.trunc(value);
}

/** A number of bytes with a decimal unit and few digits, as Loki prints it, where those are exact. */
export function formatBytes(value: number): string {
  let power = 0;
  while (power < unitLetters.length - 1 && value >= 1000 ** (power + 1)) power++;
  const scaled = Math.round((value / 1000 ** power) * 10) / 10;
  const unit = power === 1 ? "k" : unitLetters[power]!.toUpperCase();
  const short = `${scaled < 10 && value >= 10 ? scaled.toFixed(1) : scaled.toFixed(0)}${unit}B`;
  return parseBytes(short) === value ? short : `${value}B`;
}
