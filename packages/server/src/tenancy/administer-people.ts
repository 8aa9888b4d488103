/** Adds and changes people for a caller, under the rules of authority.ts and grants.ts. */
import type { Person, PersonCreate, PersonUpdate } from "../api/people.ts";
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import {
  boundProjectId,
  listedOrganization,
  namedOrganization,
  requestedProject,
  requireWholeOrganization,
} from "./authority.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { requireGrantable, requireRemovable } from "./grants.ts";
import { setMembership } from "./memberships.ts";
import { findPerson, insertPerson, personNotFound } from "./people.ts";
import { readPerson, type VisibleMemberships } from "./people-list.ts";
import { updatePerson } from "./person-changes.ts";

/** @throws AppError not_found, invalid_request, permission_denied or conflict */
export async function addPerson(control: ControlDatabase, scope: Scope, body: PersonCreate): Promise<Person> {
  if (body.operator !== undefined) scope.requireOperator("decide who is an operator");
  const organizationId = (await namedOrganization(control, scope, body.organization_id)) ?? scope.organizationId;
  const projectId = (await requestedProject(control, scope, body.project_id ?? undefined)) ?? null;
  const visible = await visibleMemberships(control, scope);
  return control.change(async (transaction) => {
    await requireGrantable(transaction, scope, { organizationId, projectId, role: body.role });
    const known = await findPerson(transaction, { email: body.email });
    const { id } = known ?? (await insertPerson(transaction, { email: body.email, name: body.name }));
    if (body.operator !== undefined) await updatePerson(transaction, id, { operator: body.operator });
    await replaceMembership(transaction, scope, { personId: id, organizationId, projectId, role: body.role });
    return requireVisible(transaction, id, visible);
  });
}

/** @throws AppError not_found, permission_denied or conflict */
export async function changePerson(
  control: ControlDatabase,
  scope: Scope,
  { body, id }: PersonChange,
): Promise<Person> {
  requireWholeOrganization(scope, "change a person");
  const visible = await visibleMemberships(control, scope);
  return control.change(async (transaction) => {
    await requireVisible(transaction, id, visible);
    await requireMayChange(transaction, scope, { id, body });
    await updatePerson(transaction, id, body);
    return requireVisible(transaction, id, visible);
  });
}

interface NewRole {
  readonly personId: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly role: string;
}

/** Sets a role that the caller may grant, if the caller may remove the one that it replaces. */
export async function replaceMembership(transaction: Writer, scope: Scope, { personId, ...grant }: NewRole) {
  const replaced = await transaction
    .selectFrom("memberships")
    .selectAll()
    .where("person_id", "=", personId)
    .where("organization_id", "=", grant.organizationId)
    .where("project_id", grant.projectId === null ? "is" : "=", grant.projectId)
    .where("source", "=", "admin")
    .execute();
  await requireRemovable(transaction, scope, replaced);
  return setMembership(transaction, personId, grant);
}

interface PersonChange {
  readonly id: string;
  readonly body: PersonUpdate;
}

/** @throws AppError permission_denied, also for a person whom others administer, too */
async function requireMayChange(database: Reader, scope: Scope, { body, id }: PersonChange): Promise<void> {
  if (scope.key.operator) return;
  // With another address, an administrator could sign in as the person.
  if (body.email !== undefined) scope.requireOperator("change a mail address");
  if (body.operator !== undefined) scope.requireOperator("decide who is an operator");
  const memberships = await database.selectFrom("memberships").selectAll().where("person_id", "=", id).execute();
  const person = await findPerson(database, { id });
  if (person?.operator === 1 || memberships.some((each) => each.organization_id !== scope.organizationId)) {
    throw new AppError(
      "permission_denied",
      "Only an operator may change this person. To end the person's access to your organization, remove the memberships.",
    );
  }
  await requireRemovable(database, scope, memberships);
}

/** The memberships that the caller may see, in the organization that the query names, if it names one. */
export async function visibleMemberships(
  control: ControlDatabase,
  scope: Scope,
  query = new URLSearchParams(),
): Promise<VisibleMemberships> {
  return {
    organizationId: await listedOrganization(control, scope, query),
    projectId: await boundProjectId(control, scope),
  };
}

/** @throws AppError not_found if the person does not exist, or not for the caller */
export async function requireVisible(database: Reader, id: string, visible: VisibleMemberships): Promise<Person> {
  const person = await readPerson(database, id, visible);
  if (person === undefined) throw new AppError("not_found", personNotFound(id));
  return person;
}
