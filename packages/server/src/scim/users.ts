/** Users of SCIM in the control database, each within one organization. */
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { newIdentifier, nowSeconds, requireRoom } from "../tenancy/row-values.ts";
import type { ControlTables } from "../tenancy/tables.ts";
import { findOrAddPerson, followChanges } from "./link.ts";
import {
  deactivate,
  removeFromOrganization,
  RuledMemberships,
  type RuleParts,
  type ScimOrganization,
} from "./memberships.ts";
import { scimError } from "./scim-error.ts";
import { addressOf, type UserAttributes, type UserEmail, type UserName } from "./user-attributes.ts";

export type ScimUserRow = Selectable<ControlTables["scim_users"]>;

const mostUsers = inputLimit({
  area: "Administration",
  bounds: "Users of SCIM in one organization",
  value: 20_000,
  error: "conflict",
});

interface StoredAttributes {
  readonly displayName?: string | undefined;
  readonly name: UserName;
  readonly emails: readonly UserEmail[];
}

/** `userName` and names of groups are not case-sensitive. */
export function comparable(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

export function attributesOf(row: ScimUserRow): UserAttributes {
  const { displayName, emails, name } = JSON.parse(row.attributes) as StoredAttributes;
  return {
    userName: row.user_name,
    externalId: row.external_id ?? undefined,
    displayName,
    name,
    emails,
    active: row.active === 1,
  };
}

/** @throws AppError not_found, also for users of other organizations */
export async function requireUser(database: Reader, { id: organizationId }: ScimOrganization, id: string) {
  const row = await database
    .selectFrom("scim_users")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `The user ${JSON.stringify(id)} does not exist.`);
  return row;
}

/** The organization's user who is the person. */
export async function userOfPerson(
  database: Reader,
  { id: organizationId }: ScimOrganization,
  personId: string,
): Promise<ScimUserRow | undefined> {
  return await database
    .selectFrom("scim_users")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("person_id", "=", personId)
    .executeTakeFirst();
}

/** @throws AppError conflict if the organization has the user, too many, or would be left without an owner */
export async function createUser(
  transaction: Writer,
  organization: ScimOrganization,
  user: UserAttributes,
  parts: RuleParts,
): Promise<ScimUserRow> {
  const { id: organizationId } = organization;
  await requireRoom(transaction, {
    table: "scim_users",
    organizationId,
    maximum: mostUsers,
    what: "users",
    remedy: "Delete",
  });
  await requireFreeName(transaction, organizationId, user.userName);
  const person = await findOrAddPerson(transaction, user);
  await requireFreePerson(transaction, organization, person);
  const now = nowSeconds();
  const row: ScimUserRow = {
    id: newIdentifier("suser"),
    organization_id: organizationId,
    person_id: person.id,
    active: 1,
    created_at: now,
    updated_at: now,
    ...valuesOf(user),
  };
  await transaction.insertInto("scim_users").values(row).execute();
  return await settle(transaction, organization, { row, user }, parts);
}

/** @throws AppError not_found, conflict as `createUser` */
export async function updateUser(
  transaction: Writer,
  organization: ScimOrganization,
  { id, change }: { readonly id: string; readonly change: (user: UserAttributes) => UserAttributes },
  parts: RuleParts,
): Promise<ScimUserRow> {
  const before = await requireUser(transaction, organization, id);
  const user = change(attributesOf(before));
  if (comparable(user.userName) !== before.user_name_key)
    await requireFreeName(transaction, organization.id, user.userName);
  const person = await followChanges(transaction, organization, before.person_id, user);
  if (person.id !== before.person_id) {
    await requireFreePerson(transaction, organization, person);
    await new RuledMemberships(transaction, organization, parts).apply({ ...before, active: 0, address: "" });
  }
  const row = {
    ...before,
    ...valuesOf(user),
    person_id: person.id,
    active: Number(user.active || before.active === 1),
    updated_at: nowSeconds(),
  };
  await transaction.updateTable("scim_users").set(row).where("id", "=", id).execute();
  return await settle(transaction, organization, { row, user }, parts);
}

/** @throws AppError not_found, or conflict if the organization would be left without an owner */
export async function deleteUser(transaction: Writer, organization: ScimOrganization, id: string): Promise<void> {
  const row = await requireUser(transaction, organization, id);
  await removeFromOrganization(transaction, organization, row.person_id);
  await transaction.deleteFrom("scim_users").where("id", "=", id).execute();
}

/** Gives or ends what the user's state means. */
async function settle(
  transaction: Writer,
  organization: ScimOrganization,
  { row, user }: { readonly row: ScimUserRow; readonly user: UserAttributes },
  parts: RuleParts,
): Promise<ScimUserRow> {
  const settled = { ...row, active: Number(user.active) };
  if (!user.active) await deactivate(transaction, organization, row);
  await new RuledMemberships(transaction, organization, parts).apply({ ...settled, address: addressOf(user) });
  return settled;
}

function valuesOf({ displayName, emails, externalId, name, userName }: UserAttributes) {
  return {
    user_name: userName,
    user_name_key: comparable(userName),
    external_id: externalId ?? null,
    attributes: JSON.stringify({ displayName, name, emails } satisfies StoredAttributes),
  };
}

async function requireFreeName(database: Reader, organizationId: string, userName: string): Promise<void> {
  const other = await database
    .selectFrom("scim_users")
    .select("id")
    .where("organization_id", "=", organizationId)
    .where("user_name_key", "=", comparable(userName))
    .executeTakeFirst();
  if (other !== undefined)
    throw scimError(
      "uniqueness",
      `userName is ${JSON.stringify(userName)}; the user ${other.id} has this name.`,
      "userName",
    );
}

async function requireFreePerson(
  database: Reader,
  organization: ScimOrganization,
  { email, id }: { readonly id: string; readonly email: string },
): Promise<void> {
  const other = await userOfPerson(database, organization, id);
  if (other !== undefined)
    throw scimError("uniqueness", `The user ${other.id} has the address ${JSON.stringify(email)}.`, "emails");
}
