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
  /** Where the nearest schema with an `$id` of its own is, to which references below it are relative; undefined: the root. */
  readonly identified: string | undefined;
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
  "$anchor",
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

export interface ResolvedReference {
  readonly schema: JsonSchema;
  /** As in `SchemaNode`, for the schema. */
  readonly identified: string | undefined;
}

/** @throws AppError invalid_request for a reference out of the schema, or to nothing */
export function resolveReference(place: SchemaNode, reference: string): ResolvedReference {
  const path = `${place.path}.$ref`;
  if (!reference.startsWith("#")) {
    throw invalid(
      path,
      `it is ${JSON.stringify(reference)}; only references within the schema (#/… and #name) are supported.`,
    );
  }
  if (place.identified !== undefined) {
    throw invalid(
      place.identified,
      `a schema within the schema has an identifier, and ${path} is relative to it; remove the identifier.`,
    );
  }
  const resolved =
    reference === "#" || reference.startsWith("#/")
      ? resolvePointer(place, reference)
      : findAnchor(place.root, decodeStep(reference.slice(1)));
  if (resolved !== undefined) return resolved;
  throw invalid(path, `${JSON.stringify(reference)} does not exist in the schema.`);
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-6 */
function resolvePointer({ root }: SchemaNode, pointer: string): ResolvedReference | undefined {
  let found: unknown = root;
  let identified: string | undefined;
  let path = "the schema";
  for (const step of pointer.slice(1).split("/").slice(1)) {
    const key = decodeStep(step);
    const exists = key !== undefined && (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, key);
    found = exists ? (found as Record<string, unknown>)[key] : undefined;
    path += `.${step}`;
    if (isObject(found) && isIdentified(found)) identified = `${path}.$id`;
  }
  return typeof found === "boolean" || isObject(found) ? { schema: found, identified } : undefined;
}

/** Whether the schema is one of its own, to which references in it are relative. In draft 7, `"$id": "#name"` is an anchor. */
export function isIdentified({ $id: id }: SchemaObject): boolean {
  return typeof id === "string" && !id.startsWith("#");
}

/** The schema with the anchor, outside of schemas with identifiers, which have anchors of their own. */
function findAnchor(root: JsonSchema, name: string | undefined): ResolvedReference | undefined {
  if (name === undefined || name === "") return undefined;
  const open: unknown[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next);
    if (!isObject(next) || (next !== root && isIdentified(next))) continue;
    if (next["$anchor"] === name || next["$id"] === `#${name}`) return { schema: next, identified: undefined };
    // What examples and enums contain is no schema.
    for (const [keyword, value] of Object.entries(next))
      if (!["enum", "const", "default", "examples", "example"].includes(keyword)) open.push(value);
  }
  return undefined;
}
