/** Arithmetic: on integers of 64 bits, or with `f` at the end of the name on decimal fractions. */
import { parseGoFloat } from "../go-number.ts";
import { combineDecimals, type DecimalOperation } from "./decimal.ts";
import { fixed, integerOf, variadic, type TemplateFunction } from "./function.ts";
import { TemplateProblem } from "./problem.ts";
import type { Value } from "./values.ts";

/** What is no number counts as 0. */
function toInteger(value: Value): bigint {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      return Number.isFinite(value) && Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : -(2n ** 63n);
    case "boolean":
      return value ? 1n : 0n;
    case "string":
      return readInteger(value);
    default:
      return 0n;
  }
}

const integerText = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|\d+)$/;
const longestInteger = 80;

function readInteger(text: string): bigint {
  const decimal = /^([-+]?\d*)\.\d*$/.exec(text);
  const match = integerText.exec((decimal?.[1] ?? text).replaceAll(/(?<=[\da-fA-FxXbBoO])_(?=[\da-fA-F])/g, ""));
  if (match === null || match[2]!.length > longestInteger) return 0n;
  const digits = /^0[0-7]+$/.test(match[2]!) ? `0o${match[2]!.slice(1)}` : match[2]!;
  const value = BigInt(digits) * (match[1] === "-" ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : 0n;
}

function toFloat(value: Value): number {
  switch (typeof value) {
    case "number":
      return value;
    case "bigint":
      return Number(value);
    case "boolean":
      return value ? 1 : 0;
    case "string":
      return parseGoFloat(value).value ?? 0;
    default:
      return 0;
  }
}

const wrap = (value: bigint): bigint => BigInt.asIntN(64, value);

/** Combines all operands from left to right. */
const onIntegers = (least: number, combine: (left: bigint, right: bigint) => bigint): TemplateFunction =>
  variadic(least, ([first, ...others]) =>
    others.reduce((left: bigint, right) => wrap(combine(left, toInteger(right))), toInteger(first ?? 0n)),
  );

const onTwoIntegers = (combine: (left: bigint, right: bigint) => bigint): TemplateFunction =>
  fixed(2, ([left, right]) => wrap(combine(toInteger(left!), toInteger(right!))));

const onDecimals = (operation: DecimalOperation): TemplateFunction =>
  variadic(operation === "add" ? 0 : 1, (values, { spend }) => {
    spend(values.length * 100);
    return values.length === 0
      ? 0
      : combineDecimals(
          operation,
          values.map((value) => toFloat(value)),
        );
  });

const choosing = (choose: (left: number, right: number) => number): TemplateFunction =>
  variadic(1, ([first, ...others]) =>
    others.reduce((left: number, right) => choose(left, toFloat(right)), toFloat(first!)),
  );

function notZero(divisor: bigint): bigint {
  if (divisor === 0n) throw new TemplateProblem("runtime error: integer divide by zero");
  return divisor;
}

function round(value: number, places: number, roundOn: number): number {
  const power = 10 ** places;
  const shifted = power * value;
  return (shifted - Math.trunc(shifted) >= roundOn ? Math.ceil(shifted) : Math.floor(shifted)) / power;
}

export const numberFunctions: Readonly<Record<string, TemplateFunction>> = {
  int: fixed(1, ([value]) => toInteger(value!)),
  float64: fixed(1, ([value]) => toFloat(value!)),
  add: onIntegers(0, (left, right) => left + right),
  sub: onTwoIntegers((left, right) => left - right),
  mul: onIntegers(1, (left, right) => left * right),
  div: onTwoIntegers((left, right) => left / notZero(right)),
  mod: onTwoIntegers((left, right) => left % notZero(right)),
  max: onIntegers(1, (left, right) => (right > left ? right : left)),
  min: onIntegers(1, (left, right) => (right < left ? right : left)),
  addf: onDecimals("add"),
  subf: onDecimals("sub"),
  mulf: onDecimals("mul"),
  divf: onDecimals("div"),
  maxf: choosing((left, right) => Math.max(left, right)),
  minf: choosing((left, right) => Math.min(left, right)),
  ceil: fixed(1, ([value]) => Math.ceil(toFloat(value!))),
  floor: fixed(1, ([value]) => Math.floor(toFloat(value!))),
  round: {
    ...variadic(2, ([value, places, roundOn]) => round(toFloat(value!), integerOf(places), toFloat(roundOn ?? 0.5))),
    most: 3,
  },
};
