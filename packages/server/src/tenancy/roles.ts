/** Roles: the built-in ones and those that organizations define. Callers check permissions. */
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { builtInRoleNames, builtInRoles, isBuiltInRole, withIncluded, type Permission } from "../permissions.ts";
import type { Reader } from "./control-database.ts";
import { parseAllowedModels, parsePermissions } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

type RoleRow = Selectable<ControlTables["roles"]>;

/** A role as a membership or a key refers to it. */
export interface ResolvedRole {
  /** What the tables store: the name of a built-in role, or the identifier of another. */
  readonly reference: string;
  readonly name: string;
  /** With those that they include. */
  readonly permissions: ReadonlySet<Permission>;
  /** Patterns of model IDs; undefined: all. */
  readonly allowedModels: readonly string[] | undefined;
}

/**
 * The role with this name or identifier.
 * @throws AppError invalid_request if the organization does not have it
 */
export async function requireRole(database: Reader, organizationId: string, named: string): Promise<ResolvedRole> {
  if (isBuiltInRole(named)) return builtIn(named);
  const row = await database
    .selectFrom("roles")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where((where) => where.or([where("id", "=", named), where("name", "=", named)]))
    .executeTakeFirst();
  if (row !== undefined) return resolved(row);
  throw new AppError(
    "invalid_request",
    `role is ${JSON.stringify(named)}; expected ${builtInRoleNames.map((name) => JSON.stringify(name)).join(", ")}, or the name of a role of the organization.`,
    { param: "role" },
  );
}

/** The roles to which rows of an organization refer; an unknown reference grants nothing. */
export async function resolveRoles(
  database: Reader,
  references: Iterable<string>,
): Promise<ReadonlyMap<string, ResolvedRole>> {
  const all = new Set(references);
  const own = [...all].filter((reference) => !isBuiltInRole(reference));
  const rows = own.length === 0 ? [] : await database.selectFrom("roles").selectAll().where("id", "in", own).execute();
  return new Map([
    ...[...all].filter(isBuiltInRole).map((name) => [name, builtIn(name)] as const),
    ...rows.map((row) => [row.id, resolved(row)] as const),
  ]);
}

function builtIn(name: keyof typeof builtInRoles): ResolvedRole {
  return {
    reference: name,
    name,
    permissions: withIncluded(builtInRoles[name].permissions),
    allowedModels: undefined,
  };
}

function resolved(row: RoleRow): ResolvedRole {
  return {
    reference: row.id,
    name: row.name,
    permissions: withIncluded(parsePermissions(row.permissions)),
    allowedModels: parseAllowedModels(row.allowed_models) ?? undefined,
  };
}
