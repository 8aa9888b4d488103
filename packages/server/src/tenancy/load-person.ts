/** Loads a person with all roles from the control database, for a session, a token or a personal key. */
import type { CheckedMembership, CheckedPerson } from "../person.ts";
import type { Reader } from "./control-database.ts";
import { isActiveMembership } from "./deactivation.ts";
import type { Grant } from "./memberships.ts";
import { findPerson } from "./people.ts";
import { requireRole, resolveRoles, type ResolvedRole } from "./roles.ts";
import { parseAllowedModels, parseLimits } from "./row-values.ts";

/** A person as loaded. */
export interface KnownPerson {
  readonly person: CheckedPerson;
  /** Why the person is refused; undefined for one who may sign in. */
  readonly refusal: string | undefined;
}

export async function loadPerson(database: Reader, id: string): Promise<KnownPerson | undefined> {
  const row = await findPerson(database, { id });
  if (row === undefined) return undefined;
  return {
    person: {
      id: row.id,
      name: row.name,
      email: row.email,
      operator: row.operator === 1,
      memberships: await loadMemberships(database, id),
    },
    refusal: row.disabled_at === null ? undefined : `The account of ${row.email} has been disabled.`,
  };
}

/** The memberships in organizations and projects that are not archived, the oldest first. */
async function loadMemberships(database: Reader, personId: string): Promise<readonly CheckedMembership[]> {
  const rows = await database
    .selectFrom("memberships")
    .innerJoin("organizations", "organizations.id", "memberships.organization_id")
    .leftJoin("projects", "projects.id", "memberships.project_id")
    .where("memberships.person_id", "=", personId)
    .where("organizations.archived_at", "is", null)
    .where("projects.archived_at", "is", null)
    .where(isActiveMembership())
    .select([
      "memberships.role",
      "organizations.id as organizationId",
      "organizations.name as organizationName",
      "organizations.limits",
      "organizations.allowed_models",
      "projects.name as projectName",
    ])
    .orderBy("memberships.id")
    .execute();
  const roles = await resolveRoles(
    database,
    rows.map(({ role }) => role),
  );
  return rows.flatMap((row) => {
    const role = roles.get(row.role);
    return role === undefined ? [] : [toMembership(row, role)];
  });
}

/**
 * The roles that a token of a machine gives, which has no person in the database.
 * @param grants with the identifiers of organizations and projects
 * @throws AppError invalid_request for a role that does not exist
 */
export async function loadGrants(database: Reader, grants: readonly Grant[]): Promise<readonly CheckedMembership[]> {
  const memberships: CheckedMembership[] = [];
  for (const { organizationId, projectId = null, role } of grants) {
    const row = await database
      .selectFrom("organizations")
      .leftJoin("projects", (join) =>
        join.onRef("projects.organization_id", "=", "organizations.id").on("projects.id", "=", projectId),
      )
      .where("organizations.id", "=", organizationId)
      .where("organizations.archived_at", "is", null)
      .where("projects.archived_at", "is", null)
      .select([
        "organizations.id as organizationId",
        "organizations.name as organizationName",
        "organizations.limits",
        "organizations.allowed_models",
        "projects.name as projectName",
      ])
      .executeTakeFirst();
    const isMissing = row === undefined || (projectId !== null && row.projectName === null);
    if (!isMissing) memberships.push(toMembership(row, await requireRole(database, organizationId, role)));
  }
  return memberships;
}

interface MemberOf {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly limits: string;
  readonly allowed_models: string | null;
  readonly projectName: string | null;
}

function toMembership(row: MemberOf, role: ResolvedRole): CheckedMembership {
  return {
    organizationId: row.organizationId,
    organizationName: row.organizationName,
    organizationLimits: parseLimits(row.limits),
    allowedModels: parseAllowedModels(row.allowed_models) ?? undefined,
    projectName: row.projectName ?? undefined,
    role: role.name,
    permissions: role.permissions,
    roleModels: role.allowedModels,
  };
}
