/**
 * Who may administer what: an operator everything, others with the permission their own organization, and a caller whose role is for
 * one project that project. Other objects are reported as not found (404), so that nothing leaks.
 * docs/adr/0241-people-and-roles.md
 */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import type { ControlDatabase } from "./control-database.ts";
import { isIdentifier } from "./row-values.ts";
import { listOrganizations } from "./organizations.ts";
import { listProjects } from "./projects.ts";

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

/** The organization to list from; undefined, for all, only for an operator. @throws AppError as `namedOrganization` */
export async function listedOrganization(
  control: ControlDatabase,
  scope: Scope,
  query: URLSearchParams,
): Promise<string | undefined> {
  const named = await namedOrganization(control, scope, query.get("organization_id") ?? undefined);
  return named ?? (scope.key.operator ? undefined : scope.organizationId);
}

/** The name of the project to which the caller is limited. */
export function boundProject({ key }: Scope): string | undefined {
  return key.operator ? undefined : key.projectName;
}

/** The identifier of the project to which the caller is limited. @throws AppError not_found if it does not exist */
export async function boundProjectId(control: ControlDatabase, scope: Scope): Promise<string | undefined> {
  const name = boundProject(scope);
  if (name === undefined) return undefined;
  const { data } = await listProjects(control, { organizationId: scope.organizationId, name, limit: 1 });
  if (data[0] !== undefined) return data[0].id;
  throw new AppError("not_found", `The project ${JSON.stringify(name)} does not exist.`);
}

/** @throws AppError permission_denied for a caller whose role is for one project */
export function requireWholeOrganization(scope: Scope, doing: string): void {
  const name = boundProject(scope);
  if (name === undefined) return;
  throw new AppError(
    "permission_denied",
    `Your role is for the project ${JSON.stringify(name)}; to ${doing} you need one for the organization.`,
  );
}

/** The project that the request names, or the one to which the caller is limited. @throws AppError not_found */
export async function requestedProject(
  control: ControlDatabase,
  scope: Scope,
  named: string | undefined,
): Promise<string | undefined> {
  const bound = await boundProjectId(control, scope);
  if (named === undefined || bound === undefined || named === bound) return named ?? bound;
  throw new AppError("not_found", `The project ${JSON.stringify(named)} does not exist.`, { param: "project_id" });
}
