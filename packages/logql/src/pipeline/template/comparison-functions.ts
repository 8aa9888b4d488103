/** `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `not`, `len`, `index` and `slice`. `and` and `or` are part of the evaluation. */
import { fixed, integerOf, variadic, type TemplateFunction } from "./function.ts";
import { TemplateProblem } from "./problem.ts";
import { DataMap, isList, isTrue, sizeOf, typeName, type Value } from "./values.ts";

const isBasic = (value: Value): boolean => value === null || typeof value !== "object";

function isEqual(left: Value, right: Value): boolean {
  if (!isBasic(left) || !isBasic(right)) throw new TemplateProblem(`non-comparable types for comparison`);
  if (left === null || right === null) return left === right;
  if (typeof left !== typeof right) throw new TemplateProblem("incompatible types for comparison");
  return left === right;
}

function isLess(left: Value, right: Value): boolean {
  if (typeof left !== typeof right) throw new TemplateProblem("incompatible types for comparison");
  if (typeof left === "boolean" || typeof left === "object") {
    throw new TemplateProblem("invalid type for comparison");
  }
  // Texts are compared by their bytes, as in Go.
  if (typeof left === "string") return Buffer.compare(Buffer.from(left), Buffer.from(right as string)) < 0;
  return left < (right as typeof left);
}

const comparison = (compare: (left: Value, right: Value) => boolean): TemplateFunction =>
  fixed(2, ([left, right]) => compare(left!, right!));

function element(value: Value, key: Value): Value {
  if (value instanceof DataMap) return typeof key === "string" ? (value.data.get(key) ?? "") : badKey(key);
  if (value instanceof Map) {
    return typeof key === "string" ? ((value as ReadonlyMap<string, Value>).get(key) ?? null) : badKey(key);
  }
  const size =
    value === null
      ? -1
      : typeof value === "string" || (typeof value === "object" && isList(value))
        ? sizeOf(value)
        : -1;
  if (size === -1) throw new TemplateProblem(`can't index item of type ${typeName(value)}`);
  const at = integerOf(key);
  if (at < 0 || at >= size) throw new TemplateProblem(`index out of range: ${at}`);
  return typeof value === "string" ? BigInt(Buffer.from(value)[at]!) : (value as readonly Value[])[at]!;
}

function badKey(key: Value): never {
  throw new TemplateProblem(`value has type ${typeName(key)}; should be string`);
}

function sliceOf(value: Value, bounds: readonly Value[]): Value {
  const isText = typeof value === "string";
  if (!isText && (value === null || typeof value !== "object" || !isList(value))) {
    throw new TemplateProblem(`can't slice item of type ${typeName(value)}`);
  }
  const size = sizeOf(value);
  const [from = 0, to = size] = bounds.map((bound) => integerOf(bound));
  if (from < 0 || to > size || from > to)
    throw new TemplateProblem(`index out of range: ${from < 0 || from > size ? from : to}`);
  return isText ? Buffer.from(value).subarray(from, to).toString() : value.slice(from, to);
}

export const comparisonFunctions: Readonly<Record<string, TemplateFunction>> = {
  // Evaluated without calling them, since they need not evaluate all operands.
  and: variadic(1, ([first]) => first!),
  or: variadic(1, ([first]) => first!),
  not: fixed(1, ([value]) => !isTrue(value!)),
  eq: variadic(2, ([first, ...others]) => others.some((one) => isEqual(first!, one))),
  ne: comparison((left, right) => !isEqual(left, right)),
  lt: comparison(isLess),
  le: comparison((left, right) => isLess(left, right) || isEqual(left, right)),
  gt: comparison((left, right) => !isLess(left, right) && !isEqual(left, right)),
  ge: comparison((left, right) => !isLess(left, right)),
  len: fixed(1, ([value]) => BigInt(sizeOf(value!))),
  index: variadic(1, ([value, ...keys]) => keys.reduce((one: Value, key) => element(one, key), value!)),
  slice: { ...variadic(1, ([value, ...bounds]) => sliceOf(value!, bounds)), most: 3 },
};
