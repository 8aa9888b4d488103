/** Organizations in the control database. Callers check permissions. */
import type { Selectable } from "kysely";
import type { Organization, OrganizationCreate, OrganizationUpdate, Page } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { defaultProjectName } from "../tenant.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";
import {
  newIdentifier,
  changeLimits,
  formatAllowedModels,
  parseAllowedModels,
  parseLimits,
  requireNotArchived,
  nowSeconds,
} from "./row-values.ts";
import { requireRemainingOperator } from "./operators.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import { insertProject } from "./projects.ts";
import type { ControlTables } from "./tables.ts";

export interface OrganizationFilter extends PageRequest {
  /** Only this organization. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly includeArchived?: boolean | undefined;
}

export async function listOrganizations(
  control: ControlDatabase,
  filter: OrganizationFilter,
): Promise<Page<Organization>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("organizations")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.search !== undefined) query = query.where(contains(["name", "id"], filter.search));
    if (filter.id !== undefined) query = query.where("id", "=", filter.id);
    if (filter.name !== undefined) query = query.where("name", "=", filter.name);
    if (filter.includeArchived !== true) query = query.where("archived_at", "is", null);
    return toPage(await query.execute(), filter.limit, toOrganization);
  });
}

/** @throws AppError not_found */
export async function getOrganization(control: ControlDatabase, id: string): Promise<Organization> {
  return control.read(async (database) => toOrganization(await requireOrganization(database, id)));
}

/**
 * Creates the organization and its project `default`.
 * @throws AppError conflict when the name is taken
 */
export async function createOrganization(control: ControlDatabase, input: OrganizationCreate): Promise<Organization> {
  return control.change((transaction) => insertOrganization(transaction, input));
}

/** Like `createOrganization`, in a transaction. */
export async function insertOrganization(transaction: Writer, input: OrganizationCreate): Promise<Organization> {
  const row = {
    id: newIdentifier("org"),
    name: input.name,
    limits: JSON.stringify(changeLimits({}, input.limits)),
    allowed_models: formatAllowedModels(input.allowed_models),
    created_at: nowSeconds(),
    archived_at: null,
  };
  await rejectNameConflict("organization", input.name, () =>
    transaction.insertInto("organizations").values(row).execute(),
  );
  await insertProject(transaction, { organizationId: row.id, name: defaultProjectName });
  return toOrganization(row);
}

/** @throws AppError not_found, or conflict when the name is taken or the organization is archived */
export async function updateOrganization(
  control: ControlDatabase,
  id: string,
  input: OrganizationUpdate,
): Promise<Organization> {
  return control.change(async (transaction) => {
    const row = await requireOrganization(transaction, id);
    requireNotArchived(row);
    const changed = {
      ...row,
      name: input.name ?? row.name,
      limits: JSON.stringify(changeLimits(parseLimits(row.limits), input.limits)),
      allowed_models:
        input.allowed_models === undefined ? row.allowed_models : formatAllowedModels(input.allowed_models),
    };
    const { name, limits, allowed_models } = changed;
    await rejectNameConflict("organization", name, () =>
      transaction.updateTable("organizations").set({ name, limits, allowed_models }).where("id", "=", id).execute(),
    );
    return toOrganization(changed);
  });
}

/**
 * Archives the organization and its projects and revokes its keys, permanently. Idempotent.
 * @throws AppError not_found, or conflict when no operator's key would be left
 */
export async function archiveOrganization(control: ControlDatabase, id: string): Promise<Organization> {
  return control.change((transaction) => archiveOrganizationIn(transaction, id));
}

/** Like `archiveOrganization`, in a transaction. */
export async function archiveOrganizationIn(transaction: Writer, id: string): Promise<Organization> {
  const row = await requireOrganization(transaction, id);
  if (row.archived_at !== null) return toOrganization(row);
  const now = nowSeconds();
  const archived = { archived_at: now };
  await requireRemainingOperator(transaction, async () => {
    await transaction.updateTable("organizations").set(archived).where("id", "=", id).execute();
    await transaction
      .updateTable("projects")
      .set(archived)
      .where("organization_id", "=", id)
      .where("archived_at", "is", null)
      .execute();
    await transaction
      .updateTable("keys")
      .set({ revoked_at: now })
      .where("organization_id", "=", id)
      .where("revoked_at", "is", null)
      .execute();
  });
  return toOrganization({ ...row, ...archived });
}

async function requireOrganization(database: Reader, id: string): Promise<OrganizationRow> {
  const row = await database.selectFrom("organizations").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `The organization ${JSON.stringify(id)} does not exist.`);
  return row;
}

type OrganizationRow = Selectable<ControlTables["organizations"]>;

function toOrganization(row: OrganizationRow): Organization {
  return {
    object: "organization",
    id: row.id,
    name: row.name,
    limits: parseLimits(row.limits) as Organization["limits"],
    allowed_models: parseAllowedModels(row.allowed_models),
    created_at: row.created_at,
    archived_at: row.archived_at,
  };
}
