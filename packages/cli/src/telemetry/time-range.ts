/** Reads the options `--since` and `--until`: how long ago, or a time. */
import { UsageError } from "../cli-error.ts";
import type { Options } from "../command.ts";

/** For commands that query a time range. */
export const rangeOptions = {
  since: {
    type: "string",
    value: "WHEN",
    default: "24h",
    description: "How far to look back (15m, 24h, 7d), or a time such as 2027-01-31 or 2027-01-31T09:30.",
  },
  until: { type: "string", value: "WHEN", description: "The end of the range, in the same forms. Default: now." },
} as const satisfies Options;

interface RangeValues {
  readonly since: string;
  readonly until?: string | undefined;
  /** Whether times without a zone are in UTC. */
  readonly utc?: boolean | undefined;
}

export interface RangeParameters {
  readonly time_window?: string;
  readonly start?: string;
  readonly end?: string;
}

/** The parameters of a query. A window ending now is left to the server, which also checks it. Throws UsageError. */
export function readTimeRange({ since, until, utc }: RangeValues, nowMs: number): RangeParameters {
  const isTime = /^\d{4}-/.test(since);
  if (until === undefined && !isTime) return { time_window: since };
  const read = (option: string, text: string): string => new Date(timeOf(option, text, { utc, nowMs })).toISOString();
  return { start: read("since", since), ...(until === undefined ? {} : { end: read("until", until) }) };
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function timeOf(
  option: string,
  text: string,
  { nowMs, utc }: { readonly nowMs: number; readonly utc: boolean | undefined },
): number {
  const ago = /^(?<count>\d{1,6})(?<unit>[mhd])$/.exec(text)?.groups;
  if (ago !== undefined) return nowMs - Number(ago["count"]) * unitMs[ago["unit"] as keyof typeof unitMs];
  const form =
    /^(?<date>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?<zone>Z|[+-]\d\d:\d\d)?)?$/i;
  const { date = "", time = "00:00", zone = utc === true ? "Z" : "" } = form.exec(text)?.groups ?? {};
  // A time without a zone is local time.
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (!Number.isNaN(ms)) return ms;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; it must be a duration such as 15m, 24h or 7d, or a time such as 2027-01-31T09:30`,
  );
}

/** The range in words, for messages. */
export function describeRange({ since, until }: RangeValues): string {
  if (until !== undefined) return `from ${since} to ${until}`;
  return /^\d{4}-/.test(since) ? `since ${since}` : `in the last ${since}`;
}
