/** What requests of the AI Refinery SDK have in common: the organization that they name, and the form of errors. */
import type { ErrorWriter, RouteOptions } from "../http/route.ts";
import { namedOrganization, requireWholeOrganization } from "../tenancy/authority.ts";
import type { ControlDatabase, Reader } from "../tenancy/control-database.ts";
import { resolveRoles } from "../tenancy/roles.ts";
import type { Scope } from "../tenant.ts";
import type { PermissionsOf } from "./sdk-objects.ts";

/** The SDK shows the text of `error`. */
const writeError: ErrorWriter = ({ code, message, param }) => ({
  bytes: Buffer.from(JSON.stringify({ error: message, code, param })),
  type: "application/json",
});
export const errorForm: RouteOptions = { writeError, errorsUnder: "/governance" };

/** The organization that the request names, or the caller's own. @throws AppError organization_mismatch, not_found */
export async function organizationOf(
  control: ControlDatabase,
  scope: Scope,
  named: string | null | undefined,
): Promise<string> {
  return (await namedOrganization(control, scope, named ?? undefined)) ?? scope.organizationId;
}

/** The SDK knows no roles in projects. @throws AppError */
export async function wholeOrganizationOf(
  control: ControlDatabase,
  scope: Scope,
  named: string | null | undefined,
): Promise<string> {
  requireWholeOrganization(scope, "administer its people with the AI Refinery SDK");
  return organizationOf(control, scope, named);
}

/** Reads the permissions of the roles of memberships. */
export async function permissionsOfRoles(
  database: Reader,
  memberships: Iterable<{ readonly role: string }>,
): Promise<PermissionsOf> {
  const roles = await resolveRoles(
    database,
    [...memberships].map(({ role }) => role),
  );
  return (role) => roles.get(role)?.permissions;
}
