/** Reads one node of a JSON Schema: its keywords, its name in errors, and its references. */
import { isObject } from "../../../json-object.ts";
import { AppError } from "../../../errors.ts";
import type { Grammar } from "./grammar.ts";
import { inputLimit } from "../../../input-limits.ts";

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** An object schema. */
export type SchemaObject = Exclude<JsonSchema, boolean>;

/** Where the reading of a schema is. */
export interface SchemaNode {
  readonly root: JsonSchema;
  /** References already being compiled, so that recursion ends. */
  readonly references: Map<string, Grammar>;
  /** Where the schema is in the request, for error messages. */
  readonly path: string;
  /** Whether to refuse what cannot be guaranteed instead of leaving it to the model. */
  readonly strict: boolean;
  readonly depth: number;
  compile(place: SchemaNode, schema: JsonSchema): Grammar;
}

/** One schema object with the tools to read it. */
export interface SchemaReader {
  readonly schema: { readonly [keyword: string]: unknown };
  /** Refuses the keyword when strict. */
  refuse(keyword: string, reason: string): void;
  /** A keyword's number; undefined when absent. */
  number(keyword: string): number | undefined;
}

const annotations = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
]);
/** Supported keywords by the type that they apply to. */
export const keywordsByType: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems"],
  string: ["minLength", "maxLength", "pattern", "format"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  boolean: [],
  null: [],
};
export const typeNames = Object.keys(keywordsByType);
const maximumDepth = inputLimit({
  area: "Chat completions",
  bounds: "Levels of nesting of a schema, for llama.cpp models",
  value: 100,
  error: "invalid_request",
});

export function invalid(path: string, problem: string): AppError {
  return new AppError("invalid_request", `${path}: ${problem}`, { param: path });
}

export function at(place: SchemaNode, ...steps: readonly (string | number)[]): SchemaNode {
  const path = steps.reduce<string>(
    (before, step) => (typeof step === "number" ? `${before}[${step}]` : `${before}.${step}`),
    place.path,
  );
  if (place.depth >= maximumDepth)
    throw invalid(place.path, `the schema is nested deeper than ${maximumDepth} levels.`);
  return { ...place, path, depth: place.depth + 1 };
}

export function refuse(place: SchemaNode, keyword: string, reason: string): void {
  if (!place.strict) return;
  const param = `${place.path}.${keyword}`;
  throw new AppError("unsupported_parameter", `${param}: this model cannot guarantee it (${reason}).`, { param });
}

export function readerOf(place: SchemaNode, schema: SchemaObject): SchemaReader {
  return {
    schema,
    refuse: (keyword, reason) => refuse(place, keyword, reason),
    number(keyword) {
      const value = schema[keyword];
      if (value === undefined) return undefined;
      if (typeof value !== "number")
        throw invalid(`${place.path}.${keyword}`, `it is ${JSON.stringify(value)}; it must be a number.`);
      return value;
    },
  };
}

export function schemaList(place: SchemaNode, keyword: string, value: unknown): JsonSchema[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`${place.path}.${keyword}`, "it must be a list of schemas.");
  return value as JsonSchema[];
}

/** Refuses all keywords other than annotations and the named ones. */
export function refuseOtherKeywords(place: SchemaNode, schema: SchemaObject, ...known: readonly string[]): void {
  for (const keyword of Object.keys(schema)) {
    if (annotations.has(keyword) || keyword.startsWith("x-") || known.includes(keyword)) continue;
    refuse(place, keyword, known.length === 0 ? "not supported" : `not supported together with ${known.join(", ")}`);
  }
}

/** A step of a JSON pointer in a URL's fragment; undefined where its percent encoding is wrong. https://www.rfc-editor.org/rfc/rfc6901#section-6 */
function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

export function resolvePointer(place: SchemaNode, pointer: string): JsonSchema {
  if (!pointer.startsWith("#"))
    throw invalid(
      `${place.path}.$ref`,
      `it is ${JSON.stringify(pointer)}; only references within the schema (#/…) are supported.`,
    );
  let found: unknown = place.root;
  for (const step of pointer.slice(1).split("/").slice(1)) {
    const key = decodeStep(step);
    const exists = key !== undefined && (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, key);
    found = exists ? (found as Record<string, unknown>)[key] : undefined;
  }
  if (typeof found !== "boolean" && !isObject(found))
    throw invalid(`${place.path}.$ref`, `${JSON.stringify(pointer)} does not exist in the schema.`);
  return found;
}
