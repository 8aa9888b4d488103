/** Groups of SCIM in the control database, each within one organization. */
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { requireRoom } from "../tenancy/row-values.ts";
import type { ControlTables } from "../tenancy/tables.ts";
import type { ScimOrganization } from "./memberships.ts";
import { scimError } from "./scim-error.ts";
import { comparable, type ScimUserRow } from "./users.ts";

export type ScimGroupRow = Selectable<ControlTables["scim_groups"]>;

const mostGroups = inputLimit({
  area: "Administration",
  bounds: "Groups of SCIM in one organization",
  value: 5_000,
  error: "conflict",
});
export const mostMembers = inputLimit({
  area: "Administration",
  bounds: "Members of one group of SCIM",
  value: 5_000,
  error: "conflict",
});

/** @throws AppError conflict */
export async function requireRoomForGroup(transaction: Writer, organizationId: string): Promise<void> {
  await requireRoom(transaction, {
    table: "scim_groups",
    organizationId,
    maximum: mostGroups,
    what: "groups",
    remedy: "Delete",
  });
}

/** @throws AppError not_found, also for groups of other organizations */
export async function requireGroup(database: Reader, { id: organizationId }: ScimOrganization, id: string) {
  const row = await database
    .selectFrom("scim_groups")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `The group ${JSON.stringify(id)} does not exist.`);
  return row;
}

export async function memberIds(database: Reader, groupId: string): Promise<ReadonlySet<string>> {
  const rows = await database.selectFrom("scim_members").select("user_id").where("group_id", "=", groupId).execute();
  return new Set(rows.map(({ user_id: id }) => id));
}

/** Statements bind up to so many values. */
const bound = 500;

/** @throws AppError conflict if the group would have too many */
export async function addMembers(transaction: Writer, groupId: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += bound) {
    const some = ids.slice(from, from + bound);
    await transaction
      .insertInto("scim_members")
      .values(some.map((id) => ({ group_id: groupId, user_id: id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const { count } = await transaction
    .selectFrom("scim_members")
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .where("group_id", "=", groupId)
    .executeTakeFirstOrThrow();
  requireFewMembers(Number(count));
}

/** @throws AppError conflict */
export function requireFewMembers(count: number): void {
  if (count > mostMembers)
    throw new AppError("conflict", `The group would have ${count} members; the limit is ${mostMembers}.`);
}

/** @throws AppError invalid_request (invalidValue) for a user that does not exist */
export async function requireUsers(database: Reader, organizationId: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += bound) {
    const some = ids.slice(from, from + bound);
    const known = await usersOf(database, organizationId, some);
    const missing = some.find((id) => !known.has(id));
    if (missing !== undefined)
      throw scimError("invalidValue", `members has ${JSON.stringify(missing)}, which is not a user.`, "members");
  }
}

export async function removeMembers(transaction: Writer, groupId: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += bound)
    await transaction
      .deleteFrom("scim_members")
      .where("group_id", "=", groupId)
      .where("user_id", "in", ids.slice(from, from + bound))
      .execute();
}

/** By their identifiers. */
export async function usersOf(
  database: Reader,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ScimUserRow>> {
  const rows = await database
    .selectFrom("scim_users")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** @throws AppError conflict (uniqueness) */
export async function requireFreeName(database: Reader, organizationId: string, name: string): Promise<void> {
  const other = await database
    .selectFrom("scim_groups")
    .select("id")
    .where("organization_id", "=", organizationId)
    .where("display_name_key", "=", comparable(name))
    .executeTakeFirst();
  if (other !== undefined)
    throw scimError(
      "uniqueness",
      `displayName is ${JSON.stringify(name)}; the group ${other.id} has this name.`,
      "displayName",
    );
}
