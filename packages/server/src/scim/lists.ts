/** Pages of users and groups, by filter (RFC 7644, section 3.4.2). */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader } from "../tenancy/control-database.ts";
import { parseFilter } from "./filter.ts";
import type { ScimGroupRow } from "./groups.ts";
import type { ScimOrganization } from "./memberships.ts";
import { comparable, type ScimUserRow } from "./users.ts";

export const largestPage = inputLimit({
  area: "Administration",
  bounds: "Resources in one page of SCIM (`count`)",
  value: 100,
  error: { instead: "the page has as many" },
});

export interface ScimPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly startIndex: number;
}

interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** @throws AppError invalid_request */
export async function listUsers(
  database: Reader,
  { id: organizationId }: ScimOrganization,
  query: URLSearchParams,
): Promise<ScimPage<ScimUserRow>> {
  let found = database.selectFrom("scim_users").where("organization_id", "=", organizationId);
  for (const { attribute, value } of filterOf(query, ["userName", "externalId", "id"])) {
    if (attribute === "id") found = found.where("id", "=", value);
    if (attribute === "externalId") found = found.where("external_id", "=", value);
    if (attribute === "userName") found = found.where("user_name_key", "=", comparable(value));
  }
  const { limit, offset } = windowOf(query);
  const rows = await found.selectAll().orderBy("id").limit(limit).offset(offset).execute();
  const { count } = await found
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(count), startIndex: offset + 1 };
}

/** @throws AppError invalid_request */
export async function listGroups(
  database: Reader,
  { id: organizationId }: ScimOrganization,
  query: URLSearchParams,
): Promise<ScimPage<ScimGroupRow>> {
  let found = database.selectFrom("scim_groups").where("organization_id", "=", organizationId);
  const attributes = ["displayName", "externalId", "id", "members.value", "members"] as const;
  for (const { attribute, value } of filterOf(query, attributes)) {
    if (attribute === "id") found = found.where("id", "=", value);
    if (attribute === "externalId") found = found.where("external_id", "=", value);
    if (attribute === "displayName") found = found.where("display_name_key", "=", comparable(value));
    if (attribute === "members" || attribute === "members.value") {
      const groups = database.selectFrom("scim_members").select("group_id").where("user_id", "=", value);
      found = found.where("id", "in", groups);
    }
  }
  const { limit, offset } = windowOf(query);
  const rows = await found.selectAll().orderBy("id").limit(limit).offset(offset).execute();
  const { count } = await found
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(count), startIndex: offset + 1 };
}

function filterOf<Attribute extends string>(query: URLSearchParams, attributes: readonly Attribute[]) {
  const text = query.get("filter");
  return text === null || text.trim() === "" ? [] : parseFilter(text, attributes);
}

function windowOf(query: URLSearchParams): Window {
  const start = readInteger(query, "startIndex", 1);
  const count = readInteger(query, "count", largestPage);
  // A start below 1 means 1, and a negative count means 0 (RFC 7644, section 3.4.2.4).
  return { offset: Math.max(start, 1) - 1, limit: Math.min(Math.max(count, 0), largestPage) };
}

function readInteger(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name) ?? "";
  if (text === "") return otherwise;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new AppError("invalid_request", `${name} is ${JSON.stringify(text.slice(0, 100))}; expected an integer.`, {
    param: name,
  });
}
