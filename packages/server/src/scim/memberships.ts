/** The roles that the groups of a user give, by the rules of the identity providers, and the end of a user's access. */
import type { ProviderSettings } from "../config/sign-in.ts";
import { grantsOf, type Grant as NamedGrant } from "../identity/claims.ts";
import type { Logger } from "../logger.ts";
import { resolveGrants } from "../sign-in/link-person.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { isActiveMembership } from "../tenancy/deactivation.ts";
import { type Grant, removeMembership, requireRemainingOwner, setMemberships } from "../tenancy/memberships.ts";
import { revokePersonalKeys } from "../tenancy/people.ts";
import { requireRole } from "../tenancy/roles.ts";

/** The organization of a provider's key. */
export interface ScimOrganization {
  readonly id: string;
  readonly name: string;
}

export type ProviderRules = Pick<ProviderSettings, "claims" | "rules" | "trust_emails">;

export interface RuleParts {
  /** Of the current configuration. */
  readonly providers: () => readonly ProviderRules[];
  readonly logger: Logger;
}

export interface RuledUser {
  readonly id: string;
  readonly person_id: string;
  readonly active: number;
  readonly address: string;
}

/** A group as a change leaves it, for users whose membership in it has not changed yet. */
interface GroupPreview {
  readonly groupId: string;
  /** The name and the provider's identifier; undefined: without the group. */
  readonly values: readonly string[] | undefined;
}

/** Applies the rules to users, within one transaction that resolves each set of roles once. */
export class RuledMemberships {
  readonly #transaction: Writer;
  readonly #organization: ScimOrganization;
  readonly #parts: RuleParts;
  readonly #resolved = new Map<string, readonly Grant[]>();

  constructor(transaction: Writer, organization: ScimOrganization, parts: RuleParts) {
    this.#transaction = transaction;
    this.#organization = organization;
    this.#parts = parts;
  }

  /**
   * Sets the memberships that the user's groups give. Those of other sources stay.
   * @throws AppError conflict if the organization would be left without an owner
   */
  async apply(user: RuledUser): Promise<void> {
    const source = sourceOf(this.#organization);
    const grants = await this.#grantsOf(user);
    const rows = await this.#transaction
      .selectFrom("memberships")
      .select(["organization_id", "project_id", "role"])
      .where("person_id", "=", user.person_id)
      .where("source", "=", source)
      .execute();
    const isGiven = ({ organizationId, projectId = null, role }: Grant): boolean =>
      rows.some((row) => row.organization_id === organizationId && row.project_id === projectId && row.role === role);
    if (rows.length === grants.length && grants.every(isGiven)) return;
    await setMemberships(this.#transaction, user.person_id, { grants, source });
  }

  /** Whether the rules make the user an owner of the organization. */
  async isOwner(user: RuledUser, preview: GroupPreview): Promise<boolean> {
    const grants = await this.#grantsOf(user, preview);
    return grants.some(({ projectId = null, role }) => projectId === null && role === "owner");
  }

  /** With the references of roles. */
  async #grantsOf(user: RuledUser, preview?: GroupPreview): Promise<readonly Grant[]> {
    if (user.active !== 1) return [];
    const { logger, providers } = this.#parts;
    const groups = await groupValues(this.#transaction, user.id, preview);
    const named = grantsFor({ groups, address: user.address }, this.#organization.name, providers());
    const known = JSON.stringify(named);
    const before = this.#resolved.get(known);
    if (before !== undefined) return before;
    const grants: Grant[] = [];
    for (const grant of await resolveGrants(this.#transaction, { grants: named, provider: "scim" }, logger)) {
      const { reference } = await requireRole(this.#transaction, grant.organizationId, grant.role);
      grants.push({ ...grant, role: reference });
    }
    this.#resolved.set(known, grants);
    return grants;
  }
}

/** An organization replaces only the memberships that it gave itself. */
export function sourceOf({ id }: ScimOrganization): string {
  return `scim:${id}`;
}

/** Of the rules for one place that apply, the first, over all providers. */
function grantsFor(
  { address, groups }: { readonly address: string; readonly groups: readonly string[] },
  organization: string,
  providers: readonly ProviderRules[],
): readonly NamedGrant[] {
  const grants = new Map<string, NamedGrant>();
  for (const settings of providers) {
    const claims = { email_verified: true, [settings.claims.email]: address, [settings.claims.groups]: groups };
    // A key of one organization gives nothing in another.
    const rules = settings.rules.filter((rule) => rule.organization === organization);
    for (const grant of grantsOf(claims, { ...settings, rules })) {
      const place = grant.project ?? "";
      if (!grants.has(place)) grants.set(place, grant);
    }
  }
  return [...grants.values()];
}

/** What rules compare: names, and the provider's identifiers, which some providers have in their claims instead. */
async function groupValues(
  database: Reader,
  userId: string,
  preview: GroupPreview | undefined,
): Promise<readonly string[]> {
  const rows = await database
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select(["scim_groups.id", "scim_groups.display_name as name", "scim_groups.external_id as externalId"])
    .where("scim_members.user_id", "=", userId)
    .orderBy("scim_groups.id")
    .execute();
  const others = rows.filter(({ id }) => id !== preview?.groupId);
  return [...others.flatMap(({ externalId, name }) => ruledValues(name, externalId)), ...(preview?.values ?? [])];
}

/** What rules compare of a group. */
export function ruledValues(name: string, externalId: string | null): readonly string[] {
  return externalId === null ? [name] : [name, externalId];
}

/**
 * Ends the access to the organization, also that which other sources give: sessions, personal keys, and what `active` admits.
 * @throws AppError conflict if the organization would be left without an owner
 */
export async function deactivate(
  transaction: Writer,
  { id: organizationId }: ScimOrganization,
  user: Pick<RuledUser, "id" | "person_id">,
): Promise<void> {
  await requireRemainingOwner(transaction, organizationId, async () => {
    await transaction.updateTable("scim_users").set({ active: 0 }).where("id", "=", user.id).execute();
  });
  await endAccess(transaction, organizationId, user.person_id);
}

/** Removes all memberships in the organization. @throws AppError conflict as `deactivate` */
export async function removeFromOrganization(
  transaction: Writer,
  { id: organizationId }: ScimOrganization,
  personId: string,
): Promise<void> {
  const rows = await transaction
    .selectFrom("memberships")
    .selectAll()
    .where("person_id", "=", personId)
    .where("organization_id", "=", organizationId)
    .execute();
  for (const row of rows) await removeMembership(transaction, row);
  await endAccess(transaction, organizationId, personId);
}

async function endAccess(transaction: Writer, organizationId: string, personId: string): Promise<void> {
  await revokePersonalKeys(transaction, personId, organizationId);
  const elsewhere = await transaction
    .selectFrom("memberships")
    .select("id")
    .where("person_id", "=", personId)
    .where("organization_id", "!=", organizationId)
    .where(isActiveMembership())
    .limit(1)
    .executeTakeFirst();
  for (const table of ["person_sessions", "device_codes"] as const) {
    let ended = transaction.deleteFrom(table).where("person_id", "=", personId);
    // The provider of one organization does not sign people out of others.
    if (elsewhere !== undefined) ended = ended.where("organization_id", "=", organizationId);
    await ended.execute();
  }
}
