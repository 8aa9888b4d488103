/**
 * Generates the client's types from the contract's schemas: plain interfaces with doc comments, so that the client
 * needs neither TypeBox nor the server. Supports the part of JSON Schema that the contract uses, and rejects anything
 * else by name.
 */

/** The supported part of JSON Schema. Limits such as `minimum` are checked by the server and omitted. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema | false;
  /** The items of a tuple. */
  readonly prefixItems?: readonly JsonSchema[];
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
  readonly deprecated?: boolean;
  /** An alternative that the server accepts, but which would make the union of the others useless to a compiler. */
  readonly "x-omitted-from-client"?: boolean;
}

const heading = `/**
 * The objects of the wire. Generated from the contract by \`npm run generate\`; do not edit.
 */
`;

/** The position at which a type is written. */
interface Place {
  /** Used in messages. */
  readonly path: string;
  readonly indent: string;
  /** The schemas that have their own type. */
  readonly names: ReadonlyMap<JsonSchema, string>;
}

/**
 * Renders one exported type per schema and refers to it by name inside other types. Objects with listed members are closed
 * even if the contract leaves them open, so that a misspelt member does not compile. (Unlisted parameters go into
 * `extra_body`.)
 * @param schemas by the name of the type
 * @throws Error naming the position of a schema that cannot be written as a type
 */
export function renderClientTypes(schemas: Readonly<Record<string, JsonSchema>>): string {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));
  const rendered = Object.entries(schemas).map(([name, schema]) => {
    const place: Place = { path: name, indent: "", names };
    const comment = docComment(schema, "");
    if (schema.properties !== undefined) {
      return `${comment}export interface ${name} ${renderMembers(schema, place)}\n`;
    }
    return `${comment}export type ${name} = ${renderType({ ...schema }, place)};\n`;
  });
  return [heading, ...rendered].join("\n");
}

function renderType(schema: JsonSchema, place: Place): string {
  const name = place.names.get(schema) ?? schema.$ref?.split("/").at(-1);
  if (name !== undefined) return name;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    const offered = alternatives.filter((each) => each["x-omitted-from-client"] !== true);
    const parts = offered.map((each, index) => renderType(each, below(place, `|${index}`)));
    return [...new Set(parts)].join(" | ");
  }
  if (schema.allOf !== undefined) {
    return schema.allOf.map((each, index) => parenthesized(renderType(each, below(place, `&${index}`)))).join(" & ");
  }
  if (schema.type === undefined) return "unknown";
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return types.map((type) => renderNamedType(type, schema, place)).join(" | ");
}

function renderNamedType(type: string, schema: JsonSchema, place: Place): string {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "integer":
      return "number";
    case "array":
      if (schema.prefixItems !== undefined) return renderTuple(schema.prefixItems, schema, place);
      return `${parenthesized(renderType(schema.items || {}, below(place, "[]")))}[]`;
    case "object":
      return renderObject(schema, place);
    default:
      throw new Error(`${place.path} has the type "${type}", which the client's types cannot express`);
  }
}

function renderTuple(items: readonly JsonSchema[], { minItems = 0 }: JsonSchema, place: Place): string {
  const types = items.map((item, index) => {
    const type = renderType(item, below(place, `[${index}]`));
    return index < minItems ? type : `${parenthesized(type)}?`;
  });
  return `[${types.join(", ")}]`;
}

function renderObject(schema: JsonSchema, place: Place): string {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (pattern !== undefined) return `Record<string, ${renderType(pattern, place)}>`;
  if (Object.keys(schema.properties ?? {}).length > 0) return renderMembers(schema, place);
  const value = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
  return `Record<string, ${renderType(value, place)}>`;
}

function renderMembers(schema: JsonSchema, place: Place): string {
  const inner = { ...place, indent: `${place.indent}  ` };
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const optional = schema.required?.includes(name) === true ? "" : "?";
    const type = renderType(member, below(inner, `.${name}`));
    return `${docComment(member, inner.indent)}${inner.indent}${memberName(name)}${optional}: ${type};\n`;
  });
  const { additionalProperties: more } = schema;
  if (typeof more === "object") members.push(`${inner.indent}[member: string]: ${renderType(more, inner)};\n`);
  return `{\n${members.join("")}${place.indent}}`;
}

function below(place: Place, step: string): Place {
  return { ...place, path: place.path + step };
}

function docComment(schema: JsonSchema, indent: string): string {
  const lines = (schema.description ?? "").split("\n").filter((line) => line !== "");
  if (schema.deprecated === true) lines.push("@deprecated");
  if (lines.length === 0) return "";
  const safe = lines.map((line) => line.replaceAll("*/", "*\\/"));
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`;
  return `${indent}/**\n${safe.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A union or an intersection inside a larger type needs its own parentheses. */
function parenthesized(type: string): string {
  let depth = 0;
  for (const character of type) {
    if (character === "{" || character === "<") depth += 1;
    if (character === "}" || character === ">") depth -= 1;
    if (depth === 0 && (character === "|" || character === "&")) return `(${type})`;
  }
  return type;
}
