/** Writes numbers the same way in all commands. */

/** A whole number with separators: `1,234,567`. */
export function formatCount(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** A short number for narrow columns: `987`, `12.3k`, `4.56M`. */
export function formatShort(value: number): string {
  const size = Math.abs(value);
  if (size < 999.5) return String(Number(value.toPrecision(3)));
  const units = [
    [1e3, "k"],
    [1e6, "M"],
    [1e9, "G"],
    [1e12, "T"],
  ] as const;
  // The next unit where rounding would show `1000k`.
  const [factor, unit] = units.findLast(([each]) => size >= each * 0.9995) ?? units[0];
  return `${Number((value / factor).toPrecision(3))}${unit}`;
}

/** An amount of money without its currency, which the server does not know: `0.0042`, `12.35`. */
export function formatMoney(value: number): string {
  if (value > 0 && value < 0.000_05) return "<0.0001";
  return value.toFixed(Math.abs(value) < 1 ? 4 : 2);
}

/** A number with few digits: 1234567 is 1234567, 0.33333 is 0.3333. */
export function formatNumber(text: string): string {
  const value = Number(text);
  if (!Number.isFinite(value) || Number.isInteger(value)) return text;
  return String(Number(value.toPrecision(Math.abs(value) >= 1000 ? 8 : 4)));
}
