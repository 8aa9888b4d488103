/**
 * Numbers in queries, and numbers as Go prints them: Prometheus shows Go's shortest form everywhere.
 * https://pkg.go.dev/strconv#FormatFloat
 */

/** A number literal's value: decimal, hexadecimal (0x), octal (0 or 0o) and binary (0b) integers, floats, Inf and NaN. */
export function parseNumber(text: string): number | undefined {
  const lowered = text.toLowerCase();
  const plain = lowered.replaceAll("_", "");
  const sign = plain.startsWith("-") ? -1 : 1;
  const digits = plain.replace(/^[+-]/, "");
  if (digits === "inf" || digits === "infinity") return sign * Infinity;
  if (digits === "nan") return Number.NaN;
  if (/^0x[\da-f]+$|^0b[01]+$|^0o[0-7]+$/.test(digits)) return sign * Number(digits);
  if (/^0[0-7]+$/.test(digits)) return sign * Number.parseInt(digits, 8);
  if (!/^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/.test(digits)) return undefined;
  return sign * Number(digits);
}

/** Go's `strconv.FormatFloat(value, 'f', -1, 64)`: the shortest decimal form that reads back, never an exponent. */
export function formatPlain(value: number): string {
  const special = formatSpecial(value);
  if (special !== undefined) return special;
  const { sign, digits, exponent } = decimalDigits(value);
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  if (exponent + 1 >= digits.length) return `${sign}${digits}${"0".repeat(exponent + 1 - digits.length)}`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/** Go's `%g`: the shortest form that reads back, with an exponent below 1e-4 and from 1e6 on. */
export function formatGeneral(value: number): string {
  const special = formatSpecial(value);
  if (special !== undefined) return special;
  const { sign, digits, exponent } = decimalDigits(value);
  if (exponent >= -4 && exponent < 6) return formatPlain(value);
  return `${sign}${scientific(digits, exponent)}`;
}

/** A sample's value as Prometheus' HTTP API writes it: plain, but with an exponent below 1e-6 and from 1e21 on. */
export function formatSampleValue(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || !Number.isFinite(value) || (magnitude >= 1e-6 && magnitude < 1e21)) return formatPlain(value);
  const { sign, digits, exponent } = decimalDigits(value);
  return `${sign}${scientific(digits, exponent)}`;
}

function formatSpecial(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  return undefined;
}

/** The shortest digits that read back, and the power of ten of the first one. */
function decimalDigits(value: number): { sign: string; digits: string; exponent: number } {
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
  return { sign: value < 0 ? "-" : "", digits: mantissa!.replace(".", ""), exponent: Number(exponent) };
}

function scientific(digits: string, exponent: number): string {
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  const magnitude = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${magnitude}`;
}
