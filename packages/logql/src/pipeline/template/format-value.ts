/** Values as Go's fmt package prints them. https://pkg.go.dev/fmt */
import { goTimeText } from "./date-format.ts";
import { DataMap, GoTime, isList, membersOf, type Value } from "./values.ts";

/** `%v` */
export function formatValue(value: Value): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return formatFloat(value, "g", -1);
    case "boolean":
    case "bigint":
      return String(value);
    default:
      if (value === null) return "<nil>";
      if (value instanceof GoTime) return goTimeText(value);
      if (isList(value)) return `[${value.map((one) => formatValue(one)).join(" ")}]`;
      return `map[${membersOf(value as DataMap)
        .map(([name, one]) => `${name}:${formatValue(one)}`)
        .join(" ")}]`;
  }
}

/** What an action writes. */
export function printValue(value: Value): string {
  return value === null ? "<no value>" : formatValue(value);
}

/** `print`: spaces only between operands that are no texts. */
export function printAll(values: readonly Value[]): string {
  let text = "";
  for (const [index, value] of values.entries()) {
    if (index > 0 && typeof value !== "string" && typeof values[index - 1] !== "string") text += " ";
    text += formatValue(value);
  }
  return text;
}

/**
 * `%e`, `%f` and `%g`.
 * @param precision -1: as many digits as the number needs
 */
export function formatFloat(value: number, verb: "e" | "f" | "g", precision: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const magnitude = Math.abs(value);
  const digits = Math.min(precision, 100);
  if (verb === "f") return sign + (precision < 0 ? plain(magnitude) : fixed(magnitude, digits));
  if (verb === "e")
    return sign + scientific(precision < 0 ? magnitude.toExponential() : magnitude.toExponential(digits));
  const significant = precision < 0 ? magnitude.toExponential() : magnitude.toExponential(Math.max(0, digits - 1));
  const exponent = Number(significant.slice(significant.indexOf("e") + 1));
  const limit = precision < 0 ? 6 : Math.max(precision, 1);
  if (exponent < -4 || exponent >= limit) {
    // Trailing zeros are dropped.
    return sign + scientific(Number(significant).toExponential());
  }
  return sign + plain(Number(significant));
}

/** `toFixed` writes numbers from 1e21 on with an exponent. */
function fixed(magnitude: number, digits: number): string {
  if (magnitude < 1e21) return magnitude.toFixed(digits);
  return BigInt(magnitude).toString() + (digits > 0 ? `.${"0".repeat(digits)}` : "");
}

/** The shortest decimal form without an exponent. */
function plain(magnitude: number): string {
  const [mantissa, exponent] = magnitude.toExponential().split("e");
  const digits = mantissa!.replace(".", "");
  const point = Number(exponent) + 1;
  if (point <= 0) return magnitude === 0 ? "0" : `0.${"0".repeat(-point)}${digits}`;
  return digits.length <= point ? digits.padEnd(point, "0") : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Exponents have at least two digits. */
function scientific(text: string): string {
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}
