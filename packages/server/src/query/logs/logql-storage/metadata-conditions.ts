/**
 * Turns matchers on structured metadata into conditions on the rows of `logs`: every row that matches meets them. Values are found by
 * the indexes of trace IDs and attributes, whatever the attribute is called: several names become the same label.
 */
import { getLabel } from "@sounding/promql/series/labels";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { contentAttributes, contentOfEvents } from "../../../store/content-attributes.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import { lookUpResources } from "../../resource-lookup.ts";
import type { LogsQuery, Running } from "./logs-query.ts";
import { streamConditions, type StreamConditions } from "./stream-conditions.ts";
import { ownLabels, streamLabels } from "./stream-labels.ts";
import { columnNames, metadataName, StructuredMetadata } from "./structured-metadata.ts";

/** More resources or scopes with a value are not listed; then every row may match. */
const mostListed = 1000;

export async function metadataConditions(
  matchers: readonly LabelMatcher[],
  query: LogsQuery,
  running: Running,
): Promise<StreamConditions> {
  const own = matchers.filter(({ name }) => ownLabels.has(name));
  const others = matchers.filter(({ name }) => !ownLabels.has(name));
  const found = await streamConditions(own, query, running);
  const conditions = [...found.conditions];
  for (const matcher of others) {
    const condition = await valueCondition(matcher, query, running);
    if (condition !== undefined) conditions.push(condition);
  }
  return { conditions, inexact: [...found.inexact, ...others], isEmpty: found.isEmpty };
}

/** Only of equal values: an index cannot find rows that lack a value, and expressions would read the attributes of all rows. */
async function valueCondition(
  { name, operator, value }: LabelMatcher,
  query: LogsQuery,
  running: Running,
): Promise<Statement | undefined> {
  if (operator !== "=" || value === "" || !value.isWellFormed()) return undefined;
  const described = await Promise.all([
    resourcesWith({ name, value }, query, running),
    scopesWith({ name, value }, query, running),
  ]);
  if (described.includes("many")) return undefined;
  const alternatives = [sql`has(mapValues(attributes), ${bind.text(value)})`];
  if (Object.hasOwn(columns, name))
    alternatives.push(sql`${columns[name as keyof typeof columns]} = ${bind.text(value)}`);
  // The members of maps, the lines of lists and what is encrypted are stored differently.
  if (contentLabel.test(name)) alternatives.push(sql`attribute_types LIKE '%x%'`);
  if (name.includes("_")) alternatives.push(sql`attribute_types LIKE '%k%'`);
  if (value.startsWith("[")) alternatives.push(sql`attribute_types LIKE '%a%'`);
  const [resources, scopes] = described as string[][];
  if (resources!.length > 0) alternatives.push(sql`resource_id IN ${bind.uint64s(resources!)}`);
  if (scopes!.length > 0) alternatives.push(sql`scope_id IN ${bind.uint64s(scopes!)}`);
  return sql`(${join(alternatives, sql` OR `)})`;
}

/** The labels of attributes with content, or of their members. */
const contentLabel = new RegExp(`^(?:${[...contentAttributes, contentOfEvents].map(metadataName).join("|")})(?:_|$)`);

const columns = {
  [columnNames.trace_id]: sql`trace_id`,
  [columnNames.span_id]: sql`span_id`,
  [columnNames.severity_text]: sql`severity_text`,
  [columnNames.event_name]: sql`event_name`,
};

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Values of these kinds may be stored as other texts: doubles, lists and maps. */
const otherKinds = sql`match(attribute_types, '[dak]')`;

async function resourcesWith(
  { name, value }: NamedValue,
  { reader }: LogsQuery,
  { signal }: Running,
): Promise<string[] | "many"> {
  const rows = await reader.query<{ resource_id: string }>(
    sql`SELECT DISTINCT resource_id FROM resources
      WHERE organization = ${callerOrganization} AND (has(mapValues(attributes), ${bind.text(value)}) OR ${otherKinds})
      LIMIT ${bind.uint32(mostListed + 1)}`,
    { signal, duplicates: "kept" },
  );
  if (rows.length > mostListed) return "many";
  const references = rows.map(({ resource_id }) => ({ resource_id, scope_id: "0" }));
  const { resources } = await lookUpResources(reader, references, { signal });
  const metadata = new StructuredMetadata([name]);
  return [...resources].flatMap(([id, resource]) => {
    const labels = streamLabels({ project: "", service: "", level: 0, resource_id: id }, resource);
    const values = [getLabel(labels, name), metadata.ofDescriptions(resource, undefined).get(name)];
    return values.includes(value) ? [id] : [];
  });
}

async function scopesWith(
  { name, value }: NamedValue,
  { reader }: LogsQuery,
  { signal }: Running,
): Promise<string[] | "many"> {
  const rows = await reader.query<{ scope_id: string }>(
    sql`SELECT DISTINCT scope_id FROM scopes WHERE organization = ${callerOrganization} AND
        (name = ${bind.text(value)} OR version = ${bind.text(value)} OR has(mapValues(attributes), ${bind.text(value)}) OR ${otherKinds})
      LIMIT ${bind.uint32(mostListed + 1)}`,
    { signal, duplicates: "kept" },
  );
  if (rows.length > mostListed) return "many";
  const references = rows.map(({ scope_id }) => ({ resource_id: "0", scope_id }));
  const { scopes } = await lookUpResources(reader, references, { signal });
  const metadata = new StructuredMetadata([name]);
  return [...scopes].flatMap(([id, scope]) =>
    metadata.ofDescriptions(undefined, scope).get(name) === value ? [id] : [],
  );
}
