/** Times as people write them: relative to now, or a date with an optional time. */

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Milliseconds since 1970 of `now`, `now-90m`, an RFC 3339 time, a date, or a date and time in the browser's time zone.
 * Undefined for any other text.
 */
export function parseTime(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "now") return nowMs;
  const relative = /^now-(?<count>\d{1,6})(?<unit>[smhdw])$/.exec(trimmed)?.groups;
  if (relative !== undefined) return nowMs - Number(relative["count"]) * unitsMs[relative["unit"]!]!;
  if (!/^\d{4}-\d{2}-\d{2}/.test(trimmed)) return undefined;
  const date = /^\d{4}-\d{2}-\d{2}$/.test(trimmed) ? `${trimmed}T00:00` : trimmed.replace(" ", "T");
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * A range from free text: `15m`, `last 2 hours`, `2026-01-31 09:00 to 2026-01-31 10:00`, or a day. Undefined for text that
 * is none.
 */
export function parseRange(text: string): { from: string; to: string } | undefined {
  const trimmed = text.trim().toLowerCase();
  const span = /^(?:last )?(?<count>\d{1,6}) ?(?<unit>s|m|h|d|w)[a-z]*$/.exec(trimmed)?.groups;
  if (span !== undefined) return { from: `now-${span["count"]}${span["unit"]}`, to: "now" };
  const [start = "", end] = text.trim().split(/\s+(?:to|until|–|-)\s+/);
  const startMs = parseTime(start, Date.now());
  if (startMs === undefined) return undefined;
  const relative = start.startsWith("now") ? start : new Date(startMs).toISOString();
  if (end === undefined) {
    const wholeDay = /^\d{4}-\d{2}-\d{2}$/.test(start);
    return { from: relative, to: wholeDay ? new Date(startMs + unitsMs["d"]!).toISOString() : "now" };
  }
  const endMs = parseTime(end, Date.now());
  if (endMs === undefined || endMs <= startMs) return undefined;
  return { from: relative, to: end === "now" ? "now" : new Date(endMs).toISOString() };
}
