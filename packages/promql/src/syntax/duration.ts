/**
 * Prometheus durations: `1h30m`, units from years to milliseconds, each at most once and in falling order.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/#float-literals-and-time-durations
 */
const unitsMs: readonly (readonly [unit: string, ms: number])[] = [
  ["y", 365 * 86_400_000],
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];

const durationPattern = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** The longest duration that Prometheus holds: 2^63 - 1 nanoseconds, in milliseconds. */
export const longestDurationMs = 9_223_372_036_854;

/** A duration's milliseconds, or the reason why the text is none. */
export function parseDuration(text: string): { readonly ms: number } | { readonly problem: string } {
  if (text === "0") return { ms: 0 };
  if (text === "") return { problem: "empty duration string" };
  const match = durationPattern.exec(text);
  if (match === null) return { problem: `not a valid duration string: ${JSON.stringify(text)}` };
  let ms = 0;
  for (const [index, [, unitMs]] of unitsMs.entries()) ms += Number(match[index + 1] ?? 0) * unitMs;
  return ms > longestDurationMs ? { problem: "duration out of range" } : { ms };
}

/** A whole number of milliseconds as a duration; years and weeks only where they divide it, as Prometheus prints. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 0) return `-${formatDuration(-ms)}`;
  let rest = ms;
  let text = "";
  for (const [unit, unitMs] of unitsMs) {
    const onlyExact = unit === "y" || unit === "w";
    if (onlyExact && rest % unitMs !== 0) continue;
    const count = Math.floor(rest / unitMs);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * unitMs;
  }
  return text;
}
