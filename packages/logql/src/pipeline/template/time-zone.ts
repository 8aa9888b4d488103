/** Offsets and abbreviations of time zones, from the runtime's database. */

const formatters = new Map<string, Intl.DateTimeFormat | null>();
const mostFormatters = 256;

function formatterOf(zone: string): Intl.DateTimeFormat | null {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    try {
      formatter = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    } catch {
      formatter = null;
    }
    if (formatters.size >= mostFormatters) formatters.clear();
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** A zone's IANA name, or "UTC" for a zone that does not exist; the server's own zone does not matter. */
export function zoneNamed(name: string): string {
  if (name === "" || name === "UTC" || name === "Local") return "UTC";
  return formatterOf(name) === null || !/^[A-Za-z]/.test(name) ? "UTC" : name;
}

/** Milliseconds that Date can hold. */
const largestDateMs = 8.64e15;

/** How far a zone is ahead of UTC at a time. */
export function offsetSecondsAt(zone: string, unixSeconds: number): number {
  if (zone === "UTC" || Math.abs(unixSeconds) * 1000 > largestDateMs) return 0;
  const name = partOf(formatterOf(zone), unixSeconds);
  const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name);
  if (match === null) return 0;
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === "-" ? -seconds : seconds;
}

/** `CET` or `EST`; the offset where the zone has no abbreviation. */
export function abbreviationAt(zone: string, unixSeconds: number): string {
  if (zone === "UTC") return "UTC";
  for (const locale of ["en-US", "en-GB", "en-AU"]) {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: "short" });
    const name = partOf(formatter, unixSeconds);
    if (name !== "" && !/^(?:GMT|UTC)[+-]/.test(name)) return name;
  }
  return formatOffset(offsetSecondsAt(zone, unixSeconds), "-07");
}

function partOf(formatter: Intl.DateTimeFormat | null, unixSeconds: number): string {
  const parts = formatter?.formatToParts(new Date(unixSeconds * 1000)) ?? [];
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** An offset as the layouts `-07`, `-0700`, `-07:00` and those with seconds write it. */
export function formatOffset(offsetSeconds: number, layout: string): string {
  const two = (number: number): string => String(Math.trunc(number)).padStart(2, "0");
  const size = Math.abs(offsetSeconds);
  const colon = layout.includes(":") ? ":" : "";
  let text = (offsetSeconds < 0 ? "-" : "+") + two(size / 3600);
  if (layout.length > 3) text += colon + two((size % 3600) / 60);
  if (layout.length > 6) text += colon + two(size % 60);
  return text;
}
