/** Reads the parameters of Tempo's HTTP API from the query string. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { parseDurationNano } from "@sounding/traceql/syntax/duration";
import { nowUnixNano, parseTime, type TimeRange } from "../time-window.ts";

const secondNano = 1_000_000_000n;
const hourNano = 3600n * secondNano;
const dayNano = 86_400n * secondNano;

/** Items of a list or a search, and spans of each set in a search. */
const maximumLimit = inputLimit({
  area: "TraceQL",
  bounds: "`limit` of searches and lists, and `spss` of searches, in Tempo's HTTP API",
  value: 100_000,
  error: "invalid_request",
});

export class TempoParameters {
  readonly #values: URLSearchParams;

  constructor(values: URLSearchParams) {
    this.#values = values;
  }

  /** The first value, like Tempo; undefined if it is empty. */
  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === null || value === "" ? undefined : value;
  }

  integer(name: string, { lowest }: { readonly lowest: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= lowest && value <= maximumLimit) return value;
    throw invalid(name, `is ${showValue(text)}; expected an integer from ${lowest} to ${maximumLimit}`);
  }

  /** Nanoseconds of a duration such as `1.5s`. */
  durationNano(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const nanos = parseDurationNano(text);
    if (nanos !== undefined) return nanos;
    throw invalid(name, `is ${showValue(text)}; expected a duration such as "30s"`);
  }

  /** Nanoseconds of a UNIX time in seconds. */
  #seconds(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,10}$/.test(text) && BigInt(text) * secondNano < 2n ** 63n) return BigInt(text) * secondNano;
    throw invalid(name, `is ${showValue(text)}; expected a UNIX time in seconds`);
  }

  /** `start` and `end` in seconds, as far as they are present. */
  traceRange(): TimeRange | undefined {
    const [from, to] = [this.#seconds("start"), this.#seconds("end")];
    if (from === undefined && to === undefined) return undefined;
    if (from !== undefined && to !== undefined) requireOrder(from, to);
    return { fromUnixNano: from ?? 0n, toUnixNano: to ?? 2n ** 63n - 1n };
  }

  /** `start` and `end` in seconds, both inclusive; the last day without them. */
  secondsRange(): TimeRange {
    const [start, end] = [this.#seconds("start"), this.#seconds("end")];
    const to = end ?? nowUnixNano();
    const from = start ?? (to > dayNano ? to - dayNano : 0n);
    requireOrder(from, to);
    // A second lasts until the next begins.
    return { fromUnixNano: from, toUnixNano: end === undefined ? to : to + secondNano - 1n };
  }

  /** The range of a metrics query: `start` included, `end` excluded. */
  metricsRange(): { readonly startUnixNano: bigint; readonly endUnixNano: bigint } {
    const now = nowUnixNano();
    const end = this.#time("end") ?? now;
    const since = this.durationNano("since") ?? hourNano;
    const last = end < now ? end : now;
    const start = this.#time("start") ?? (last > since ? last - since : 0n);
    requireOrder(start, end);
    return { startUnixNano: start, endUnixNano: end };
  }

  /** Nanoseconds of a step: a duration, or seconds. */
  stepNano(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined || !isDecimal(text)) return this.durationNano(name);
    const nanos = Math.round(Number(text) * 1e9);
    if (nanos > 0 && nanos <= Number.MAX_SAFE_INTEGER) return BigInt(nanos);
    throw invalid(name, `is ${showValue(text)}; expected a duration such as "30s", or seconds`);
  }

  /** Nanoseconds since 1970, from seconds (with or without a fraction), nanoseconds or RFC 3339. */
  #time(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,10}$/.test(text)) {
      const nanos = BigInt(text) * secondNano;
      if (nanos < 2n ** 63n) return nanos;
    }
    const [, seconds, fraction = ""] = /^(\d{1,10})\.(\d{0,9})\d*$/.exec(text) ?? [];
    if (seconds !== undefined) return BigInt(seconds) * secondNano + BigInt(fraction.padEnd(9, "0"));
    return parseTime(text, name);
  }
}

function isDecimal(text: string): boolean {
  return /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
}

function requireOrder(from: bigint, to: bigint): void {
  if (from < to) return;
  throw invalid("start", `is ${from / secondNano}; expected a time before end, which is ${to / secondNano}`);
}

function invalid(name: string, problem: string): AppError {
  return new AppError("invalid_request", `invalid ${name}: ${name} ${problem}.`, { param: name });
}
