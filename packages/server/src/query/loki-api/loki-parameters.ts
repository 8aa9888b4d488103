/** Reads the parameters of Loki's HTTP API from the query string and the form. https://grafana.com/docs/loki/latest/reference/loki-http-api/#timestamps */
import { showValue } from "../../api/validate.ts";
import { parseDuration } from "@sounding/promql/syntax/duration";
import { invalidParameter, isDecimal, RequestParameters } from "../request-parameters.ts";

/** From `fromUnixNano`, included, to `toUnixNano`, excluded. */
export interface LokiRange {
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
}

const nanosPerMilli = 1_000_000n;
const defaultSinceMs = 3_600_000;
/** The last time that the store can compare with. */
const lastUnixNano = 2n ** 63n - 1n;
/** The default of `step` divides a range into this many steps. */
const defaultSteps = 250;
/** Loki reads integers of up to this many characters as seconds. */
const secondsCharacters = 10;

export class LokiParameters extends RequestParameters {
  timeUnixNano(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const time = readTime(text);
    if (time !== undefined) return clamp(time);
    throw invalidParameter(
      name,
      `is ${showValue(text)}; expected a UNIX time in nanoseconds, in seconds with a fraction, or an RFC 3339 time`,
    );
  }

  /** `start`, `end` and `since`. */
  range(nowUnixNano: bigint): LokiRange {
    const toUnixNano = this.timeUnixNano("end") ?? nowUnixNano;
    const sinceMs = this.#sinceMs();
    const latest = toUnixNano < nowUnixNano ? toUnixNano : nowUnixNano;
    const fromUnixNano = this.timeUnixNano("start") ?? clamp(latest - BigInt(sinceMs) * nanosPerMilli);
    if (toUnixNano < fromUnixNano) throw invalidParameter("end", "is before start; expected a time at or after start");
    return { fromUnixNano, toUnixNano };
  }

  #sinceMs(): number {
    const text = this.text("since");
    if (text === undefined) return defaultSinceMs;
    const parsed = parseDuration(text);
    if ("ms" in parsed && Number.isSafeInteger(parsed.ms)) return parsed.ms;
    throw invalidParameter("since", `is ${showValue(text)}; expected a duration such as "6h"`);
  }

  /** Milliseconds of a duration or of seconds, possibly with a fraction. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const parsed = isDecimal(text) ? { ms: Number(text) * 1000 } : parseDuration(text);
    if ("ms" in parsed && Number.isFinite(parsed.ms) && Math.abs(parsed.ms) < Number.MAX_SAFE_INTEGER) return parsed.ms;
    throw invalidParameter(name, `is ${showValue(text)}; expected a duration such as "30s" or seconds`);
  }

  /** `step`, or a 250th of the range. */
  stepMs({ fromUnixNano, toUnixNano }: LokiRange): number {
    const seconds = Number((toUnixNano - fromUnixNano) / 1_000_000_000n);
    const stepMs = this.durationMs("step") ?? Math.max(Math.floor(seconds / defaultSteps), 1) * 1000;
    if (stepMs > 0) return stepMs;
    throw invalidParameter("step", `is ${showValue(this.text("step"))}; expected a duration above 0`);
  }

  intervalMs(): number {
    const ms = this.durationMs("interval") ?? 0;
    if (ms >= 0) return ms;
    throw invalidParameter("interval", `is ${showValue(this.text("interval"))}; expected a duration of at least 0`);
  }

  direction(): "forward" | "backward" {
    const text = this.text("direction");
    const direction = (text ?? "backward").toLowerCase();
    if (direction === "forward" || direction === "backward") return direction;
    throw invalidParameter("direction", `is ${showValue(text)}; expected "forward" or "backward"`);
  }

  /** An integer of at least `least`. */
  count(name: string, fallback: number, { least = 1, most = 4_294_967_295 } = {}): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const count = /^\+?\d{1,12}$/.test(text) ? Number(text) : -1;
    if (count >= least && count <= most) return count;
    throw invalidParameter(name, `is ${showValue(text)}; expected an integer from ${least} to ${most}`);
  }
}

/** Undefined for what is no time. */
function readTime(text: string): bigint | undefined {
  if (text.includes(".") && isDecimal(text)) return nanosOfSeconds(Number(text));
  if (/^[+-]?\d{1,19}$/.test(text)) {
    const whole = BigInt(text.replace(/^\+/, ""));
    return text.length <= secondsCharacters ? whole * 1_000_000_000n : whole;
  }
  return nanosOfRfc3339(text);
}

/** Loki keeps milliseconds of fractional seconds. */
function nanosOfSeconds(seconds: number): bigint | undefined {
  const ms = Math.round(seconds * 1000);
  return Number.isSafeInteger(ms) ? BigInt(ms) * nanosPerMilli : undefined;
}

function nanosOfRfc3339(text: string): bigint | undefined {
  const {
    fraction = "",
    whole,
    zone,
  } = /^(?<whole>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](?<fraction>\d{1,100}))?(?<zone>Z|[+-]\d\d:\d\d)$/i.exec(text)
    ?.groups ?? {};
  if (whole === undefined) return undefined;
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  return BigInt(ms) * nanosPerMilli + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** Times that the store cannot compare with become the nearest one that it can. */
function clamp(unixNano: bigint): bigint {
  return unixNano < 0n ? 0n : unixNano > lastUnixNano ? lastUnixNano : unixNano;
}
