/**
 * Who may administer what: an operator's key everything, any other key with the permission `admin` its own
 * organization. Objects of other organizations are reported as not found (404), so that nothing leaks.
 */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import type { ControlDatabase } from "./control-database.ts";
import { isIdentifier } from "./row-values.ts";
import { listOrganizations } from "./organizations.ts";

/** @throws AppError not_found when the organization is not the caller's */
export function requireReach(scope: Scope, organizationId: string, notFound: string): void {
  if (!scope.key.operator && organizationId !== scope.organizationId) throw new AppError("not_found", notFound);
}

/**
 * The identifier of the organization that a request gives by identifier or name; undefined if it gives none.
 * @throws AppError organization_mismatch, not_found
 */
export async function namedOrganization(
  control: ControlDatabase,
  scope: Scope,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  if (!scope.key.operator) {
    scope.requireOrganization(named);
    return scope.organizationId;
  }
  if (isIdentifier("org", named)) return named;
  const { data } = await listOrganizations(control, { name: named, limit: 1 });
  if (data[0] === undefined) {
    throw new AppError("not_found", `The organization ${JSON.stringify(named)} does not exist.`, {
      param: "organization_id",
    });
  }
  return data[0].id;
}
