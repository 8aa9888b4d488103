/** Groups of alert rules in the control database, created through the admin API. */
import type { Selectable } from "kysely";
import type { AlertGroup, AlertGroupUpdate } from "../api/alert-groups.ts";
import type { AlertGroupDefinition } from "../api/alert-rules.ts";
import type { Page } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ControlDatabase, Reader } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import { newIdentifier, nowSeconds, requireActiveOrganization, requireRoom } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

export interface StoredAlertGroup {
  readonly id: string;
  readonly organizationId: string;
  readonly definition: AlertGroupDefinition;
}

interface AlertGroupFilter extends PageRequest {
  readonly organizationId?: string | undefined;
  readonly name?: string | undefined;
}

const maximumGroups = inputLimit({
  area: "Alerts",
  bounds: "Groups of alert rules that an organization creates through the admin API",
  value: 100,
  error: "conflict",
});

type Row = Selectable<ControlTables["alert_groups"]>;

/** The groups of all organizations. */
export async function loadStoredGroups(control: ControlDatabase): Promise<readonly StoredAlertGroup[]> {
  const rows = await control.read((database) =>
    database.selectFrom("alert_groups").selectAll().orderBy("id").execute(),
  );
  return rows.map((row) => ({ id: row.id, organizationId: row.organization_id, definition: definitionOf(row) }));
}

export async function listAlertGroups(control: ControlDatabase, filter: AlertGroupFilter): Promise<Page<AlertGroup>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("alert_groups")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.search !== undefined) query = query.where(contains(["name", "id"], filter.search));
    if (filter.organizationId !== undefined) query = query.where("organization_id", "=", filter.organizationId);
    if (filter.name !== undefined) query = query.where("name", "=", filter.name);
    return toPage(await query.execute(), filter.limit, toAlertGroup);
  });
}

/** @throws AppError not_found */
export async function getAlertGroup(control: ControlDatabase, id: string): Promise<AlertGroup> {
  return control.read(async (database) => toAlertGroup(await requireAlertGroup(database, id)));
}

/** @throws AppError not_found (the organization), or conflict when it is archived, has too many groups or the name is taken */
export async function createAlertGroup(
  control: ControlDatabase,
  organizationId: string,
  { name, ...definition }: AlertGroupDefinition,
): Promise<AlertGroup> {
  return control.change(async (transaction) => {
    await requireActiveOrganization(transaction, organizationId);
    await requireRoom(transaction, {
      table: "alert_groups",
      organizationId,
      maximum: maximumGroups,
      what: "groups of alert rules",
      remedy: "Delete",
    });
    const now = nowSeconds();
    const row = {
      id: newIdentifier("agrp"),
      organization_id: organizationId,
      name,
      definition: JSON.stringify(definition),
      created_at: now,
      updated_at: now,
    };
    await rejectNameConflict("group", name, () => transaction.insertInto("alert_groups").values(row).execute());
    return toAlertGroup(row);
  });
}

/**
 * @param check called with the changed definition, in the transaction
 * @throws AppError not_found, conflict, or what `check` throws
 */
export async function updateAlertGroup(
  control: ControlDatabase,
  id: string,
  { changes, check }: { changes: AlertGroupUpdate; check: (changed: AlertGroupDefinition) => Promise<void> },
): Promise<AlertGroup> {
  return control.change(async (transaction) => {
    const row = await requireAlertGroup(transaction, id);
    const { name, ...definition } = { ...definitionOf(row), ...changes };
    await check({ name, ...definition });
    const changed = { name, definition: JSON.stringify(definition), updated_at: nowSeconds() };
    await rejectNameConflict("group", name, () =>
      transaction.updateTable("alert_groups").set(changed).where("id", "=", id).execute(),
    );
    return toAlertGroup({ ...row, ...changed });
  });
}

/** @throws AppError not_found */
export async function deleteAlertGroup(control: ControlDatabase, id: string): Promise<AlertGroup> {
  return control.change(async (transaction) => {
    const row = await requireAlertGroup(transaction, id);
    await transaction.deleteFrom("alert_groups").where("id", "=", id).execute();
    return toAlertGroup(row);
  });
}

async function requireAlertGroup(database: Reader, id: string): Promise<Row> {
  const row = await database.selectFrom("alert_groups").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", alertGroupNotFound(id));
  return row;
}

export function alertGroupNotFound(id: string): string {
  return `The group of alert rules ${JSON.stringify(id)} does not exist.`;
}

function definitionOf({ definition, name }: Row): AlertGroupDefinition {
  return { name, ...(JSON.parse(definition) as Omit<AlertGroupDefinition, "name">) };
}

function toAlertGroup(row: Row): AlertGroup {
  const { created_at, id, organization_id, updated_at } = row;
  return { object: "alert_group", id, organization_id, ...definitionOf(row), created_at, updated_at };
}
