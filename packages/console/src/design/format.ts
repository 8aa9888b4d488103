/** Times, durations and quantities as people read them. */
import { preferences } from "../state/preferences.ts";

/** `14:03:21.204`, or with the date: `2026-01-31 14:03:21`. In the time zone of the preferences. */
export function formatTime(ms: number, { date = true, millis = false } = {}): string {
  const utc = preferences.value.timeZone === "utc";
  const shifted = utc ? new Date(ms) : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  if (Number.isNaN(shifted.getTime())) return "–";
  const iso = shifted.toISOString();
  const time = iso.slice(11, millis ? 23 : 19);
  return date ? `${iso.slice(0, 10)} ${time}` : time;
}

/** `just now`, `5 min ago`, `3 h ago`, otherwise the date. */
export function formatAge(ms: number, nowMs = Date.now()): string {
  const seconds = Math.round((nowMs - ms) / 1000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return formatTime(ms).slice(0, 10);
}

/** `840 µs`, `12.4 ms`, `1.24 s`, `2 min 5 s`, `3 h 4 min`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const length = Math.abs(ms);
  if (length === 0) return "0 ms";
  if (length < 0.9995) return `${trim(ms * 1000, 3)} µs`;
  if (length < 999.5) return `${trim(ms, 3)} ms`;
  if (length < 59_995) return `${trim(ms / 1000, 3)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** `1,234`, `12.3k`, `4.56M`. */
export function formatCount(count: number): string {
  if (!Number.isFinite(count)) return "–";
  if (Math.abs(count) < 10_000)
    return trim(count, Math.abs(count) < 10 ? 3 : 5).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ",");
  return scaled(count, ["k", "M", "G", "T", "P"]);
}

/** `512 B`, `1.5 kB`, `20 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${trim(bytes, 3)} B`;
  return scaled(bytes, [" kB", " MB", " GB", " TB"]);
}

/** A cost in the currency of the configured prices: `0.0124`, `3.20`. */
export function formatCost(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return "–";
  if (cost === 0) return "0";
  return cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(cost < 1 ? 4 : 2);
}

/** `4.2 %`. */
export function formatShare(share: number): string {
  return Number.isFinite(share) ? `${trim(share * 100, 3)} %` : "–";
}

/** @param units for thousands, millions, … */
function scaled(value: number, units: readonly string[]): string {
  let rest = value / 1000;
  let unit = 0;
  while (Math.abs(rest) >= 999.5 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${trim(rest, 3)}${units[unit]}`;
}

/** With so many significant digits, without trailing zeros. */
function trim(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}
