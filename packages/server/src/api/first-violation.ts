/**
 * Finds the first place where a value violates a schema and explains it in one sentence: the field, the value and what
 * is allowed. The search stops there, so a huge invalid value costs no more than the check that refused it.
 */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { describeSchema } from "./describe-schema.ts";
import { previewJson } from "./json-preview.ts";
import { isObject } from "../json-object.ts";

/** One violation of a schema. */
export interface Violation {
  /** The field as a caller writes it, for example `messages[0].role`; empty for the value itself. */
  readonly param: string;
  readonly message: string;
}

interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A value that violates its schema, with its position in the whole value. */
interface Subject {
  readonly schema: JsonSchema;
  readonly value: unknown;
  /** As in `param`. */
  readonly path: string;
  /** How a message names the value with the empty path. */
  readonly whole: string;
}

const validators = new WeakMap<object, Validator>();

/** Whether the value satisfies the schema. The compiled check takes a fraction of a microsecond for a small value. */
export function check(schema: JsonSchema, value: unknown): boolean {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  return validator.Check(value);
}

/** @param value known to violate the schema */
export function firstViolation(json: TSchema, value: unknown, whole = "The body"): Violation {
  return find({ schema: json, value, path: "", whole });
}

function find(subject: Subject): Violation {
  const { schema, value } = subject;
  if (schema.anyOf !== undefined) return inUnion(subject);
  if (Array.isArray(value) && schema.type === "array") return inList(subject, value);
  if (isObject(value) && schema.type === "object") return inObject(subject, value);
  return mismatch(subject);
}

function mismatch({ schema, value, path, whole }: Subject): Violation {
  return { param: path, message: `${path || whole} is ${showValue(value)}; expected ${describeSchema(schema)}.` };
}

/**
 * The violation of the branch that the caller intended, if that is certain; otherwise reports that no branch matches.
 */
function inUnion(subject: Subject): Violation {
  const { schema, value, path, whole } = subject;
  const meant = branchesOf(schema).filter((branch) => isMeant(branch, value));
  const tagged = meant.filter((branch) => tagsOf(branch).length > 0);
  const [only, ...others] = tagged.length > 0 ? tagged : meant;
  if (only !== undefined && others.length === 0) return find({ ...subject, schema: only });
  return { param: path, message: `${path || whole} is ${showValue(value)}; expected ${unionInWords(schema, value)}.` };
}

function inList(subject: Subject, list: readonly unknown[]): Violation {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = subject.schema;
  if (items === undefined || list.length < minItems || list.length > maxItems) return mismatch(subject);
  const index = list.findIndex((item) => !check(items, item));
  if (index === -1) return mismatch(subject);
  return find({ ...subject, schema: items, value: list[index], path: join(subject.path, String(index)) });
}

function inObject(subject: Subject, object: Readonly<Record<string, unknown>>): Violation {
  const { path } = subject;
  const { additionalProperties, patternProperties = {}, properties = {}, required = [] } = subject.schema;
  // A member that says what the object is comes first: what else it needs depends on that.
  const tag = tagsOf(subject.schema).find(([name, value]) => Object.hasOwn(object, name) && object[name] !== value);
  if (tag !== undefined) {
    const [name] = tag;
    return mismatch({ ...subject, schema: properties[name]!, value: object[name], path: join(path, name) });
  }
  const missing = required.find((name) => !Object.hasOwn(object, name) || object[name] === undefined);
  if (missing !== undefined) {
    const param = join(path, missing);
    return { param, message: `${param} is missing; expected ${describeSchema(properties[missing])}.` };
  }
  const patterns = Object.entries(patternProperties).map(
    ([pattern, schema]) => [new RegExp(pattern, "u"), schema] as const,
  );
  for (const name in object) {
    const known = Object.hasOwn(properties, name);
    const schemas = [
      ...(known ? [properties[name]!] : []),
      ...patterns.filter(([pattern]) => pattern.test(name)).map(([, schema]) => schema),
    ];
    if (schemas.length === 0 && additionalProperties === false) {
      const param = join(path, name);
      const names = Object.keys(properties).join(", ") || "none";
      return { param, message: `${param} is not a known field; known are ${names}.` };
    }
    if (schemas.length === 0 && typeof additionalProperties === "object") schemas.push(additionalProperties);
    const broken = schemas.find((schema) => !check(schema, object[name]));
    if (broken !== undefined) {
      return find({ ...subject, schema: broken, value: object[name], path: join(path, name) });
    }
  }
  return mismatch(subject);
}

function branchesOf(union: JsonSchema): JsonSchema[] {
  return (union.anyOf ?? []).flatMap((branch) => (branch.anyOf === undefined ? [branch] : branchesOf(branch)));
}

/** Whether a value of this kind belongs to this branch, even if its details are wrong. */
function isMeant(branch: JsonSchema, value: unknown): boolean {
  if (branch.const !== undefined || branch.enum !== undefined) return false;
  switch (branch.type) {
    case "object":
      return isObject(value) && tagsOf(branch).every(([name, tag]) => value[name] === tag);
    case "array":
      return Array.isArray(value);
    case "integer":
    case "number":
      return typeof value === "number";
    default:
      return typeof value === branch.type;
  }
}

/** The members that distinguish an object schema from the other branches, such as `type`. */
function tagsOf(branch: JsonSchema): [name: string, tag: unknown][] {
  return Object.entries(branch.properties ?? {}).flatMap(([name, property]) =>
    property.const === undefined ? [] : [[name, property.const]],
  );
}

function unionInWords(union: JsonSchema, value: unknown): string {
  const tags = branchesOf(union).flatMap(tagsOf);
  if (!isObject(value) || tags[0] === undefined) return describeSchema(union);
  const [name] = tags[0];
  return `its "${name}" to be one of ${tags
    .filter(([other]) => other === name)
    .map(([, tag]) => JSON.stringify(tag))
    .join(", ")}`;
}

/** A value as shown in a message: JSON, cut to 100 characters. */
export function showValue(value: unknown): string {
  const text = value === undefined ? "absent" : previewJson(value, 100);
  return text.length <= 100 ? text : `${text.slice(0, 97).toWellFormed()}…`;
}

/** Longest field name in a message, because callers choose the names of unknown fields. */
const longestShownName = 100;

function join(path: string, segment: string): string {
  if (/^\d{1,10}$/.test(segment)) return `${path}[${segment}]`;
  const name =
    segment.length > longestShownName ? `${segment.slice(0, longestShownName - 1).toWellFormed()}…` : segment;
  return path === "" ? name : `${path}.${name}`;
}
