/**
 * Hides recorded content from callers without the permission `content_read`: statements see the tables without the attributes and
 * texts that hold prompts, completions, tool calls and transcripts, so that no query can return them, or search in them.
 * docs/adr/0241-people-and-roles.md
 */
import { contentAttributes, contentEventPrefix, contentOfEvents } from "./content-attributes.ts";

const isContentEvent = `startsWith(stored.event_name, '${contentEventPrefix}')`;
/**
 * The message of a call that Sounding refused can quote the request, as can those of its attempts; these are the codes with the status
 * 400.
 */
const quotesRequest =
  "(stored.service = 'sounding' AND stored.error_type IN ('invalid_request', 'invalid_json', 'unsupported_parameter', 'context_length_exceeded', 'content_filter'))";

const names = contentAttributes.map((name) => name.replaceAll(".", String.raw`[.]`)).join("|");
const isContent = `match(name, '^(${names})([.].*)?$')`;
const isContentOfLog = `(${isContent} OR (name = '${contentOfEvents}' AND ${isContentEvent}))`;

const withoutContent = (map: string, condition = isContent): string =>
  `mapFilter((name, value) -> NOT ${condition}, ${map})`;
/** The kinds of the attributes that are left; they have the order of the map. */
const kindsWithoutContent = (map: string, kinds: string, condition = isContent): string =>
  `arrayStringConcat(arrayMap((name, at) -> if(${condition}, '', substring(${kinds}, at, 1)), mapKeys(${map}), arrayEnumerate(mapKeys(${map}))))`;

/** The columns that are not as stored, by table. */
const masked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  spans: {
    attributes: withoutContent("stored.attributes"),
    attribute_types: kindsWithoutContent("stored.attributes", "stored.attribute_types"),
    status_message: `if(${quotesRequest}, toString(stored.error_type), toString(stored.status_message))`,
  },
  span_details: {
    attributes: withoutContent("stored.attributes"),
    attribute_types: kindsWithoutContent("stored.attributes", "stored.attribute_types"),
    event_attributes: `arrayMap(map -> ${withoutContent("map")}, stored.event_attributes)`,
    event_attribute_types: `arrayMap((map, kinds) -> ${kindsWithoutContent("map", "kinds")}, stored.event_attributes, stored.event_attribute_types)`,
    link_attributes: `arrayMap(map -> ${withoutContent("map")}, stored.link_attributes)`,
    link_attribute_types: `arrayMap((map, kinds) -> ${kindsWithoutContent("map", "kinds")}, stored.link_attributes, stored.link_attribute_types)`,
  },
  logs: {
    body: `if(${isContentEvent}, '', stored.body)`,
    body_type: `if(${isContentEvent}, 'e', toString(stored.body_type))`,
    attributes: withoutContent("stored.attributes", isContentOfLog),
    attribute_types: kindsWithoutContent("stored.attributes", "stored.attribute_types", isContentOfLog),
  },
};

/** A statement that reads none of the columns needs no mask, which makes reading slower. */
export const readsContent = /attributes|attribute_types|\bbody|status_message/;

/** The statement, limited to what a caller without `content_read` may see. */
export function maskContent(statement: string): string {
  if (!readsContent.test(statement)) return statement;
  let text = statement;
  const views: string[] = [];
  for (const [table, columns] of Object.entries(masked)) {
    if (!new RegExp(String.raw`\b${table}\b`).test(statement)) continue;
    // What stands for a table has no duplicates to remove any more.
    const final = new RegExp(String.raw`\b${table} FINAL\b`, "g");
    const replaced = Object.entries(columns).map(([name, expression]) => `${expression} AS ${name}`);
    views.push(
      `${table} AS (SELECT * REPLACE(${replaced.join(", ")}) FROM ${table} AS stored${final.test(statement) ? " FINAL" : ""})`,
    );
    text = text.replaceAll(final, table);
  }
  if (views.length === 0) return statement;
  const rest = /^\s*WITH\s/i.exec(text);
  return `WITH ${views.join(", ")}${rest === null ? " " : ", "}${text.slice(rest?.[0].length ?? 0)}`;
}
