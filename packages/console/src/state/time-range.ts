/**
 * The time range that a view shows, in the parameters `from` and `to`: relative to now (`now-1h`), or RFC 3339 times. A range
 * that ends now can be live.
 */
import { computed, effect, signal } from "@preact/signals";
import { parameters, setParameters } from "./address.ts";
import { parseTime } from "./time-text.ts";

export interface Moments {
  readonly startMs: number;
  readonly endMs: number;
}

export interface TimeRange {
  /** As in the address: `now-1h`, or an RFC 3339 time. */
  readonly from: string;
  readonly to: string;
}

const defaultRange: TimeRange = { from: "now-1h", to: "now" };

/** How often a live view asks for news. */
const liveIntervalMs = 5_000;

export const timeRange = computed<TimeRange>(() => {
  const from = parameters.value.get("from") ?? defaultRange.from;
  const to = parameters.value.get("to") ?? defaultRange.to;
  const valid = parseTime(from, 1) !== undefined && parseTime(to, 1) !== undefined;
  return valid ? { from, to } : defaultRange;
});

/** Whether the range ends now, so that it can be live. */
export const endsNow = computed(() => timeRange.value.to === "now");

/** Whether the view follows the time. */
export const live = computed(() => endsNow.value && parameters.value.get("live") === "1");

/** When the range was last resolved. */
const resolvedMs = signal(Date.now());

/** The range in milliseconds; changes when the range does, when the user refreshes, and while the view is live. */
export const moments = computed<Moments>(() => {
  const { from, to } = timeRange.value;
  const startMs = parseTime(from, resolvedMs.value) ?? 0;
  return { startMs, endMs: Math.max(startMs + 1, parseTime(to, resolvedMs.value) ?? 0) };
});

/** Resolves the range again. */
export function refresh(): void {
  resolvedMs.value = Date.now();
}

/** Sets the range; back in the browser's history restores the last one. */
export function setTimeRange({ from, to }: TimeRange): void {
  const isDefault = from === defaultRange.from && to === defaultRange.to;
  setParameters({
    from: isDefault ? undefined : from,
    to: to === "now" ? undefined : to,
    live: to === "now" ? (parameters.value.get("live") ?? undefined) : undefined,
  });
  refresh();
}

/** Zooms to moments, such as those selected in a chart. */
export function zoomTo({ startMs, endMs }: Moments): void {
  setTimeRange({ from: new Date(Math.floor(startMs)).toISOString(), to: new Date(Math.ceil(endMs)).toISOString() });
}

/** Moves the range by its own length, back or forward. */
export function stepRange(direction: -1 | 1): void {
  const { startMs, endMs } = moments.value;
  const lengthMs = (endMs - startMs) * direction;
  zoomTo({ startMs: startMs + lengthMs, endMs: Math.min(endMs + lengthMs, Date.now()) });
}

export function setLive(on: boolean): void {
  setParameters({ live: on ? "1" : undefined }, { replace: true });
}

/** Keeps live views up to date while the page is visible. */
export function keepLive(): void {
  effect(() => {
    if (!live.value) return;
    refresh();
    const timer = setInterval(() => document.hidden || refresh(), liveIntervalMs);
    return () => clearInterval(timer);
  });
}
