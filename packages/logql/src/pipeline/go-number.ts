/** Numbers as Go's strconv.ParseFloat reads them. https://pkg.go.dev/strconv#ParseFloat */
import { refuseLong, type Conversion } from "./conversion.ts";

const decimal = /^[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?$/;
const hexadecimal = /^([+-]?)0[xX]([\da-fA-F_]*)(?:\.([\da-fA-F_]*))?[pP]([+-]?\d[\d_]*)$/;

/** A number, or the reason why the text is none, in Go's words. */
export function parseGoFloat(text: string): Conversion {
  // What most labels are.
  if (/^-?\d{1,15}$/.test(text)) return { value: Number(text) };
  const refusal = refuseLong(text);
  if (refusal !== undefined) return refusal;
  const value = toNumber(text);
  if (value === undefined) return { problem: `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax` };
  if (!Number.isFinite(value) && /\d/.test(text)) {
    return { problem: `strconv.ParseFloat: parsing ${JSON.stringify(text)}: value out of range` };
  }
  return { value };
}

function toNumber(text: string): number | undefined {
  if (decimal.test(text)) {
    return text.includes("_") ? withoutUnderscores(text, Number) : Number(text);
  }
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]!.toLowerCase() === "nan") return special[1] === "" ? Number.NaN : undefined;
    return special[1] === "-" ? -Infinity : Infinity;
  }
  const hex = hexadecimal.exec(text);
  return hex === null ? undefined : hexNumber(text, hex);
}

/** Underscores separate digits. */
function withoutUnderscores(text: string, read: (plain: string) => number): number | undefined {
  return /(?<!\d)_|_(?!\d)/.test(text) ? undefined : read(text.replaceAll("_", ""));
}

function hexNumber(text: string, [, sign, whole, fraction = "", exponent]: RegExpExecArray): number | undefined {
  // One underscore may follow the prefix.
  if (/(?<![\da-fA-FxX])_|_(?![\da-fA-F])/.test(text)) return undefined;
  const digits = (whole! + fraction).replaceAll("_", "");
  if (digits === "") return undefined;
  const scale = Number(exponent!.replaceAll("_", "")) - 4 * fraction.replaceAll("_", "").length;
  let bits = 0n;
  for (let at = 0; at < Math.min(digits.length, 64); at += 8) {
    const part = digits.slice(at, at + 8);
    bits = (bits << BigInt(part.length * 4)) | BigInt(`0x${part}`);
  }
  const dropped = Math.max(0, digits.length - 64) * 4;
  const value = Number(bits) * 2 ** Math.max(-1000, scale + dropped) * 2 ** Math.min(0, scale + dropped + 1000);
  return sign === "-" ? -value : value;
}
