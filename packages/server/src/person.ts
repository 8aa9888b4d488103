/**
 * A person who calls, and the key that stands for them: a person has roles in organizations and projects, and a request has one
 * organization and at most one project.
 * docs/adr/0241-people-and-roles.md
 */
import { AppError } from "./errors.ts";
import { withIncluded, type Permission } from "./permissions.ts";
import type { CheckedKey, Limits, PersonIdentity, ScopeClaim } from "./tenant.ts";

/** What one role gives a person in an organization, or in one project of it. Created by tenancy/. */
export interface CheckedMembership {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly organizationLimits: Limits;
  /** The patterns of the organization; undefined: all. */
  readonly allowedModels: readonly string[] | undefined;
  /** Undefined: the role is for the whole organization. */
  readonly projectName: string | undefined;
  /** The role's name. */
  readonly role: string;
  /** With those that they include. */
  readonly permissions: ReadonlySet<Permission>;
  /** The patterns of the role; undefined: all. */
  readonly roleModels: readonly string[] | undefined;
}

/** A person who is not disabled, with all memberships in organizations and projects in use, the oldest first. Created by tenancy/. */
export interface CheckedPerson extends PersonIdentity {
  /** An operator may administer every organization. */
  readonly operator: boolean;
  readonly memberships: readonly CheckedMembership[];
}

/**
 * A person as the key that stands for them in one organization. Roles of a project apply to requests that name it; the caller is then
 * bound to the project, unless the roles of the organization grant as much. Without a role of the organization, the only project
 * with a role is the one that requests belong to.
 * @param organizationId the organization if the request names none, such as that of the session
 * @throws AppError organization_mismatch, project_mismatch or permission_denied
 */
export function keyOfPerson(person: CheckedPerson, claim: ScopeClaim = {}, organizationId?: string): CheckedKey {
  const inOrganization = membershipsOf(person, claim.account, organizationId);
  const first = inOrganization[0]!;
  const general = inOrganization.filter(({ projectName: project }) => project === undefined);
  const projects = [...new Set(inOrganization.flatMap(({ projectName: project }) => project ?? []))];
  const only = general.length === 0 && projects.length === 1 ? projects[0] : undefined;
  const project = claim.project ?? only;
  const special = inOrganization.filter(({ projectName: name }) => name !== undefined && name === project);
  const applied = [...general, ...special];
  if (applied.length === 0) {
    throw new AppError(
      "project_mismatch",
      `${person.name} has roles in the projects ${projects.map((name) => JSON.stringify(name)).join(", ")} of ${JSON.stringify(first.organizationName)}; the request names ${project === undefined ? "none of them" : JSON.stringify(project)}.`,
      { param: "x-project" },
    );
  }
  const ofOrganization = unionOf(general);
  const permissions = unionOf(applied);
  const models = roleModels(applied);
  return {
    person,
    keyId: person.id,
    keyName: person.email,
    organizationId: first.organizationId,
    organizationName: first.organizationName,
    operator: person.operator,
    projectName: ofOrganization.size === permissions.size ? undefined : project,
    role: [...new Set(applied.map(({ role }) => role))].join(", "),
    permissions: person.operator ? withIncluded([...permissions, "owner"]) : permissions,
    keyLimits: {},
    limitsKeyId: person.id,
    organizationLimits: first.organizationLimits,
    allowedModels: first.allowedModels,
    narrowedModels: models === undefined ? undefined : [models],
  };
}

/** The memberships in the organization that the request or the session means, at least one. */
function membershipsOf(
  { memberships, name }: CheckedPerson,
  account: string | undefined,
  organizationId: string | undefined,
): readonly CheckedMembership[] {
  if (memberships.length === 0) {
    throw new AppError("permission_denied", `${name} is not a member of any organization. Ask an administrator.`);
  }
  const chosen =
    account === undefined
      ? (memberships.find((each) => each.organizationId === organizationId) ?? memberships[0]!)
      : memberships.find((each) => each.organizationName === account || each.organizationId === account);
  if (chosen === undefined) {
    throw new AppError(
      "organization_mismatch",
      `The account ${JSON.stringify(account)} is not an organization of ${name}.`,
      { param: "x-account" },
    );
  }
  return memberships.filter((each) => each.organizationId === chosen.organizationId);
}

function unionOf(memberships: readonly CheckedMembership[]): ReadonlySet<Permission> {
  return new Set(memberships.flatMap(({ permissions }) => [...permissions]));
}

/** The patterns of the roles that allow calls, unless one of them allows every model. */
function roleModels(memberships: readonly CheckedMembership[]): readonly string[] | undefined {
  const calling = memberships.filter(({ permissions }) => permissions.has("models_read"));
  if (calling.some(({ roleModels: patterns }) => patterns === undefined)) return undefined;
  return calling.flatMap(({ roleModels: patterns }) => patterns ?? []);
}
