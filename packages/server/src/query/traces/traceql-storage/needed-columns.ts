/** What a query reads of spans, and the columns that have it. */
import type { TracesRequest } from "@sounding/traceql/storage";
import { bind, sql, type Statement } from "../../../store/statement.ts";

export interface NeededColumns {
  /** Attributes of spans by name, or all of them. */
  readonly attributes: readonly string[] | "all";
  readonly statusMessage: boolean;
  readonly events: boolean;
  readonly links: boolean;
  readonly resources: boolean;
  readonly scopes: boolean;
}

export function neededColumns({
  allAttributes,
  fields,
}: Pick<TracesRequest, "allAttributes" | "fields">): NeededColumns {
  const attributes = new Set<string>();
  const needs = { statusMessage: false, events: false, links: false, resources: false, scopes: false };
  for (const field of fields) {
    if (field.kind === "attribute") {
      if (field.scope === null || field.scope === "span") attributes.add(field.name);
      if (field.scope === null || field.scope === "resource") needs.resources = true;
      if (field.scope === "instrumentation") needs.scopes = true;
      if (field.scope === "event") needs.events = true;
      if (field.scope === "link") needs.links = true;
    } else {
      if (field.intrinsic === "statusMessage") needs.statusMessage = true;
      if (field.intrinsic.startsWith("event:")) needs.events = true;
      if (field.intrinsic.startsWith("link:")) needs.links = true;
      if (field.intrinsic.startsWith("instrumentation:")) needs.scopes = true;
    }
  }
  if (allAttributes !== true) return { ...needs, attributes: [...attributes] };
  return { ...needs, attributes: "all", events: true, links: true, resources: true, scopes: true };
}

/** An attribute: its name, its value as text, and a letter of `attributeKinds`. */
export type AttributeTuple = readonly [name: string, value: string, kind: string];

/** The wanted attributes of a map, as a list of `AttributeTuple`. */
export function attributesIn(map: Statement, types: Statement, names: NeededColumns["attributes"]): Statement {
  if (names === "all") return allAttributesIn(map, types);
  if (names.length === 0) return sql`[]`;
  return sql`arrayFilter(item -> has(${bind.texts(names)}, item.1), ${allAttributesIn(map, types)})`;
}

export function allAttributesIn(map: Statement, types: Statement): Statement {
  const kinds = sql`if(${types} = '', arrayResize([]::Array(String), length(mapKeys(${map})), 's'), splitByString('', ${types}))`;
  return sql`arrayZip(arrayMap(name -> toString(name), mapKeys(${map})), mapValues(${map}), ${kinds})`;
}
