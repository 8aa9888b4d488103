/**
 * Who may grant which role: nobody more than they have. Keys with the permission `admin` of their own, which are older than roles, grant
 * everything but `owner`; so does an organization's first owner come from one of them, or from an operator.
 * docs/adr/0241-people-and-roles.md
 */
import { AppError } from "../errors.ts";
import { permissionsOfKey, permissionsOfRoleKey, type Permission } from "../permissions.ts";
import type { Scope } from "../tenant.ts";
import type { Reader } from "./control-database.ts";
import { ordinaryPermissions } from "./keys.ts";
import { hasOwner } from "./memberships.ts";
import { requireRole, resolveRoles, type ResolvedRole } from "./roles.ts";

/** Where a role applies. */
interface GrantPlace {
  readonly organizationId: string;
  readonly projectId: string | null;
}

/** @throws AppError permission_denied */
export function requireMayGrant(scope: Scope, permissions: Iterable<Permission>, what: string): void {
  const missing = [...permissions].find((permission) => !mayGrant(scope, permission));
  if (missing === undefined) return;
  throw new AppError("permission_denied", `${what} has the permission "${missing}", which you do not have.`, {
    param: "role",
  });
}

function mayGrant(scope: Scope, permission: Permission): boolean {
  const { operator, person, role } = scope.key;
  if (operator || scope.may(permission)) return true;
  const isOlderThanRoles = person === undefined && role === undefined;
  // Rules may give the role `owner` to groups, which `provision` can change.
  const isOfOwners = permission === "owner" || permission === "provision";
  return isOlderThanRoles && !isOfOwners && scope.may("admin");
}

/**
 * The role that a request names, if the caller may grant it.
 * @throws AppError invalid_request if it does not exist, or permission_denied
 */
export async function requireGrantable(
  database: Reader,
  scope: Scope,
  { role: named, ...place }: GrantPlace & { readonly role: string },
): Promise<ResolvedRole> {
  const role = await requireRole(database, place.organizationId, named);
  const isFirstOwner =
    role.name === "owner" &&
    place.projectId === null &&
    scope.may("admin") &&
    !(await hasOwner(database, place.organizationId));
  requireMayGrant(scope, isFirstOwner ? [] : neededFor(scope, role, place), `The role ${JSON.stringify(role.name)}`);
  return role;
}

interface KeyGrant {
  readonly organizationId: string;
  readonly role?: string | undefined;
  readonly permissions?: readonly Permission[] | undefined;
}

/**
 * The permissions that a key gets by its role or its own list.
 * @throws AppError permission_denied if the caller may not grant them, invalid_request if the role does not exist
 */
export async function requireKeyGrant(database: Reader, scope: Scope, key: KeyGrant): Promise<void> {
  requireMayGrant(scope, await grantedToKey(database, key), "The key");
}

async function grantedToKey(
  database: Reader,
  { organizationId, permissions, role: named }: KeyGrant,
): Promise<Iterable<Permission>> {
  if (named === undefined) return permissionsOfKey(permissions ?? ordinaryPermissions);
  const role = await requireRole(database, organizationId, named);
  // No key can have this role; creating one fails with an error that says so.
  return role.permissions.has("owner") ? [] : permissionsOfRoleKey(role.permissions);
}

/**
 * Refuses to change or remove a role that the caller could not grant.
 * @throws AppError permission_denied
 */
export async function requireRemovable(
  database: Reader,
  scope: Scope,
  memberships: readonly {
    readonly role: string;
    readonly project_id: string | null;
    readonly organization_id: string;
  }[],
): Promise<void> {
  const roles = await resolveRoles(
    database,
    memberships.map(({ role }) => role),
  );
  for (const { organization_id: organizationId, project_id: projectId, role: reference } of memberships) {
    const role = roles.get(reference);
    if (role === undefined) continue;
    const needed = neededFor(scope, role, { organizationId, projectId });
    requireMayGrant(scope, needed, `The person's role ${JSON.stringify(role.name)}`);
  }
}

/** An administrator of the organization is above the owners of its projects. */
function neededFor(scope: Scope, role: ResolvedRole, { projectId }: GrantPlace): readonly Permission[] {
  const isAbove = projectId !== null && scope.key.projectName === undefined && scope.may("admin");
  return [...role.permissions].filter((permission) => !(isAbove && permission === "owner"));
}
