/**
 * Describes a JSON Schema in plain English, for messages and docs: "an integer from 1 to 128", `one of "auto", "flex"`, "a
 * string or null".
 */

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  pattern?: string;
  items?: JsonSchema;
}

export function describeSchema(schema: unknown): string {
  const json = (schema ?? {}) as JsonSchema;
  if (json.anyOf !== undefined) return alternatives(json.anyOf);
  if (json.const !== undefined) return JSON.stringify(json.const);
  if (json.enum !== undefined) return oneOf(json.enum);
  switch (json.type) {
    case "integer":
      return `an integer${range(json)}`;
    case "number":
      return `a number${range(json)}`;
    case "string":
      return `a ${json.minLength === 1 && json.pattern === undefined ? "non-empty " : ""}string${lengths(json)}${json.pattern === undefined ? "" : ` that matches ${json.pattern}`}`;
    case "boolean":
      return "true or false";
    case "array":
      return `an array${counts(json)}${itemsInWords(json.items)}`;
    case "object":
      return json.maxProperties === undefined ? "an object" : `an object of at most ${json.maxProperties} members`;
    case "null":
      return "null";
    default:
      return "a value";
  }
}

/** The type of all items; nothing if they may have different types. */
function itemsInWords(items: JsonSchema | undefined): string {
  const types = new Set((items?.anyOf ?? [items]).map((branch) => branch?.type));
  const [type] = types;
  return type === undefined || types.size > 1 ? "" : ` of ${plural(type)}`;
}

function alternatives(branches: readonly JsonSchema[]): string {
  const flat = branchesOf(branches);
  const constants = flat.flatMap((branch) => (branch.const === undefined ? (branch.enum ?? []) : [branch.const]));
  const others = flat.filter((branch) => branch.const === undefined && branch.enum === undefined).map(describeSchema);
  const described = [...new Set([...(constants.length > 0 ? [oneOf(constants)] : []), ...others])];
  const last = described.pop() ?? "a value";
  return described.length === 0 ? last : `${described.join(", ")} or ${last}`;
}

/** Unions in unions are one list. */
function branchesOf(branches: readonly JsonSchema[]): JsonSchema[] {
  return branches.flatMap((branch) => (branch.anyOf === undefined ? [branch] : branchesOf(branch.anyOf)));
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value)).join(", ");
  return values.length === 1 ? shown : `one of ${shown}`;
}

function range({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  if (exclusiveMinimum !== undefined)
    return ` above ${exclusiveMinimum}${maximum === undefined ? "" : ` and at most ${maximum}`}`;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function lengths({ maxLength }: JsonSchema): string {
  return maxLength === undefined ? "" : ` of at most ${maxLength} characters`;
}

function counts({ minItems, maxItems }: JsonSchema): string {
  if (minItems !== undefined && minItems > 0 && maxItems !== undefined) return ` of ${minItems} to ${maxItems} items`;
  if (minItems !== undefined && minItems > 0) return ` of at least ${minItems} ${minItems === 1 ? "item" : "items"}`;
  return maxItems === undefined ? "" : ` of at most ${maxItems} items`;
}

function plural(type: string): string {
  return type === "object" ? "objects" : `${type}s`;
}
