/** Writes times and durations the same way in all commands. */
import type { Options } from "../command.ts";

/** For commands that show times. */
export const timeOptions = {
  utc: { type: "boolean", description: "Show times in UTC, with a Z, instead of local time." },
} as const satisfies Options;

export interface TimeOptions {
  readonly utc?: boolean | undefined;
}

/** `2027-01-31 09:05:07`, local time, or with a `Z` in UTC. */
export function formatTime(unixMs: number, { utc }: TimeOptions): string {
  const offsetMinutes = utc === true ? 0 : new Date(unixMs).getTimezoneOffset();
  const shown = new Date(unixMs - offsetMinutes * 60_000).toISOString().slice(0, 19).replace("T", " ");
  return utc === true ? `${shown}Z` : shown;
}

/** The same with milliseconds, for times within a second of each other. */
export function formatTimeMs(unixMs: number, { utc }: TimeOptions): string {
  const shown = formatTime(unixMs, { utc }).replace("Z", "");
  const ms = String(((Math.floor(unixMs) % 1000) + 1000) % 1000).padStart(3, "0");
  return `${shown}.${ms}${utc === true ? "Z" : ""}`;
}

/** A short duration: `850 µs`, `12.3 ms`, `4.56 s`, `3m 20s`, `2h 05m`. */
export function formatDuration(ms: number): string {
  const shown = Math.abs(ms);
  if (shown < 0.9995) return `${Math.round(ms * 1000)} µs`;
  if (shown < 999.5) return `${Number(ms.toPrecision(3)).toFixed(shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0)} ms`;
  if (shown < 119_995) return `${(ms / 1000).toFixed(shown < 9995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m ${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}
