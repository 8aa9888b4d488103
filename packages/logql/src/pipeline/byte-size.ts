/** Sizes such as `1.5MB` and `20 KiB`, as Loki reads them: decimal units, and binary ones with an `i`. */
import { refuseLong, type Conversion } from "./conversion.ts";
import { parseGoFloat } from "./go-number.ts";

const unitBytes = new Map<string, number>([
  ["", 1],
  ["b", 1],
]);
for (const [index, letter] of ["k", "m", "g", "t", "p", "e"].entries()) {
  for (const [unit, factor] of [
    [letter, 1000],
    [`${letter}i`, 1024],
  ] as const) {
    unitBytes.set(unit, factor ** (index + 1));
    unitBytes.set(`${unit}b`, factor ** (index + 1));
  }
}

/** A size in bytes, or the reason why the text is none. */
export function parseByteSize(text: string): Conversion {
  const refusal = refuseLong(text);
  if (refusal !== undefined) return refusal;
  const digits = /^[\d.,]*/.exec(text)![0];
  const number = parseGoFloat(digits.replaceAll(",", ""));
  if (number.problem !== undefined) return number;
  const unit = text.slice(digits.length).trim().toLowerCase();
  const factor = unitBytes.get(unit);
  if (factor === undefined) return { problem: `unhandled size name: ${unit}` };
  const bytes = number.value * factor;
  return bytes >= 2 ** 64 ? { problem: `too large: ${text}` } : { value: Math.trunc(bytes) };
}
