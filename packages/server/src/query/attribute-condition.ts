/** Conditions on the attributes of log records and spans, and on text, which several queries share. */
import { AppError } from "../errors.ts";
import { contentOfEvents, isContentAttribute } from "../store/content-attributes.ts";
import { bind, callerOrganization, sql, type Statement } from "../store/statement.ts";
import type { TenantReader } from "../store/store.ts";

/** ClickHouse's search for ASCII is several times faster. */
export function containsText(column: Statement, text: string): Statement {
  // oxlint-disable-next-line no-control-regex -- the range is all of ASCII
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  return isAscii
    ? sql`positionCaseInsensitive(${column}, ${bind.text(text)}) > 0`
    : sql`positionCaseInsensitiveUTF8(${column}, ${bind.text(text)}) > 0`;
}

function hasAttribute([name, value]: readonly [string, string]): Statement {
  return sql`(mapContains(attributes, ${bind.text(name)}) AND attributes[${bind.text(name)}] = ${bind.text(value)})`;
}

function resourcesWith(attribute: readonly [string, string]): Statement {
  return sql`SELECT resource_id FROM resources WHERE organization = ${callerOrganization} AND ${hasAttribute(attribute)}`;
}

/**
 * Whether a row or its resource has an attribute. Most attributes that are searched for are not of resources. Without the
 * alternative, the index of log records can be used.
 */
export async function attributeCondition(
  reader: TenantReader,
  attribute: readonly [string, string],
  signal: AbortSignal,
): Promise<Statement> {
  requireSearchable(reader, attribute[0]);
  const resources = resourcesWith(attribute);
  const [resource] = await reader.query(sql`${resources} LIMIT 1`, { signal, duplicates: "kept" });
  if (resource === undefined) return hasAttribute(attribute);
  return sql`(${hasAttribute(attribute)} OR resource_id GLOBAL IN (${resources}))`;
}

/** @throws AppError invalid_request if the store has the attribute encrypted */
export function requireSearchable({ encryptsContent }: TenantReader, attribute: string): void {
  if (!encryptsContent || !isContentAttribute(attribute)) return;
  throw new AppError(
    "invalid_request",
    `The attribute ${attribute} is recorded content, which this server encrypts, so attributes cannot filter by it. Use TraceQL or LogQL, which decrypt what they compare.`,
    { param: "attributes" },
  );
}

/** What an answer says about texts that a search did not look into. @param filtered attributes that filter entries */
export function searchWarnings(
  { encryptsContent }: TenantReader,
  search: string | null | undefined,
  filtered: readonly string[] = [],
): { readonly warnings?: string[] } {
  if (!encryptsContent) return {};
  const warnings: string[] = [];
  if (search != null)
    warnings.push(
      'This server encrypts recorded content, and `search` does not look into it. TraceQL and LogQL search in it, for example `{ .gen_ai.input.messages =~ ".*text.*" }`.',
    );
  if (filtered.includes(contentOfEvents))
    warnings.push(
      `This server encrypts the attribute ${contentOfEvents} of gen_ai.* events, and filters by attributes do not look into it. LogQL does.`,
    );
  return warnings.length === 0 ? {} : { warnings };
}

/** The attributes of a query with their values as text. */
export function attributeTexts(
  attributes: Readonly<Record<string, string | number | boolean>> | null | undefined,
): Map<string, string> {
  return new Map(Object.entries(attributes ?? {}).map(([name, value]) => [name, String(value)]));
}

/** OpenTelemetry's name for a service without one. */
export const unknownService = "unknown_service";

/** One of these services. */
export function serviceCondition(...services: readonly string[]): Statement {
  return sql`service IN ${bind.texts(services.includes(unknownService) ? ["", ...services] : services)}`;
}
