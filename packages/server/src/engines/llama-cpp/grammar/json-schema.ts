/**
 * Turns a JSON Schema (2020-12) into a grammar: every text that the grammar accepts validates against the schema. The grammar may
 * accept less than the schema: objects have only their declared members, in the schema's order. A keyword that cannot be
 * guaranteed is refused by name, or left to the model if the caller requested best effort only.
 */
import { isObject } from "../../../json-object.ts";
import { inputLimit } from "../../../input-limits.ts";
import { areDisjoint } from "./disjoint.ts";
import { choice, literal, reference, type Grammar } from "./grammar.ts";
import { anyValue, boolean } from "./json-text.ts";
import { arrayGrammar, objectGrammar } from "./schema-containers.ts";
import {
  at,
  invalid,
  keywordsByType,
  readerOf,
  refuse,
  refuseOtherKeywords,
  isIdentified,
  resolveReference,
  schemaList,
  typeNames,
  type JsonSchema,
  type SchemaObject,
  type SchemaNode,
} from "./schema-node.ts";
import { integerGrammar, numberGrammar, stringGrammar } from "./schema-scalars.ts";

/** Every value is followed at every token: tens of thousands would hold the model up for everybody. OpenAI's limit. */
const maximumEnumValues = inputLimit({
  area: "Chat completions",
  bounds: "Values in one enum of a schema, for llama.cpp models",
  value: 1_000,
  error: "invalid_request",
});

/** Each branch is compared with every other. */
const maximumBranches = inputLimit({
  area: "Chat completions",
  bounds: "Schemas in one oneOf, for llama.cpp models",
  value: 200,
  error: "invalid_request",
});

function referenceGrammar(place: SchemaNode, pointer: string): Grammar {
  const known = place.references.get(pointer);
  if (known !== undefined) return known;
  let target: Grammar | undefined;
  place.references.set(
    pointer,
    reference(() => target!),
  );
  const { schema, identified } = resolveReference(place, pointer);
  target = compile({ ...at(place, "$ref"), identified }, schema);
  place.references.set(pointer, target);
  return target;
}

function oneOfGrammar(place: SchemaNode, branches: readonly JsonSchema[]): Grammar {
  const resolved = branches.map((branch) =>
    isObject(branch) && typeof branch["$ref"] === "string" ? resolveReference(place, branch["$ref"]).schema : branch,
  );
  if (branches.length > maximumBranches) {
    throw invalid(`${place.path}.oneOf`, `it has ${branches.length} schemas; at most ${maximumBranches} are allowed.`);
  }
  if (!areDisjoint(resolved))
    refuse(
      place,
      "oneOf",
      "its branches may overlap; use anyOf, or a required property with a different const in each",
    );
  return choice(...branches.map((branch, index) => compile(at(place, "oneOf", index), branch)));
}

function literals(place: SchemaNode, schema: SchemaObject, values: readonly unknown[]): Grammar {
  refuseOtherKeywords(place, schema, "const", "enum", "type");
  const types = schema["type"] === undefined ? undefined : [schema["type"]].flat();
  const fitting = values.filter((value) => types === undefined || types.some((type) => isOfType(value, type)));
  if (fitting.length === 0) throw invalid(place.path, "no value of enum or const matches the schema's type.");
  return choice(...fitting.map((value) => literal(JSON.stringify(value))));
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === type;
}

function typeGrammar(place: SchemaNode, schema: SchemaObject, type: unknown): Grammar {
  const reader = readerOf(place, schema);
  switch (type) {
    case "object":
      return objectGrammar(place, schema);
    case "array":
      return arrayGrammar(place, schema);
    case "string":
      return stringGrammar(reader);
    case "integer":
      return integerGrammar(reader);
    case "number":
      return numberGrammar(reader);
    case "boolean":
      return boolean;
    case "null":
      return literal("null");
    default:
      throw invalid(`${place.path}.type`, `it is ${JSON.stringify(type)}; it must be one of ${typeNames.join(", ")}.`);
  }
}

/** The types that a schema without `type` must mean by its other keywords. */
function impliedTypes(schema: SchemaObject): string[] {
  return typeNames
    .filter((type) => type !== "integer" && keywordsByType[type]!.some((keyword) => keyword in schema))
    .slice(0, 1);
}

function compile(outer: SchemaNode, schema: JsonSchema): Grammar {
  const isOwn = isObject(schema) && schema !== outer.root && isIdentified(schema);
  const place = isOwn ? { ...outer, identified: `${outer.path}.$id` } : outer;
  if (schema === true) return anyValue;
  if (schema === false) throw invalid(place.path, "no value satisfies the schema false.");
  if (!isObject(schema)) throw invalid(place.path, `it is ${JSON.stringify(schema)}, not a schema.`);
  if (typeof schema["$ref"] === "string") {
    refuseOtherKeywords(place, schema, "$ref");
    return referenceGrammar(place, schema["$ref"]);
  }
  if (schema["enum"] !== undefined || schema["const"] !== undefined) {
    const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
    if (!Array.isArray(values)) throw invalid(`${place.path}.enum`, "it must be a list of values.");
    if (values.length > maximumEnumValues) {
      throw invalid(`${place.path}.enum`, `it has ${values.length} values; at most ${maximumEnumValues} are allowed.`);
    }
    return literals(place, schema, values);
  }
  for (const keyword of ["anyOf", "oneOf", "allOf"] as const) {
    if (schema[keyword] === undefined) continue;
    refuseOtherKeywords(place, schema, keyword);
    const branches = schemaList(place, keyword, schema[keyword]);
    if (keyword === "oneOf") return oneOfGrammar(place, branches);
    if (keyword === "allOf" && branches.length > 1) {
      refuse(place, "allOf", "supported only with exactly one schema in it");
      return anyValue;
    }
    return choice(...branches.map((branch, index) => compile(at(place, keyword, index), branch)));
  }
  const types = schema["type"] === undefined ? impliedTypes(schema) : [schema["type"]].flat();
  refuseOtherKeywords(
    place,
    schema,
    "type",
    ...types.flatMap((type) => (typeof type === "string" ? (keywordsByType[type] ?? []) : [])),
  );
  if (types.length === 0) return anyValue;
  return choice(...types.map((type) => typeGrammar(place, schema, type)));
}

/**
 * The grammar of the JSON texts that satisfy the schema. `path` names the schema in error messages. With `strict`
 * every text validates; without, keywords that cannot be guaranteed are left to the model.
 * @throws AppError unsupported_parameter or invalid_request, naming the keyword
 */
export function schemaGrammar(schema: JsonSchema, path: string, strict: boolean): Grammar {
  return compile(
    { root: schema, references: new Map(), path, strict, depth: 0, identified: undefined, compile },
    schema,
  );
}
