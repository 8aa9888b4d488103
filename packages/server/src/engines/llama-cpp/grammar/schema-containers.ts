/** Builds grammars of objects and arrays from the keywords of JSON Schema. */
import { isObject } from "../../../json-object.ts";
import { choice, literal, nothing, reference, separated, sequence, type Grammar } from "./grammar.ts";
import { anyObject, arrayOf, comma, member, stringOf, whiteSpace } from "./json-text.ts";
import {
  at,
  invalid,
  readerOf,
  refuse,
  schemaList,
  type JsonSchema,
  type SchemaObject,
  type SchemaNode,
} from "./schema-node.ts";
import { bounds } from "./schema-scalars.ts";

interface Member {
  readonly name: string;
  readonly grammar: Grammar;
  readonly required: boolean;
}

function membersOf(place: SchemaNode, schema: SchemaObject): Member[] {
  const properties = schema["properties"] ?? {};
  if (!isObject(properties)) throw invalid(`${place.path}.properties`, "it must be an object of schemas.");
  const required = schema["required"] ?? [];
  if (!Array.isArray(required)) throw invalid(`${place.path}.required`, "it must be a list of names.");
  const requiredNames = new Set<unknown>(required);
  const declared = Object.entries(properties).map(([name, value]) => ({
    name,
    grammar: place.compile(at(place, "properties", name), value as JsonSchema),
    required: requiredNames.has(name),
  }));
  const additional = (schema["additionalProperties"] ?? true) as JsonSchema;
  const undeclared = required.filter((name: unknown) => typeof name === "string" && !Object.hasOwn(properties, name));
  if (additional === false && undeclared.length > 0)
    throw invalid(`${place.path}.required`, `${undeclared.join(", ")} can never be present.`);
  const others = undeclared.map((name: string) => ({
    name,
    grammar: place.compile(at(place, "additionalProperties"), additional),
    required: true,
  }));
  return [...declared, ...others];
}

/** The members from an index on, in order, optional ones omitted at will; built from the end, so that it stays small. */
function membersGrammar(members: readonly Member[]): Grammar {
  let first: Grammar = nothing;
  let further: Grammar = nothing;
  for (const { name, grammar, required } of members.toReversed()) {
    const pair = member(literal(JSON.stringify(name)), grammar);
    const nextFirst = sequence(pair, further);
    const nextFurther = sequence(comma, pair, further);
    first = required ? nextFirst : choice(nextFirst, link(first));
    further = required ? nextFurther : choice(nextFurther, link(further));
  }
  return first;
}

/** Keeps chains of optional members from being read as one deep grammar: thousands are allowed. */
function link(grammar: Grammar): Grammar {
  return grammar === nothing ? nothing : reference(() => grammar);
}

export function objectGrammar(place: SchemaNode, schema: SchemaObject): Grammar {
  const members = membersOf(place, schema);
  if (members.length > 0 || schema["additionalProperties"] === false) {
    return sequence(literal("{"), whiteSpace, membersGrammar(members), whiteSpace, literal("}"));
  }
  const additional = schema["additionalProperties"] ?? true;
  if (additional === true) return anyObject;
  return sequence(
    literal("{"),
    whiteSpace,
    separated(
      member(stringOf(), place.compile(at(place, "additionalProperties"), additional as JsonSchema)),
      comma,
      0,
      Infinity,
    ),
    whiteSpace,
    literal("}"),
  );
}

export function arrayGrammar(place: SchemaNode, schema: SchemaObject): Grammar {
  const [minimum, maximum] = bounds(readerOf(place, schema), "minItems", "maxItems");
  const items = (schema["items"] ?? true) as JsonSchema;
  if (schema["prefixItems"] === undefined) {
    if (items === false) return arrayOf(nothing, 0, 0);
    return arrayOf(place.compile(at(place, "items"), items), minimum, maximum);
  }
  const prefix = schemaList(place, "prefixItems", schema["prefixItems"]).map((item, index) =>
    place.compile(at(place, "prefixItems", index), item),
  );
  if (maximum < prefix.length || minimum > prefix.length)
    refuse(place, "prefixItems", "supported only if minItems and maxItems allow exactly its items");
  return sequence(
    literal("["),
    whiteSpace,
    ...prefix.flatMap((item, index) => (index === 0 ? [item] : [comma, item])),
    whiteSpace,
    literal("]"),
  );
}
