/** Writes a metric's values with the unit that the server names for it. */
import { formatMoney, formatNumber, formatShort } from "../terminal/numbers.ts";
import { formatDuration } from "../terminal/times.ts";

/** A value for people, by the metric's unit; without one, the number. */
export function formatValue(value: number, unit: string): string {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "Inf");
  if (unit === "seconds" && value === 0) return "0 s";
  if (unit === "seconds") return formatDuration(value * 1000);
  if (unit.startsWith("share")) return `${formatNumber(String(Number((value * 100).toPrecision(3))))} %`;
  if (unit.includes("currency")) return formatMoney(value);
  if (Math.abs(value) < 1000) return formatNumber(String(value));
  return formatShort(value);
}
