/** Arithmetic between constants of a query, which Tempo computes while it parses: `1 / 2` of integers is 0. */
import type { StaticValue } from "./ast.ts";

type Constant = Extract<StaticValue, { readonly type: "int" | "float" | "duration" }>;
export type FoldingOperator = "+" | "-" | "*" | "/";

/** The result, or the problem. Integers are those of 64 bits and wrap around. */
export function foldConstants(
  operator: FoldingOperator,
  left: Constant,
  right: Constant,
): Constant | { readonly problem: string } {
  if (left.type === "duration" || right.type === "duration") {
    return { problem: "duration cannot be used in scalar arithmetic" };
  }
  if (left.type === "int" && right.type === "int") {
    if (operator === "/" && right.value === 0n) return { problem: "division by zero" };
    return { type: "int", value: BigInt.asIntN(64, intArithmetic[operator](left.value, right.value)) };
  }
  return { type: "float", value: floatArithmetic[operator](Number(left.value), Number(right.value)) };
}

const intArithmetic: Readonly<Record<FoldingOperator, (left: bigint, right: bigint) => bigint>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};

const floatArithmetic: Readonly<Record<FoldingOperator, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};

export function negateConstant(value: Constant): Constant {
  switch (value.type) {
    case "int":
      return { type: "int", value: BigInt.asIntN(64, -value.value) };
    case "float":
      return { type: "float", value: -value.value };
    case "duration":
      return { type: "duration", nanoseconds: -value.nanoseconds };
  }
}
