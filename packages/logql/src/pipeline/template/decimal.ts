/** Decimal arithmetic without the errors of binary fractions: 0.1 + 0.2 is 0.3. */
import { TemplateProblem } from "./problem.ts";

interface Decimal {
  readonly digits: bigint;
  /** The power of ten of the last digit. */
  readonly exponent: number;
}

/** Digits behind the point of a quotient. */
const quotientDigits = 16;

export type DecimalOperation = "add" | "sub" | "mul" | "div";

export function combineDecimals(operation: DecimalOperation, values: readonly number[]): number {
  const [first, ...others] = values.map((value) => toDecimal(value));
  return toNumber(others.reduce((left, right) => operations[operation](left, right), first!));
}

function toDecimal(value: number): Decimal {
  if (!Number.isFinite(value)) throw new TemplateProblem(`Cannot create a Decimal from ${value}`);
  const [mantissa, exponent] = value.toExponential().split("e");
  const fraction = mantissa!.split(".")[1] ?? "";
  return { digits: BigInt(mantissa!.replace(".", "")), exponent: Number(exponent) - fraction.length };
}

function toNumber({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`);
}

/** The digits as multiples of a smaller power of ten. */
function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

function sum(left: Decimal, right: Decimal, sign: bigint): Decimal {
  const exponent = Math.min(left.exponent, right.exponent);
  return { digits: scaled(left, exponent) + sign * scaled(right, exponent), exponent };
}

const operations: Readonly<Record<DecimalOperation, (left: Decimal, right: Decimal) => Decimal>> = {
  add: (left, right) => sum(left, right, 1n),
  sub: (left, right) => sum(left, right, -1n),
  mul: (left, right) => ({ digits: left.digits * right.digits, exponent: left.exponent + right.exponent }),
  div(left, right) {
    if (right.digits === 0n) throw new TemplateProblem("decimal division by 0");
    const shift = left.exponent - right.exponent + quotientDigits;
    const numerator = left.digits * 10n ** BigInt(Math.max(0, shift));
    const denominator = right.digits * 10n ** BigInt(Math.max(0, -shift));
    const isNegative = numerator < 0n !== denominator < 0n;
    const [top, bottom] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
    // Halves are rounded away from zero.
    const quotient = (top * 2n + bottom) / (bottom * 2n);
    return { digits: isNegative ? -quotient : quotient, exponent: -quotientDigits };
  },
};
