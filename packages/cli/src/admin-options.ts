/** Reads the options that several administration commands share. */
import { UsageError } from "./cli-error.ts";
import type { Options } from "./command.ts";

export const allowModelOption = {
  "allow-model": {
    type: "string",
    value: "PATTERN",
    multiple: true,
    description: "A model ID, or a pattern with *, that may be called. Default: all models.",
  },
} as const satisfies Options;

/** For commands that change an object. */
export const modelChangeOptions = {
  ...allowModelOption,
  "allow-all-models": { type: "boolean", description: "Allow every model again." },
} as const satisfies Options;

/** The patterns to set; null for all models, undefined for no change. Throws UsageError. */
export function readAllowedModels(values: {
  readonly "allow-model"?: readonly string[] | undefined;
  readonly "allow-all-models"?: boolean | undefined;
}): readonly string[] | null | undefined {
  if (values["allow-all-models"] !== true) return values["allow-model"];
  if (values["allow-model"] === undefined) return null;
  throw new UsageError("--allow-model and --allow-all-models cannot be combined");
}

function limitOption(of: string) {
  return { type: "string", value: "N", description: `Maximum number of ${of}; \`none\` removes the limit.` } as const;
}

export const limitOptions = {
  "requests-per-minute": limitOption("requests per minute"),
  "tokens-per-minute": limitOption("tokens per minute"),
  "concurrent-requests": limitOption("concurrent requests"),
  "tokens-per-month": limitOption("tokens per calendar month (UTC)"),
  "compute-seconds-per-minute": limitOption("compute seconds per minute, for telemetry queries and for exports"),
} as const satisfies Options;

type LimitValues = { readonly [Name in keyof typeof limitOptions]?: string | undefined };

/** The limits that were set, in the admin API's format; undefined if there are none. */
export function readLimits(values: LimitValues): Record<string, number | null> | undefined {
  const limits: Record<string, number | null> = {};
  for (const name of Object.keys(limitOptions) as (keyof typeof limitOptions)[]) {
    const text = values[name];
    if (text === undefined) continue;
    limits[name.replaceAll("-", "_")] = text === "none" ? null : readInteger(name, text);
  }
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** Throws UsageError. The server checks the bounds. */
export function readInteger(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`--${option} is ${JSON.stringify(text)}; it must be a whole number`);
  return Number(text);
}

const secondsOf = { m: 60, h: 3600, d: 86_400 };

/** A duration such as `90d`, `12h` or `30m` in seconds. Throws UsageError. */
export function readDuration(option: string, text: string): number {
  const seconds = durationSeconds(text);
  if (seconds !== undefined) return seconds;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}; it must be a duration such as 30m, 1h or 7d`);
}

function durationSeconds(text: string): number | undefined {
  const duration = /^(?<count>\d{1,6})(?<unit>[mhd])$/.exec(text)?.groups;
  return duration && Number(duration["count"]) * secondsOf[duration["unit"] as keyof typeof secondsOf];
}

/**
 * A time ahead as UNIX seconds: a duration from now such as `90d`, a date such as `2027-01-31` (midnight UTC) or a
 * whole ISO time; null for `never`. Throws UsageError.
 */
export function readExpiry(text: string, nowMs: number): number | null {
  if (text === "never") return null;
  const seconds = durationSeconds(text);
  if (seconds !== undefined) return Math.floor(nowMs / 1000) + seconds;
  const parsed = /^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(parsed)) {
    throw new UsageError(
      `--expires is ${JSON.stringify(text)}; it must be a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or \`never\``,
    );
  }
  return Math.floor(parsed / 1000);
}

/** The members that are defined. */
export function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Throws UsageError if no change was given. */
export function changesOf(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const changes = withoutUndefined(members);
  if (Object.keys(changes).length === 0) throw new UsageError("no change was given; --help lists the options");
  return changes;
}
