/** Builds grammars of the numbers between two integers, digit by digit. */
import { byteRange, choice, literal, nothing, optional, repeat, sequence, type Grammar } from "./grammar.ts";
import { digit, fraction, maximumDigits } from "./json-text.ts";

const zero = 0x30;
const digits = (low: number, high: number): Grammar => byteRange(zero + low, zero + high);
const anyDigits = (count: number): Grammar => repeat(digit, count, count);

/** Digit strings of the same length that are at least `text`. */
function atLeast(text: string): Grammar {
  if (text === "") return nothing;
  const first = Number(text[0]);
  const same = sequence(digits(first, first), atLeast(text.slice(1)));
  return first === 9 ? same : choice(same, sequence(digits(first + 1, 9), anyDigits(text.length - 1)));
}

/** Digit strings of the same length that are at most `text`. */
function atMost(text: string): Grammar {
  if (text === "") return nothing;
  const first = Number(text[0]);
  const same = sequence(digits(first, first), atMost(text.slice(1)));
  return first === 0 ? same : choice(same, sequence(digits(0, first - 1), anyDigits(text.length - 1)));
}

/** Digit strings of one length from `low` to `high`. */
function between(low: string, high: string): Grammar {
  if (low === "") return nothing;
  const [from, to] = [Number(low[0]), Number(high[0])];
  if (from === to) return sequence(digits(from, from), between(low.slice(1), high.slice(1)));
  const alternatives = [
    sequence(digits(from, from), atLeast(low.slice(1))),
    sequence(digits(to, to), atMost(high.slice(1))),
  ];
  if (to - from > 1) alternatives.push(sequence(digits(from + 1, to - 1), anyDigits(low.length - 1)));
  return choice(...alternatives);
}

/** Whole numbers from `low` to `high`, both at least 0; no grammar if there is none. */
function magnitudes(low: number, high: number): Grammar[] {
  const largest = Math.min(high, 10 ** maximumDigits - 1);
  const alternatives: Grammar[] = [];
  for (let length = 1; length <= maximumDigits; length++) {
    const from = Math.max(low, length === 1 ? 0 : 10 ** (length - 1));
    const to = Math.min(largest, 10 ** length - 1);
    if (from <= to) alternatives.push(between(String(from), String(to)));
  }
  return alternatives;
}

function signed(low: number, high: number, ofMagnitude: (low: number, high: number) => Grammar[]): Grammar {
  const positive = high >= 0 ? ofMagnitude(Math.max(0, low), high) : [];
  const negative = low < 0 ? ofMagnitude(Math.max(0, -high), -low) : [];
  return choice(...positive, ...negative.map((each) => sequence(literal("-"), each)));
}

/** The integers from `low` to `high` (±Infinity for no bound). */
export function integersBetween(low: number, high: number): Grammar {
  return signed(low, high, magnitudes);
}

/** The decimal numbers from `low` to `high`, which are whole or ±Infinity. */
export function numbersBetween(low: number, high: number): Grammar {
  const zeros = optional(sequence(literal("."), repeat(literal("0"), 1, maximumDigits)));
  return signed(low, high, (from, to) => [
    ...magnitudes(from, to - 1).map((whole) => sequence(whole, fraction)),
    ...(to === Infinity ? [] : magnitudes(to, to).map((whole) => sequence(whole, zeros))),
  ]);
}
