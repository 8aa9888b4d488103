/** The memberships of people: a role in an organization or in one of its projects. Callers check permissions. */
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "./control-database.ts";
import { isActiveMembership } from "./deactivation.ts";
import { requireOwnProject } from "./keys.ts";
import { revokePersonalKeys } from "./people.ts";
import { requireRole } from "./roles.ts";
import { newIdentifier, nowSeconds, requireActiveOrganization, requireRoom } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

export type MembershipRow = Selectable<ControlTables["memberships"]>;

/** A role in an organization, or in one of its projects. */
export interface Grant {
  readonly organizationId: string;
  readonly projectId?: string | null | undefined;
  /** The name of a built-in role, or the name or identifier of one of the organization's. */
  readonly role: string;
}

/** The source of memberships that administrators set. */
export const adminSource = "admin";

const maximumMemberships = inputLimit({
  area: "Administration",
  bounds: "Memberships of people in one organization and its projects",
  value: 50_000,
  error: "conflict",
});

/**
 * Sets the role of a person: adds the membership, or changes the one of the same source.
 * @throws AppError not_found (organization or project), invalid_request (role), or conflict when one is archived, there are too
 *   many memberships, or no owner would be left
 */
export async function setMembership(
  transaction: Writer,
  personId: string,
  { source = adminSource, ...grant }: Grant & { readonly source?: string },
): Promise<MembershipRow> {
  const { organizationId, projectId = null } = grant;
  await requireActiveOrganization(transaction, organizationId);
  if (projectId !== null) await requireOwnProject(transaction, organizationId, projectId);
  const { reference } = await requireRole(transaction, organizationId, grant.role);
  const existing = await transaction
    .selectFrom("memberships")
    .selectAll()
    .where("person_id", "=", personId)
    .where("organization_id", "=", organizationId)
    .where("project_id", projectId === null ? "is" : "=", projectId)
    .where("source", "=", source)
    .executeTakeFirst();
  if (existing !== undefined) return changeRole(transaction, existing, reference);
  await requireRoom(transaction, {
    table: "memberships",
    organizationId,
    maximum: maximumMemberships,
    what: "memberships",
    remedy: "Remove",
  });
  const row: MembershipRow = {
    id: newIdentifier("memb"),
    person_id: personId,
    organization_id: organizationId,
    project_id: projectId,
    role: reference,
    source,
    created_at: nowSeconds(),
  };
  await transaction.insertInto("memberships").values(row).execute();
  return row;
}

/**
 * Sets all memberships of one source, such as those that the groups of an identity provider give; others stay.
 * @throws AppError as `setMembership`
 */
export async function setMemberships(
  transaction: Writer,
  personId: string,
  { grants, source }: { readonly grants: readonly Grant[]; readonly source: string },
): Promise<void> {
  const kept: string[] = [];
  for (const grant of grants) kept.push((await setMembership(transaction, personId, { ...grant, source })).id);
  const before = await transaction
    .selectFrom("memberships")
    .selectAll()
    .where("person_id", "=", personId)
    .where("source", "=", source)
    .execute();
  for (const row of before) if (!kept.includes(row.id)) await removeMembership(transaction, row);
}

/** @throws AppError conflict when no owner would be left */
async function changeRole(transaction: Writer, row: MembershipRow, role: string): Promise<MembershipRow> {
  if (row.role === role) return row;
  await requireRemainingOwner(transaction, row.organization_id, async () => {
    await transaction.updateTable("memberships").set({ role }).where("id", "=", row.id).execute();
  });
  return { ...row, role };
}

/**
 * Removes a membership; with the last one in an organization, the person's keys there are revoked.
 * @throws AppError conflict when no owner would be left
 */
export async function removeMembership(transaction: Writer, row: MembershipRow): Promise<void> {
  const { organization_id: organizationId, person_id: personId } = row;
  await requireRemainingOwner(transaction, organizationId, async () => {
    await transaction.deleteFrom("memberships").where("id", "=", row.id).execute();
  });
  const other = await transaction
    .selectFrom("memberships")
    .select("id")
    .where("person_id", "=", personId)
    .where("organization_id", "=", organizationId)
    .limit(1)
    .executeTakeFirst();
  if (other === undefined) await revokePersonalKeys(transaction, personId, organizationId);
}

/**
 * Runs a change that may take away the role `owner` of an organization.
 * @throws AppError conflict if no owner who may sign in would be left although there was one
 */
export async function requireRemainingOwner(
  transaction: Writer,
  organizationId: string,
  change: () => Promise<void>,
): Promise<void> {
  const hadOwner = await hasOwner(transaction, organizationId);
  await change();
  if (hadOwner && !(await hasOwner(transaction, organizationId))) throw noOwnerLeft();
}

export function noOwnerLeft(): AppError {
  return new AppError(
    "conflict",
    "This would leave the organization without an owner. Make another person its owner first.",
  );
}

/** Whether a person who is not disabled is owner of the whole organization. */
export async function hasOwner(database: Reader, organizationId: string): Promise<boolean> {
  return (await ownersOf(database, organizationId).limit(1).executeTakeFirst()) !== undefined;
}

/** The memberships that make people who are not disabled owners of the whole organization. */
export function ownersOf(database: Reader, organizationId: string) {
  return database
    .selectFrom("memberships")
    .innerJoin("people", "people.id", "memberships.person_id")
    .select(["memberships.person_id as personId", "memberships.source"])
    .where("memberships.organization_id", "=", organizationId)
    .where("memberships.project_id", "is", null)
    .where("memberships.role", "=", "owner")
    .where("people.disabled_at", "is", null)
    .where(isActiveMembership());
}
