/** Converts attribute values from the store's columns to TraceQL's values. */
import type { StaticValue } from "@sounding/traceql/syntax/ast";
import { attributeKinds } from "../../../store/attribute-kinds.ts";
import { toAnyValue, toPlainText, type AnyValue } from "../../attribute-values.ts";

const nil: StaticValue = { type: "nil" };

/** @param kind a letter of `attributeKinds` */
export function toStaticValue(text: string, kind: string): StaticValue {
  if (kind === attributeKinds.string) return { type: "string", value: text };
  if (kind === attributeKinds.double) return { type: "float", value: Number(text) };
  return fromAnyValue(toAnyValue(text, kind));
}

/** Nil for an empty value. Maps and lists of several types are JSON, bytes are base64. */
export function fromAnyValue(value: AnyValue): StaticValue {
  const { arrayValue, boolValue, bytesValue, doubleValue, intValue, kvlistValue, stringValue } = value;
  if (stringValue !== undefined) return { type: "string", value: stringValue };
  if (intValue !== undefined) return { type: "int", value: BigInt(intValue) };
  if (doubleValue !== undefined) return { type: "float", value: Number(doubleValue) };
  if (boolValue !== undefined) return { type: "boolean", value: boolValue };
  if (bytesValue !== undefined) return { type: "string", value: bytesValue };
  if (arrayValue !== undefined) return arrayOf(value);
  return kvlistValue === undefined ? nil : { type: "string", value: toPlainText(value) };
}

const itemTypes: ReadonlySet<StaticValue["type"]> = new Set(["string", "int", "float", "boolean"]);

function arrayOf(value: AnyValue): StaticValue {
  const items = value.arrayValue?.values ?? [];
  const hasNested = items.some((item) => (item.arrayValue ?? item.kvlistValue ?? item.bytesValue) !== undefined);
  const values = hasNested ? [] : items.map(fromAnyValue);
  const type = values[0]?.type ?? "string";
  const isUniform = !hasNested && itemTypes.has(type) && values.every((item) => item.type === type);
  return isUniform ? { type: "array", values } : { type: "string", value: toPlainText(value) };
}
