/**
 * Checks a value against a schema and says what is wrong in a sentence: the field, the value seen, what is allowed.
 * The check is TypeBox's compiled one (a fraction of a microsecond); the sentence is made only after a failure.
 */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { AppError } from "../errors.ts";
import { describeSchema } from "./describe-schema.ts";
import type { Schema } from "./schema.ts";

const validators = new WeakMap<TSchema, Validator>();

function validatorOf(json: TSchema): Validator {
  let validator = validators.get(json);
  if (validator === undefined) {
    validator = Compile(json);
    validators.set(json, validator);
  }
  return validator;
}

/** One way in which a value breaks a schema. */
export interface Violation {
  /** The field as a caller would write it, for example `messages[0].role`; empty for the value itself. */
  readonly param: string;
  readonly message: string;
}

/** Whether the value satisfies the schema. */
export function satisfies<T>(schema: Schema<T>, value: unknown): value is T {
  return validatorOf(schema.json).Check(value);
}

/** Every way in which the value breaks the schema, each field told once. `whole` names the value itself in a message. */
export function violations(json: TSchema, value: unknown, whole = "The body"): Violation[] {
  const told = new Map<string, Violation>();
  for (const violation of explainAll({ json, value, whole, path: "" })) {
    if (!told.has(violation.param)) told.set(violation.param, violation);
  }
  return [...told.values()];
}

/**
 * Returns the value, typed.
 * @throws AppError invalid_request with the first violation
 */
export function validate<T>(schema: Schema<T>, value: unknown): T {
  if (satisfies(schema, value)) return value;
  const [first] = violations(schema.json, value);
  throw new AppError("invalid_request", first?.message ?? "The body does not match what this operation expects.", {
    param: first?.param === "" ? undefined : first?.param,
  });
}

type SchemaError = TLocalizedValidationError;

/** A value, the schema that it should satisfy, and where both stand in the whole. */
interface Subject {
  readonly json: TSchema;
  readonly value: unknown;
  readonly whole: string;
  /** As in `param`. */
  readonly path: string;
}

function explainAll(subject: Subject): Violation[] {
  const errors = validatorOf(subject.json).Errors(subject.value);
  const unions = errors.filter((error) => error.keyword === "anyOf");
  return (
    errors
      // `boolean` only repeats, field by field, what `additionalProperties` says.
      .filter(
        (error) =>
          error.keyword !== "boolean" &&
          !unions.some((union) => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`)),
      )
      .flatMap((error) => (error.keyword === "anyOf" ? explainUnion(error, subject) : explain(error, subject)))
  );
}

/**
 * A failed union comes with the errors of all its branches. What the caller should hear is the error of the branch
 * that he meant, where that can be told, else that none fits.
 */
function explainUnion(error: SchemaError, subject: Subject): Violation[] {
  const union = schemaAt(subject.json, error.schemaPath) as JsonSchema;
  const value = valueAt(subject.value, error.instancePath);
  const path = toParam(error.instancePath, subject.path);
  const meant = branchesOf(union).filter((branch) => isMeant(branch, value));
  if (meant.length === 1) return explainAll({ json: meant[0] as TSchema, value, whole: subject.whole, path });
  return [
    {
      param: path,
      message: `${path || subject.whole} is ${showValue(value)}; expected ${unionInWords(union, value)}.`,
    },
  ];
}

interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function branchesOf(union: JsonSchema): JsonSchema[] {
  return (union.anyOf ?? []).flatMap((branch) => (branch.anyOf === undefined ? [branch] : branchesOf(branch)));
}

/** Whether a value of this kind belongs to this branch, be it right or wrong in its details. */
function isMeant(branch: JsonSchema, value: unknown): boolean {
  if (branch.const !== undefined || branch.enum !== undefined) return false;
  switch (branch.type) {
    case "object":
      return (
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        tagsOf(branch).every(([name, tag]) => (value as Record<string, unknown>)[name] === tag)
      );
    case "array":
      return Array.isArray(value);
    case "integer":
    case "number":
      return typeof value === "number";
    default:
      return typeof value === branch.type;
  }
}

/** The members by which an object schema tells itself from its neighbours, such as `type`. */
function tagsOf(branch: JsonSchema): [name: string, tag: unknown][] {
  return Object.entries(branch.properties ?? {}).flatMap(([name, property]) =>
    property.const === undefined ? [] : [[name, property.const]],
  );
}

function unionInWords(union: JsonSchema, value: unknown): string {
  const tags = branchesOf(union).flatMap(tagsOf);
  if (typeof value !== "object" || value === null || Array.isArray(value) || tags[0] === undefined)
    return describeSchema(union);
  const [name] = tags[0];
  return `its "${name}" to be one of ${tags
    .filter(([other]) => other === name)
    .map(([, tag]) => JSON.stringify(tag))
    .join(", ")}`;
}

function explain(error: SchemaError, { json, value, whole, path }: Subject): Violation[] {
  const param = toParam(error.instancePath, path);
  const schema = schemaAt(json, error.schemaPath) as JsonSchema | undefined;
  if (error.keyword === "required") {
    return error.params.requiredProperties.map((name) => ({
      param: join(param, name),
      message: `${join(param, name)} is missing; expected ${describeSchema(schema?.properties?.[name])}.`,
    }));
  }
  if (error.keyword === "additionalProperties") {
    const known = Object.keys(schema?.properties ?? {}).join(", ") || "none";
    return error.params.additionalProperties.map((name) => ({
      param: join(param, name),
      message: `${join(param, name)} is not a known field; known are ${known}.`,
    }));
  }
  return [
    {
      param,
      message: `${param || whole} is ${showValue(valueAt(value, error.instancePath))}; expected ${describeSchema(schema)}.`,
    },
  ];
}

/** A value as a message shows it: JSON, cut to 100 characters. */
export function showValue(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 97).toWellFormed()}…`;
}

function segments(pointer: string): string[] {
  return pointer === "" || pointer === "#"
    ? []
    : pointer
        .replace(/^#?\//, "")
        .split("/")
        .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function toParam(pointer: string, path: string): string {
  return segments(pointer).reduce(join, path);
}

function join(path: string, segment: string): string {
  if (/^\d+$/.test(segment)) return `${path}[${segment}]`;
  return path === "" ? segment : `${path}.${segment}`;
}

function valueAt(value: unknown, pointer: string): unknown {
  return segments(pointer).reduce<unknown>(
    (at, segment) => (at as Record<string, unknown> | null | undefined)?.[segment],
    value,
  );
}

function schemaAt(json: TSchema, pointer: string): unknown {
  return segments(pointer).reduce<unknown>(
    (at, segment) => (at as Record<string, unknown> | undefined)?.[segment],
    json,
  );
}
