/** The values of templates, as Go has them. */
import { TemplateProblem } from "./problem.ts";

/** A moment in a time zone. */
export class GoTime {
  /** Nanoseconds since 1970. */
  readonly unixNano: bigint;
  /** An IANA name, or the offset of a time that was read with one. */
  readonly zone: string | { readonly offsetSeconds: number };

  constructor(unixNano: bigint, zone: GoTime["zone"] = "UTC") {
    this.unixNano = unixNano;
    this.zone = zone;
  }
}

/** The labels of the entry: what `.` is at first. */
export interface TemplateData {
  get(name: string): string | undefined;
  /** Sorted by name. */
  entries(): readonly (readonly [name: string, value: string])[];
}

/** What a template runs with. */
export interface TemplateInput {
  readonly line: string;
  /** Nanoseconds since 1970. */
  readonly unixNano: bigint;
  readonly data: TemplateData;
}

/** The outermost `.`; like a map of texts, it has an empty text for every other name. */
export class DataMap {
  readonly data: TemplateData;

  constructor(data: TemplateData) {
    this.data = data;
  }
}

/** Integers are bigints of 64 bits, and numbers are floats. */
export type Value =
  | string
  | boolean
  | bigint
  | number
  | null
  | GoTime
  | DataMap
  | readonly Value[]
  | ReadonlyMap<string, Value>;

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function typeName(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float64";
    default:
      if (value === null) return "<nil>";
      if (value instanceof GoTime) return "time.Time";
      if (value instanceof DataMap) return "map[string]string";
      return isList(value) ? "[]interface {}" : "map[string]interface {}";
  }
}

export function isTrue(value: Value): boolean {
  switch (typeof value) {
    case "string":
      return value !== "";
    case "boolean":
      return value;
    case "bigint":
      return value !== 0n;
    case "number":
      return value !== 0;
    default:
      return value !== null && (value instanceof GoTime || sizeOf(value) > 0);
  }
}

/** Bytes of a text, elements of a list, members of a map. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof DataMap) return value.data.entries().length;
  if (value instanceof Map) return value.size;
  if (typeof value === "object" && value !== null && isList(value)) return value.length;
  throw new TemplateProblem(`len of type ${typeName(value)}`);
}

const sizes = new WeakMap<object, number>();
const charactersOfMember = 16;

/** The characters of all texts in a value; a member of a list or map counts as some more. */
export function charactersOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (!isContainer(value)) return 0;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let characters = 0;
  const containers: Container[] = [value];
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    for (const member of container.values() as Iterable<Value>) {
      characters += charactersOfMember;
      if (typeof member === "string") characters += member.length;
      else if (isContainer(member)) containers.push(member);
    }
    if (container instanceof Map) for (const name of container.keys() as Iterable<string>) characters += name.length;
  }
  sizes.set(value, characters);
  return characters;
}

type Container = readonly Value[] | ReadonlyMap<string, Value>;

function isContainer(value: Value): value is Container {
  return value instanceof Map || (typeof value === "object" && value !== null && isList(value));
}

/** The members of a map, sorted by name. */
export function membersOf(value: DataMap | ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  if (value instanceof DataMap) return value.data.entries();
  return [...value].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** `value.name` */
export function fieldOf(value: Value, name: string): Value {
  if (value instanceof DataMap) return value.data.get(name) ?? "";
  if (value instanceof Map) return (value as ReadonlyMap<string, Value>).get(name) ?? null;
  if (value === null) throw new TemplateProblem(`nil data; no entry for key ${JSON.stringify(name)}`);
  throw new TemplateProblem(`can't evaluate field ${name} in type ${typeName(value)}`);
}
