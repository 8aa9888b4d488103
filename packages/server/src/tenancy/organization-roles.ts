/** The roles that organizations define. Callers check permissions. */
import type { Selectable } from "kysely";
import type { Page } from "../api/admin.ts";
import type { Role, RoleCreate, RoleUpdate } from "../api/people.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { builtInRoleNames, builtInRoles, isBuiltInRole, withIncluded } from "../permissions.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";
import { toPage, type PageRequest } from "./list-query.ts";
import {
  formatAllowedModels,
  newIdentifier,
  nowSeconds,
  parseAllowedModels,
  parsePermissions,
  requireActiveOrganization,
  requireRoom,
} from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

const maximumRoles = inputLimit({
  area: "Administration",
  bounds: "Roles that an organization defines",
  value: 200,
  error: "conflict",
});

export type RoleRow = Selectable<ControlTables["roles"]>;

interface RoleFilter extends PageRequest {
  readonly organizationId: string | undefined;
}

/** The built-in roles and those of the organization, or of all. */
export async function listRoles(control: ControlDatabase, filter: RoleFilter): Promise<Page<Role>> {
  const { after, limit, order = "asc", organizationId } = filter;
  const page = await control.read(async (database) => {
    let query = database
      .selectFrom("roles")
      .selectAll()
      .orderBy("id", order)
      .limit(limit + 1);
    if (organizationId !== undefined) query = query.where("organization_id", "=", organizationId);
    if (after !== undefined) query = query.where("id", order === "desc" ? "<" : ">", after);
    return toPage(await query.execute(), limit, toRole);
  });
  return after === undefined ? { ...page, data: [...builtIn, ...page.data] } : page;
}

/** @throws AppError not_found (the organization), or conflict when it is archived, has too many roles or the name is taken */
export async function insertRole(
  transaction: Writer,
  { organizationId, ...input }: Omit<RoleCreate, "organization_id"> & { readonly organizationId: string },
): Promise<Role> {
  await requireActiveOrganization(transaction, organizationId);
  await requireRoom(transaction, {
    table: "roles",
    organizationId,
    maximum: maximumRoles,
    what: "roles",
    remedy: "Delete",
  });
  requireFreeName(input.name);
  const now = nowSeconds();
  const row: RoleRow = {
    id: newIdentifier("role"),
    organization_id: organizationId,
    name: input.name,
    permissions: JSON.stringify([...new Set(input.permissions)]),
    allowed_models: formatAllowedModels(input.allowed_models),
    created_at: now,
    updated_at: now,
  };
  await rejectNameConflict("role", input.name, () => transaction.insertInto("roles").values(row).execute());
  return toRole(row);
}

/** @throws AppError conflict when the name is taken */
export async function changeRole(transaction: Writer, row: RoleRow, input: RoleUpdate): Promise<Role> {
  if (input.name !== undefined) requireFreeName(input.name);
  const changed = {
    name: input.name ?? row.name,
    permissions: input.permissions === undefined ? row.permissions : JSON.stringify([...new Set(input.permissions)]),
    allowed_models: input.allowed_models === undefined ? row.allowed_models : formatAllowedModels(input.allowed_models),
    updated_at: nowSeconds(),
  };
  await rejectNameConflict("role", changed.name, () =>
    transaction.updateTable("roles").set(changed).where("id", "=", row.id).execute(),
  );
  return toRole({ ...row, ...changed });
}

/** @throws AppError conflict while a person or a key that is not revoked has it */
export async function removeRole(transaction: Writer, row: RoleRow): Promise<void> {
  const member = await transaction
    .selectFrom("memberships")
    .select("id")
    .where("role", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  const key = await transaction
    .selectFrom("keys")
    .select("id")
    .where("role", "=", row.id)
    .where("revoked_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  const user = member ?? key;
  if (user !== undefined) {
    throw new AppError(
      "conflict",
      `The role ${JSON.stringify(row.name)} is in use, for example by ${user.id}. Change or remove those first.`,
    );
  }
  await transaction.deleteFrom("roles").where("id", "=", row.id).execute();
}

/** @throws AppError not_found, or conflict for a built-in role */
export async function requireRoleRow(database: Reader, id: string): Promise<RoleRow> {
  if (isBuiltInRole(id)) {
    throw new AppError("conflict", `The role ${JSON.stringify(id)} is built in and cannot change. Define another one.`);
  }
  const row = await database.selectFrom("roles").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", roleNotFound(id));
  return row;
}

export function roleNotFound(id: string): string {
  return `The role ${JSON.stringify(id)} does not exist.`;
}

/** A role is named by its name or its identifier, so these must not be alike. */
function requireFreeName(name: string): void {
  if (!isBuiltInRole(name) && !name.startsWith("role_")) return;
  throw new AppError(
    "conflict",
    `name is ${JSON.stringify(name)}; names of built-in roles and names that begin with "role_" are taken.`,
    { param: "name" },
  );
}

const builtIn: readonly Role[] = builtInRoleNames.map((name) => ({
  object: "role",
  id: name,
  organization_id: null,
  name,
  permissions: [...withIncluded(builtInRoles[name].permissions)],
  allowed_models: null,
  created_at: null,
  updated_at: null,
}));

export function toRole(row: RoleRow): Role {
  return {
    object: "role",
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    permissions: [...withIncluded(parsePermissions(row.permissions))],
    allowed_models: parseAllowedModels(row.allowed_models),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
