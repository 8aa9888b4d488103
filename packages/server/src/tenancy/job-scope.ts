/**
 * The scope of a job of this server, which acts for an organization without a caller: it is created from the organization's row
 * in the control database, may only read telemetry, without recorded content, and is limited to one project if the job is.
 */
import { AppError } from "../errors.ts";
import type { Permission } from "../permissions.ts";
import { Scope } from "../tenant.ts";
import type { ControlDatabase, Reader } from "./control-database.ts";

/** An organization in use. */
export interface ActiveOrganization {
  readonly id: string;
  readonly name: string;
}

/** The organizations that are not archived. @throws AppError overloaded while the database is unreachable */
export function listActiveOrganizations(control: ControlDatabase): Promise<readonly ActiveOrganization[]> {
  return control.read((database) => activeOrganizations(database).execute());
}

function activeOrganizations(database: Reader) {
  return database.selectFrom("organizations").select(["id", "name"]).where("archived_at", "is", null).orderBy("id");
}

interface JobScopeRequest {
  readonly job: string;
  readonly organizationId: string;
  /** Undefined: every project. */
  readonly project: string | undefined;
}

/** Undefined if the organization does not exist or is archived. @throws AppError overloaded while the database is unreachable */
export async function openJobScope(
  control: ControlDatabase,
  { job, organizationId, project }: JobScopeRequest,
): Promise<Scope | undefined> {
  const row = await control.read((database) =>
    activeOrganizations(database).where("id", "=", organizationId).executeTakeFirst(),
  );
  return row === undefined ? undefined : scopeOf(row, { job, project });
}

interface OrganizationsRequest {
  readonly job: string;
  /** An organization's identifier or name; undefined: all, archived ones included. */
  readonly named: string | undefined;
}

/** Scopes for an operator's query over organizations. @throws AppError not_found if the named one does not exist */
export async function openOrganizationScopes(
  control: ControlDatabase,
  { job, named }: OrganizationsRequest,
): Promise<readonly Scope[]> {
  const rows = await control.read((database) => {
    const all = database.selectFrom("organizations").select(["id", "name"]).orderBy("id");
    const some =
      named === undefined ? all : all.where((row) => row.or([row("id", "=", named), row("name", "=", named)]));
    return some.execute();
  });
  if (named !== undefined && rows.length === 0) {
    throw new AppError("not_found", `The organization ${JSON.stringify(named)} does not exist.`, {
      param: "organization_id",
    });
  }
  return rows.map((row) => scopeOf(row, { job, project: undefined }));
}

/** The scope of the job that deletes data, also of organizations that are archived or no longer exist. */
export function openDeletionScope(deletion: { readonly organizationId: string }): Scope {
  return scopeOf({ id: deletion.organizationId, name: "" }, { job: "deletions", project: undefined }, [
    "telemetry_read",
    "content_read",
  ]);
}

function scopeOf(
  row: ActiveOrganization,
  { job, project }: Omit<JobScopeRequest, "organizationId">,
  permissions: readonly Permission[] = ["telemetry_read"],
): Scope {
  return Scope.fromKey({
    job,
    keyId: job,
    keyName: job,
    organizationId: row.id,
    organizationName: row.name,
    operator: false,
    projectName: project,
    permissions: new Set(permissions),
    keyLimits: {},
    limitsKeyId: job,
    organizationLimits: {},
    allowedModels: undefined,
  });
}
