/**
 * A setting's schema as plain JSON Schema, and a description of what it allows, for messages and
 * docs/reference/configuration/.
 */
import type { SettingLimit } from "../input-limits.ts";
import { formatChoice } from "./problem.ts";
import { httpUrl, sendableKey } from "./setting-patterns.ts";

/** The keywords of JSON Schema that settings use; every TypeBox value has them as plain members. */
export interface SettingSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SettingSchema[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[] | undefined;
  readonly patternProperties?: Readonly<Record<string, SettingSchema>>;
  readonly minProperties?: number;
  readonly propertyNames?: SettingSchema;
  readonly additionalProperties?: boolean | SettingSchema;
  readonly items?: SettingSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  /** Name of the environment variable, if it is not derived from the path. */
  readonly env?: string;
  /** A second name of the environment variable. */
  readonly envAlias?: string;
  /** The default in words, if it depends on the environment; then there is no `default`. */
  readonly describedDefault?: string;
  /** Set if the setting limits input. */
  readonly inputLimit?: SettingLimit["inputLimit"];
}

function range(noun: string, smallest: number | undefined, largest: number | undefined): string {
  const upper = largest === Number.MAX_SAFE_INTEGER ? undefined : largest;
  if (smallest !== undefined && upper !== undefined) return `${noun} from ${smallest} to ${upper}`;
  if (smallest !== undefined) return `${noun} of at least ${smallest}`;
  return upper === undefined ? noun : `${noun} of at most ${upper}`;
}

function list({ maxItems, minItems }: SettingSchema): string {
  if (maxItems === undefined) return "a list";
  return (minItems ?? 0) === 0 ? `a list of at most ${maxItems}` : `a list of ${minItems} to ${maxItems}`;
}

/** Patterns that are clearer in words. */
const patternWords: ReadonlyMap<string, string> = new Map([
  [httpUrl, "an address such as https://host:port/path"],
  [sendableKey, "text of printable ASCII characters without spaces"],
]);

/** Describes what a schema allows: `an integer from 0 to 65535`. */
export function describeAllowed(schema: SettingSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return formatChoice(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf !== undefined) return formatChoice([...new Set(schema.anyOf.map(describeAllowed))]);
  switch (schema.type) {
    case "boolean":
      return "true or false";
    case "integer":
      return range("an integer", schema.minimum, schema.maximum);
    case "number":
      return range("a number", schema.minimum, schema.maximum);
    case "string":
      if (schema.pattern !== undefined)
        return patternWords.get(schema.pattern) ?? `text that matches \`${schema.pattern}\``;
      if (schema.maxLength !== undefined) return range("text with a length", schema.minLength ?? 0, schema.maxLength);
      return (schema.minLength ?? 0) > 0 ? "non-empty text" : "text";
    case "array":
      return schema.items === undefined ? "a list" : `${list(schema)}, each item ${describeAllowed(schema.items)}`;
    case "object":
      return "a map of names to values";
    case "null":
      return "null";
    default:
      return "a value";
  }
}

/** For a map with arbitrary names: the schema of a value, and the pattern of a name. */
export function entrySchema(schema: SettingSchema): { entry: SettingSchema; names: string } | undefined {
  const [anyName, entry] = Object.entries(schema.patternProperties ?? {})[0] ?? [];
  if (anyName === undefined || entry === undefined) return undefined;
  return { entry, names: schema.propertyNames?.pattern ?? anyName };
}

/** The members of a union that is discriminated by `type`; undefined for anything else. */
export function typedMembers(schema: SettingSchema): ReadonlyMap<string, SettingSchema> | undefined {
  if (schema.anyOf === undefined) return undefined;
  const members = new Map<string, SettingSchema>();
  for (const member of schema.anyOf) {
    const nested = typedMembers(member);
    const type = member.properties?.["type"];
    const names = type?.const === undefined ? (type?.enum ?? type?.anyOf?.map((each) => each.const)) : [type.const];
    if (nested === undefined && names === undefined) return undefined;
    for (const [name, inner] of nested ?? []) members.set(name, inner);
    for (const name of names ?? []) members.set(String(name), member);
  }
  return members;
}

/** The environment variables of the setting at this path, the documented one first: its own, if it has one, and the rule's. */
export function environmentNames(
  path: readonly string[],
  { env, envAlias }: SettingSchema,
): readonly [string, ...string[]] {
  const byRule = `SOUNDING_${path.join("_").toUpperCase()}`;
  const others = [envAlias, byRule].filter((name) => name !== undefined && name !== env);
  return env === undefined ? [byRule, ...(envAlias === undefined ? [] : [envAlias])] : [env, ...(others as string[])];
}

/**
 * Converts text from the environment to the type that the schema requires; returns the text unchanged if that is
 * impossible.
 */
export function readText(text: string, schema: SettingSchema): unknown {
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((member) => readText(text, member)).find((value) => value !== text) ?? text;
  }
  if (schema.type === "integer" || schema.type === "number") {
    return /^\s*-?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : text;
  }
  if (schema.type === "boolean") return { true: true, false: false }[text.trim().toLowerCase()] ?? text;
  if (schema.type === "array") {
    const { items } = schema;
    return text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "")
      .map((item) => (items === undefined ? item : readText(item, items)));
  }
  return text;
}
