/** Groups of SCIM in the control database, each within one organization. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { newIdentifier, nowSeconds, requireRoom } from "../tenancy/row-values.ts";
import type { ControlTables } from "../tenancy/tables.ts";
import { applyRules, type RuleParts, type ScimOrganization } from "./memberships.ts";
import type { GroupChange } from "./patch.ts";
import { scimError } from "./scim-error.ts";
import { addressOf } from "./user-attributes.ts";
import { attributesOf, comparable, type ScimUserRow } from "./users.ts";

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

export interface NewGroup {
  readonly displayName: string;
  readonly externalId: string | undefined;
  readonly members: readonly string[];
}

/** @throws AppError invalid_request for users that do not exist; conflict for a name in use, too many, or the last owner */
export async function createGroup(
  transaction: Writer,
  organization: ScimOrganization,
  group: NewGroup,
  parts: RuleParts,
): Promise<ScimGroupRow> {
  const { id: organizationId } = organization;
  await requireRoom(transaction, {
    table: "scim_groups",
    organizationId,
    maximum: mostGroups,
    what: "groups",
    remedy: "Delete",
  });
  await requireFreeName(transaction, organizationId, group.displayName);
  const now = nowSeconds();
  const row: ScimGroupRow = {
    id: newIdentifier("sgroup"),
    organization_id: organizationId,
    display_name: group.displayName,
    display_name_key: comparable(group.displayName),
    external_id: group.externalId ?? null,
    created_at: now,
    updated_at: now,
  };
  await transaction.insertInto("scim_groups").values(row).execute();
  await addMembers(transaction, row, group.members);
  await applyRulesTo(transaction, organization, group.members, parts);
  return row;
}

/** @throws AppError not_found, and as `createGroup` */
export async function updateGroup(
  transaction: Writer,
  organization: ScimOrganization,
  { change, id }: { readonly id: string; readonly change: GroupChange },
  parts: RuleParts,
): Promise<ScimGroupRow> {
  const before = await requireGroup(transaction, organization, id);
  const name = change.displayName ?? before.display_name;
  if (comparable(name) !== before.display_name_key) await requireFreeName(transaction, organization.id, name);
  const row = {
    ...before,
    display_name: name,
    display_name_key: comparable(name),
    external_id: "externalId" in change ? (change.externalId ?? null) : before.external_id,
    updated_at: nowSeconds(),
  };
  await transaction.updateTable("scim_groups").set(row).where("id", "=", id).execute();
  const isOther = row.display_name !== before.display_name || row.external_id !== before.external_id;
  const replaces = change.members !== undefined;
  const affected = new Set([...change.added, ...change.removed]);
  if (isOther || replaces) for (const member of await memberIds(transaction, id)) affected.add(member);
  if (replaces) await transaction.deleteFrom("scim_members").where("group_id", "=", id).execute();
  const added = new Set([...(change.members ?? []), ...change.added]);
  for (const member of change.removed) added.delete(member);
  await removeMembers(transaction, id, [...change.removed]);
  await addMembers(transaction, row, [...added]);
  await applyRulesTo(transaction, organization, [...new Set([...affected, ...added])], parts);
  return row;
}

/** @throws AppError not_found, or conflict if the organization would be left without an owner */
export async function deleteGroup(
  transaction: Writer,
  organization: ScimOrganization,
  id: string,
  parts: RuleParts,
): Promise<void> {
  await requireGroup(transaction, organization, id);
  const members = await memberIds(transaction, id);
  await transaction.deleteFrom("scim_groups").where("id", "=", id).execute();
  await applyRulesTo(transaction, organization, members, parts);
}

async function memberIds(database: Reader, groupId: string): Promise<readonly string[]> {
  const rows = await database.selectFrom("scim_members").select("user_id").where("group_id", "=", groupId).execute();
  return rows.map(({ user_id: id }) => id);
}

/** Statements bind up to so many values. */
const bound = 500;

async function addMembers(transaction: Writer, group: ScimGroupRow, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += bound) {
    const some = ids.slice(from, from + bound);
    const known = await usersOf(transaction, group.organization_id, some);
    const missing = some.find((id) => !known.has(id));
    if (missing !== undefined)
      throw scimError("invalidValue", `members has ${JSON.stringify(missing)}, which is not a user.`, "members");
    await transaction
      .insertInto("scim_members")
      .values(some.map((id) => ({ group_id: group.id, user_id: id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const { count } = await transaction
    .selectFrom("scim_members")
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .where("group_id", "=", group.id)
    .executeTakeFirstOrThrow();
  if (Number(count) > mostMembers)
    throw new AppError("conflict", `The group would have ${count} members; the limit is ${mostMembers}.`);
}

async function removeMembers(transaction: Writer, groupId: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += bound)
    await transaction
      .deleteFrom("scim_members")
      .where("group_id", "=", groupId)
      .where("user_id", "in", ids.slice(from, from + bound))
      .execute();
}

async function usersOf(
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

async function applyRulesTo(
  transaction: Writer,
  organization: ScimOrganization,
  ids: readonly string[],
  parts: RuleParts,
): Promise<void> {
  for (let from = 0; from < ids.length; from += bound) {
    const users = await usersOf(transaction, organization.id, ids.slice(from, from + bound));
    for (const user of users.values()) {
      await applyRules(transaction, organization, { ...user, address: addressOf(attributesOf(user)) }, parts);
      // SQLite works in this thread.
      await nextTurn();
    }
  }
}

async function requireFreeName(database: Reader, organizationId: string, name: string): Promise<void> {
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
