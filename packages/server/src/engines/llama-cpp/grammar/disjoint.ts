/** Decides whether the branches of a `oneOf` exclude each other, so that no value matches two of them. */
import { isObject } from "../../../json-object.ts";
import type { JsonSchema, SchemaObject } from "./schema-node.ts";

/** The only values that a schema allows, as JSON text; undefined if they are not listed. */
function listedValues(schema: unknown): Set<string> | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { const: constant, enum: values } = schema as SchemaObject;
  if (constant !== undefined) return new Set([JSON.stringify(constant)]);
  return Array.isArray(values) ? new Set(values.map((value) => JSON.stringify(value))) : undefined;
}

/** The JSON types that a schema allows; undefined if it does not say. Integers count as numbers. */
function typesOf(schema: SchemaObject): Set<unknown> | undefined {
  if (schema["type"] !== undefined)
    return new Set([schema["type"]].flat().map((type) => (type === "integer" ? "number" : type)));
  const listed = listedValues(schema);
  if (listed === undefined) return undefined;
  return new Set([...listed].map((text) => jsonType(JSON.parse(text))));
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function disjoint<T>(one: ReadonlySet<T> | undefined, other: ReadonlySet<T> | undefined): boolean {
  return one !== undefined && other !== undefined && [...one].every((item) => !other.has(item));
}

/** Whether both are objects with a required property whose listed values differ. */
function discriminated(one: SchemaObject, other: SchemaObject): boolean {
  const requiredOf = (schema: SchemaObject): unknown[] => (Array.isArray(schema["required"]) ? schema["required"] : []);
  const propertyOf = (schema: SchemaObject, name: string): unknown =>
    (schema["properties"] as Record<string, unknown> | undefined)?.[name];
  return requiredOf(one).some(
    (name) =>
      typeof name === "string" &&
      requiredOf(other).includes(name) &&
      disjoint(listedValues(propertyOf(one, name)), listedValues(propertyOf(other, name))),
  );
}

function exclude(one: JsonSchema, other: JsonSchema): boolean {
  if (typeof one === "boolean" || typeof other === "boolean") return false;
  // Branches are unchecked input; an invalid one is refused when it is compiled.
  if (!isObject(one) || !isObject(other)) return true;
  return (
    disjoint(typesOf(one), typesOf(other)) ||
    disjoint(listedValues(one), listedValues(other)) ||
    (typesOf(one)?.size === 1 &&
      typesOf(one)?.has("object") === true &&
      typesOf(other)?.has("object") === true &&
      discriminated(one, other))
  );
}

export function areDisjoint(schemas: readonly JsonSchema[]): boolean {
  return schemas.every((one, index) => schemas.slice(index + 1).every((other) => exclude(one, other)));
}
