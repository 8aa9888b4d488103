/**
 * Converts a form's fields, which are strings, to values of the request's schema. It accepts the spellings of common clients:
 *
 * - the AI Refinery SDK writes Python's `True`, `False` and `None`, lists and objects as JSON, and nests `extra_body`;
 * - OpenAI's clients repeat `timestamp_granularities[]` and write `chunking_strategy[type]`, or JSON.
 *
 * Fields that cannot be converted stay strings, which the schema refuses by name.
 */
import { showValue } from "../api/validate.ts";
import { TranscriptionRequest } from "../api/transcription-request.ts";
import { AppError } from "../errors.ts";
import type { FormField } from "../http/form.ts";
import { isObject } from "../json-object.ts";

/** The part of JSON Schema that determines how a string is converted. */
interface FieldSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

type Values = Record<string, unknown>;

/**
 * The request as an object, with `extra_body` merged over it and without unknown fields.
 * @throws AppError invalid_request for a field given twice with different values
 */
export function readFields(fields: readonly FormField[]): Values {
  const tree: Values = Object.create(null) as Values;
  for (const field of fields) place(tree, field);
  const json = TranscriptionRequest.json as FieldSchema;
  const { extra_body: extra, ...values } = readMembers(tree, json);
  if (extra === undefined || extra === null) return values;
  // Refused by the schema, which names it.
  if (typeof extra !== "object" || Array.isArray(extra)) return { ...values, extra_body: extra };
  return { ...values, ...readMembers(extra as Values, json) };
}

/** Stores a field by its name: `a[b][]` goes into the list `b` of the object `a`. Other forms of brackets are ignored. */
function place(tree: Values, { name, value }: FormField): void {
  if (!/^[^[\]]+(?:\[[^[\]]*\]){0,3}$/.test(name)) return;
  const path = name.replaceAll("]", "").split("[");
  const inList = path.length > 1 && /^\d*$/.test(path.at(-1)!);
  if (inList) path.pop();
  const key = path.pop()!;
  const parent = parentOf(tree, path);
  if (inList) placeInList(parent, key, value);
  else placeValue(parent, key, value);
}

function parentOf(tree: Values, path: readonly string[]): Values {
  let parent = tree;
  for (const key of path) {
    const known = parent[key];
    if (isObject(known)) parent = known;
    else parent = parent[key] = Object.create(null) as Values;
  }
  return parent;
}

function placeInList(parent: Values, key: string, value: string): void {
  const known = parent[key];
  if (Array.isArray(known)) known.push(value);
  else parent[key] = [value];
}

function placeValue(parent: Values, key: string, value: string): void {
  const known = parent[key];
  if (known === undefined) parent[key] = value;
  else if (known !== value) {
    // Some clients repeat a list's name without brackets.
    if (Array.isArray(known)) known.push(value);
    else parent[key] = [known, value];
  }
}

function readMembers(members: Values, { properties = {} }: FieldSchema): Values {
  const read = Object.entries(properties)
    .filter(([name]) => Object.hasOwn(members, name))
    .map(([name, schema]): [string, unknown] => [name, readMember(name, members[name], schema)]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function readMember(name: string, value: unknown, schema: FieldSchema): unknown {
  if (Array.isArray(value) && !typesOf(schema).has("array") && value.every((each) => typeof each === "string")) {
    const message = `${name} appears twice in the form, as ${showValue(value[0])} and as ${showValue(value[1])}; send one value.`;
    throw new AppError("invalid_request", message, { param: name });
  }
  return read(value, schema);
}

function read(value: unknown, schema: FieldSchema): unknown {
  if (typeof value === "string") return readText(value, schema);
  const branches = branchesOf(schema);
  if (Array.isArray(value)) {
    const items = branches.find(({ type }) => type === "array")?.items;
    return items === undefined ? value : value.map((each) => read(each, items));
  }
  if (typeof value !== "object" || value === null) return value;
  const branch = branches.find(({ properties }) => properties !== undefined);
  return branch === undefined ? value : { ...value, ...readMembers(value as Values, branch) };
}

function readText(text: string, schema: FieldSchema): unknown {
  const types = typesOf(schema);
  const isAllowed = branchesOf(schema).some((branch) => branch.const === text || branch.enum?.includes(text));
  if (isAllowed) return text;
  const word = text.trim();
  if (types.has("null") && /^(?:None|null|undefined|)$/.test(word)) return null;
  if (types.has("boolean") && /^(?:true|false)$/i.test(word)) return word.toLowerCase() === "true";
  if (types.has("boolean") && /^[01]$/.test(word)) return word === "1";
  if (
    (types.has("number") || types.has("integer")) &&
    /^[+-]?(?:\d{1,15}(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(word)
  ) {
    return Number(word);
  }
  if (types.has("array") || types.has("object")) {
    const json = parseJson(word);
    if (json !== undefined) return read(json, schema);
    if (types.has("array")) return [text];
  }
  return text;
}

function parseJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function branchesOf(schema: FieldSchema): FieldSchema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(branchesOf);
}

function typesOf(schema: FieldSchema): Set<string | undefined> {
  return new Set(branchesOf(schema).map(({ type }) => type));
}
