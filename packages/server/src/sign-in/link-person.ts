/**
 * The person to whom an identity at a provider belongs, and the memberships that the provider's rules give. Memberships that an
 * administrator gave stay.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import { AppError } from "../errors.ts";
import type { Grant as NamedGrant, Identity } from "../identity/claims.ts";
import type { Logger } from "../logger.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { ControlDatabase, Reader, Writer } from "../tenancy/control-database.ts";
import { isActiveMembership } from "../tenancy/deactivation.ts";
import { setMemberships, type Grant } from "../tenancy/memberships.ts";
import { findPerson, insertPerson, normalEmail, type PersonRow } from "../tenancy/people.ts";
import { updatePerson } from "../tenancy/person-changes.ts";
import { requireRole } from "../tenancy/roles.ts";
import { nowSeconds } from "../tenancy/row-values.ts";
import { firstOrganization } from "./person-sessions.ts";

/** The source of the memberships that a provider's rules give. */
export function sourceOf(provider: string): string {
  return `oidc:${provider}`;
}

export interface LinkParts {
  readonly control: ControlDatabase;
  readonly logger: Logger;
}

/**
 * The person of an identity, with the memberships of its claims: known by the identity, or by the verified address, or new.
 * @throws AppError sign_in_refused
 */
export async function linkPerson(identity: Identity, { control, logger }: LinkParts): Promise<PersonRow> {
  const grants = await control.read((database) => resolveGrants(database, identity, logger));
  const person = await control.change(async (transaction) => {
    const known = await findByIdentity(transaction, identity);
    const found = known ?? (await findOrInsert(transaction, identity, grants));
    if (found.disabled_at !== null)
      throw new AppError("sign_in_refused", `The account of ${found.email} has been disabled. Ask an administrator.`);
    await noteSignIn(transaction, identity, found.id, known === undefined);
    const organizationId = grants[0]?.organizationId ?? (await firstOrganization(transaction, found.id)) ?? null;
    describeAct({
      actor: { kind: "person", id: found.id, name: found.email, organizationId },
      object: { kind: "person", id: found.id, name: found.email },
    });
    return found;
  });
  await syncMemberships(person.id, { grants, provider: identity.provider }, { control, logger });
  await requireMembership(control, person, identity);
  return await updateProfile(person, identity, { control, logger });
}

/** Sets the memberships that a provider's claims give, if they differ. */
export async function syncIdentity(
  personId: string,
  identity: Identity,
  { control, logger }: LinkParts,
): Promise<void> {
  const grants = await control.read((database) => resolveGrants(database, identity, logger));
  await syncMemberships(personId, { grants, provider: identity.provider }, { control, logger });
}

/**
 * The places and roles that the rules name, as identifiers. What does not exist is left out: a rule may name an organization that is
 * created later, and one that is archived ends nobody's access elsewhere.
 */
export async function resolveGrants(
  database: Reader,
  { grants, provider }: Pick<Identity, "grants" | "provider">,
  logger: Logger,
): Promise<readonly Grant[]> {
  const resolved: Grant[] = [];
  for (const named of grants) {
    const grant = await resolveGrant(database, named);
    if (grant !== undefined) resolved.push(grant);
    else logger.warn({ provider, ...named }, "a rule of an identity provider names something that does not exist");
  }
  return resolved;
}

async function resolveGrant(database: Reader, { organization, project, role }: NamedGrant): Promise<Grant | undefined> {
  const found = await database
    .selectFrom("organizations")
    .select("id")
    .where("name", "=", organization)
    .where("archived_at", "is", null)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const inOrganization = { organizationId: found.id, role };
  try {
    await requireRole(database, found.id, role);
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_request") return undefined;
    throw error;
  }
  if (project === undefined) return inOrganization;
  const ofProject = await database
    .selectFrom("projects")
    .select("id")
    .where("organization_id", "=", found.id)
    .where("name", "=", project)
    .where("archived_at", "is", null)
    .executeTakeFirst();
  return ofProject && { ...inOrganization, projectId: ofProject.id };
}

export async function findByIdentity(
  database: Reader,
  { provider, subject }: Pick<Identity, "provider" | "subject">,
): Promise<PersonRow | undefined> {
  return await database
    .selectFrom("identities")
    .innerJoin("people", "people.id", "identities.person_id")
    .selectAll("people")
    .where("identities.provider", "=", provider)
    .where("identities.subject", "=", subject)
    .executeTakeFirst();
}

async function findOrInsert(transaction: Writer, identity: Identity, grants: readonly Grant[]): Promise<PersonRow> {
  const { email, emailVerified, name, provider } = identity;
  if (email === undefined || !email.includes("@"))
    throw refused(`${provider} did not tell your e-mail address. Ask an administrator to add the scope \`email\`.`);
  if (!emailVerified)
    throw refused(
      `${provider} has not verified the address ${email}. Verify it there, or ask an administrator (\`trust_emails\`).`,
    );
  const known = await findPerson(transaction, { email });
  if (known !== undefined) return known;
  // Whom no rule admits leaves no trace.
  if (grants.length === 0) throw noAccess(email, provider);
  return await insertPerson(transaction, { email, name });
}

async function noteSignIn(
  transaction: Writer,
  { provider, subject }: Identity,
  personId: string,
  isNew: boolean,
): Promise<void> {
  const now = nowSeconds();
  if (isNew) {
    await transaction
      .insertInto("identities")
      .values({ provider, subject, person_id: personId, created_at: now, last_sign_in_at: now })
      .execute();
    return;
  }
  await transaction
    .updateTable("identities")
    .set({ last_sign_in_at: now })
    .where("provider", "=", provider)
    .where("subject", "=", subject)
    .execute();
}

async function syncMemberships(
  personId: string,
  { grants, provider }: { readonly grants: readonly Grant[]; readonly provider: string },
  { control, logger }: LinkParts,
): Promise<void> {
  const source = sourceOf(provider);
  if (await control.read((database) => hasExactly(database, personId, { grants, source }))) return;
  try {
    await control.change((transaction) => setMemberships(transaction, personId, { grants, source }));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "conflict") throw error;
    logger.warn(
      { provider, person_id: personId, reason: error.message },
      "the memberships of a person could not follow the claims of the identity provider",
    );
  }
}

async function hasExactly(
  database: Reader,
  personId: string,
  { grants, source }: { readonly grants: readonly Grant[]; readonly source: string },
): Promise<boolean> {
  const rows = await database
    .selectFrom("memberships")
    .select(["organization_id", "project_id", "role"])
    .where("person_id", "=", personId)
    .where("source", "=", source)
    .execute();
  const wanted = new Set<string>();
  for (const { organizationId, projectId = null, role } of grants) {
    const { reference } = await requireRole(database, organizationId, role);
    wanted.add(JSON.stringify([organizationId, projectId, reference]));
  }
  return (
    rows.length === wanted.size &&
    rows.every((row) => wanted.has(JSON.stringify([row.organization_id, row.project_id, row.role])))
  );
}

async function requireMembership(control: ControlDatabase, { id }: PersonRow, identity: Identity): Promise<void> {
  const membership = await control.read((database) =>
    database
      .selectFrom("memberships")
      .select("id")
      .where("person_id", "=", id)
      .where(isActiveMembership())
      .limit(1)
      .executeTakeFirst(),
  );
  if (membership === undefined) throw noAccess(identity.email ?? identity.subject, identity.provider);
}

/** The provider's name and verified address for the person, unless somebody else has the address. */
async function updateProfile(
  person: PersonRow,
  { email, emailVerified, name }: Identity,
  { control, logger }: LinkParts,
): Promise<PersonRow> {
  const newEmail = emailVerified && email?.includes("@") === true ? normalEmail(email) : person.email;
  const newName = name ?? person.name;
  if (newEmail === person.email && newName === person.name) return person;
  try {
    return await control.change((transaction) =>
      updatePerson(transaction, person.id, { email: newEmail, name: newName }),
    );
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "conflict") throw error;
    logger.warn({ person_id: person.id }, "a person's new address is already another person's");
    return person;
  }
}

function noAccess(who: string, provider: string): AppError {
  return refused(
    `${who} signed in at ${provider}, but no rule gives access to an organization. Ask an administrator for a membership.`,
  );
}

function refused(message: string): AppError {
  return new AppError("sign_in_refused", message);
}
