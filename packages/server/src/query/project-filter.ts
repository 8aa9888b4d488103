/** Decides which project a query reads: the one of its `project_name`, its header `x-project`, or its key. */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";

interface TenantParameters {
  readonly organization_id?: string | null | undefined;
  readonly project_name?: string | null | undefined;
}

/**
 * The project to read; undefined means every project of the organization.
 * @throws AppError organization_mismatch or project_mismatch
 */
export function projectOf(scope: Scope, parameters: TenantParameters): string | undefined {
  scope.requireOrganization(parameters.organization_id);
  const bound = scope.key.projectName;
  const asked = parameters.project_name ?? undefined;
  if (bound !== undefined && asked !== undefined && asked !== bound) {
    throw new AppError(
      "project_mismatch",
      `This API key is bound to the project ${JSON.stringify(bound)}; project_name is ${JSON.stringify(asked)}.`,
      { param: "project_name" },
    );
  }
  return asked ?? scope.namedProject;
}
