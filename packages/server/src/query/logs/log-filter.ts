/** Turns the filters of a log query into conditions on the rows of `logs`. */
import { severities, type Severity } from "../../api/observability-logs.ts";
import { attributeKinds, opaqueKinds } from "../../store/attribute-kinds.ts";
import { levels } from "../../store/schema.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { attributeCondition, containsText, requireSearchable, serviceCondition } from "../attribute-condition.ts";
import { allOf, projectCondition } from "../conditions.ts";
import { mayContain } from "./line-index.ts";

/** An entry must match all filters; those that are undefined match every entry. */
export interface LogFilter {
  /** Undefined: every project of the organization. */
  readonly project?: string | undefined;
  /** Exactly this level. */
  readonly severity?: Severity | undefined;
  /** One of these levels. */
  readonly severities?: readonly Severity[] | undefined;
  /** This level or a higher one. */
  readonly minSeverity?: Severity | undefined;
  /** Part of the message, in upper or lower case. */
  readonly search?: string | undefined;
  readonly service?: string | undefined;
  /** 32 lower-case hex digits. */
  readonly traceId?: string | undefined;
  /** 16 lower-case hex digits. */
  readonly spanId?: string | undefined;
  /** Attributes of the record or of its resource, with their values as text. */
  readonly attributes?: ReadonlyMap<string, string>;
  /** An entry must match none of these. */
  readonly exclude?: ExcludedEntries;
}

export interface ExcludedEntries {
  readonly severities?: readonly Severity[] | undefined;
  readonly services?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  /** By name, the values as text: an entry with one of them is excluded, one without the attribute is not. */
  readonly attributes?: ReadonlyMap<string, readonly string[]>;
}

/** The conditions, without those on time. @throws AppError as the store does */
export async function filterCondition(
  reader: TenantReader,
  filter: LogFilter,
  signal: AbortSignal,
): Promise<Statement> {
  const attributes = [...(filter.attributes ?? [])];
  for (const name of filter.exclude?.attributes?.keys() ?? []) requireSearchable(reader, name);
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(filter.project),
    ...levelConditions(filter),
    filter.service === undefined ? undefined : serviceCondition(filter.service),
    filter.traceId === undefined ? undefined : sql`trace_id = ${bind.text(filter.traceId)}`,
    filter.spanId === undefined ? undefined : sql`span_id = ${bind.text(filter.spanId)}`,
    filter.search === undefined ? undefined : messageCondition(filter.search),
    ...(await Promise.all(attributes.map((attribute) => attributeCondition(reader, attribute, signal)))),
    ...excludingConditions(filter.exclude ?? {}),
  ]);
}

function excludingConditions({ attributes, projects, services, severities: excluded }: ExcludedEntries): Statement[] {
  const conditions: Statement[] = [];
  if (excluded !== undefined) conditions.push(sql`level NOT IN ${bind.texts(excluded)}`);
  if (services !== undefined) conditions.push(sql`NOT ${serviceCondition(...services)}`);
  if (projects !== undefined) conditions.push(sql`project NOT IN ${bind.texts(projects)}`);
  for (const attribute of attributes ?? []) conditions.push(withoutAttribute(attribute));
  return conditions;
}

/** Reads the resources in any case: an index cannot find the rows that lack a value. */
function withoutAttribute([name, values]: readonly [string, readonly string[]]): Statement {
  const has = sql`(mapContains(attributes, ${bind.text(name)}) AND attributes[${bind.text(name)}] IN ${bind.texts(values)})`;
  return sql`NOT ${has} AND resource_id GLOBAL NOT IN (
      SELECT resource_id FROM resources WHERE organization = ${callerOrganization} AND ${has})`;
}

function levelConditions({ minSeverity, severities: several, severity }: LogFilter): Statement[] {
  const conditions: Statement[] = [];
  if (severity !== undefined) conditions.push(sql`level = ${bind.text(severity)}`);
  if (several !== undefined) conditions.push(sql`level IN ${bind.texts(several)}`);
  if (minSeverity !== undefined && minSeverity !== severities[0]) {
    conditions.push(sql`toUInt8(level) >= ${bind.uint8(levels[minSeverity])}`);
  }
  return conditions;
}

/** The texts in a list or a map as the store keeps it: keys and values, with JSON's escapes. */
const textsInJson = String.raw`"(?:key|stringValue|bytesValue|intValue|doubleValue|boolValue)":("(?:[^"\\]|\\.)*"|[^,}\]]*)`;

/** The line of an event without a body is its name. */
function messageCondition(text: string): Statement {
  const inJson = JSON.stringify(text.toWellFormed()).slice(1, -1);
  const structured = bind.texts([attributeKinds.array, attributeKinds.map]);
  const ofStructured = allOf([
    sql`body_type IN ${structured}`,
    mayContain([inJson], { ignoresCase: true }),
    sql`arrayExists(one -> ${containsText(sql`one`, inJson)}, extractAll(body, ${bind.text(textsInJson)}))`,
  ]);
  const ofText = allOf([
    sql`body_type NOT IN ${bind.texts(opaqueKinds)}`,
    mayContain([text], { ignoresCase: true }),
    sql`(${containsText(sql`body`, text)} OR (body = '' AND ${containsText(sql`event_name`, text)}))`,
  ]);
  return sql`((${ofStructured}) OR (${ofText}))`;
}
