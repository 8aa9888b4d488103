/** Our objects in the form of the AI Refinery SDK. */
import type { Organization, Project } from "../api/admin.ts";
import type { SdkMembership, SdkOrganization, SdkProject, SdkRole, SdkUser } from "../api/governance.ts";
import type { Membership, Person } from "../api/people.ts";
import { AppError } from "../errors.ts";
import type { Permission } from "../permissions.ts";

const ours = { ORG_ADMIN: "admin", ORG_MEMBER: "member", ORG_VIEWER: "viewer" } as const;

/** @throws AppError invalid_request for the role of operators */
export function fromSdkRole(role: SdkRole = "ORG_MEMBER"): string {
  if (role !== "SUPER_ADMIN") return ours[role];
  throw new AppError(
    "invalid_request",
    `role is "SUPER_ADMIN"; expected ${Object.keys(ours).join(", ")}. To create an operator, use POST /admin/v1/people.`,
    { param: "role" },
  );
}

/** The role that comes closest. */
export function toSdkRole(permissions: ReadonlySet<Permission> | undefined): SdkRole {
  if (permissions?.has("admin") === true) return "ORG_ADMIN";
  return permissions?.has("inference") === true ? "ORG_MEMBER" : "ORG_VIEWER";
}

export function toSdkOrganization({ archived_at: archivedAt, ...organization }: Organization): SdkOrganization {
  return {
    id: organization.id,
    name: organization.name,
    display_name: organization.name,
    status: archivedAt === null ? "active" : "deleted",
    created_at: isoTime(organization.created_at),
    updated_at: isoTime(archivedAt ?? organization.created_at),
  };
}

export function toSdkProject({ archived_at: archivedAt, ...project }: Project): SdkProject {
  return {
    id: project.id,
    workspace_id: project.organization_id,
    org_id: project.organization_id,
    name: project.name,
    description: null,
    created_by: null,
    status: archivedAt === null ? "active" : "archived",
    created_at: isoTime(project.created_at),
    updated_at: isoTime(archivedAt ?? project.created_at),
  };
}

/** The permissions of roles, by what memberships refer to. */
export type PermissionsOf = (role: string) => ReadonlySet<Permission> | undefined;

export function toSdkMembership(membership: Membership, permissionsOf: PermissionsOf): SdkMembership {
  return {
    id: membership.id,
    org_id: membership.organization_id,
    user_id: membership.person_id,
    role: toSdkRole(permissionsOf(membership.role)),
    created_at: isoTime(membership.created_at),
  };
}

/** With the role in the organization, if the person has one there. */
export function toSdkUser(person: Person, organizationId: string, permissionsOf: PermissionsOf): SdkUser {
  const own = person.memberships.filter(
    ({ organization_id: id, project_id: project }) => id === organizationId && project === null,
  );
  const granted = new Set(own.flatMap(({ role }) => [...(permissionsOf(role) ?? [])]));
  const role = person.operator ? "SUPER_ADMIN" : toSdkRole(granted);
  return {
    id: person.id,
    external_id: null,
    email: person.email,
    display_name: person.name,
    status: person.disabled_at === null ? "active" : "inactive",
    created_at: isoTime(person.created_at),
    updated_at: isoTime(person.disabled_at ?? person.created_at),
    last_login_at: person.last_used_at === null ? null : isoTime(person.last_used_at),
    org_id: own.length === 0 ? null : organizationId,
    role: own.length === 0 ? null : role,
  };
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
