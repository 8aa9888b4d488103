/** Projects in the control database, which group an organization's telemetry, with their settings. */
import type { Selectable } from "kysely";
import { defaultProjectSettings, type Page, type Project, type ProjectUpdate } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ProjectSettings } from "../tenant.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";
import { insertDeletion, lengthenOpenRetentions, requireNoProjectDeletion } from "./deletions.ts";
import { newIdentifier, requireNotArchived, requireActiveOrganization, requireRoom, nowSeconds } from "./row-values.ts";
import { requireRemainingOperator } from "./operators.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import type { ControlTables } from "./tables.ts";

const maximumProjects = inputLimit({
  area: "Administration",
  bounds: "Projects of one organization that are not archived",
  value: 10_000,
  error: "conflict",
});

export interface ProjectFilter extends PageRequest {
  /** Only this project. */
  readonly id?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly name?: string | undefined;
  readonly includeArchived?: boolean | undefined;
}

export interface NewProject {
  readonly organizationId: string;
  readonly name: string;
  readonly settings?: ProjectUpdate["settings"];
}

export async function listProjects(control: ControlDatabase, filter: ProjectFilter): Promise<Page<Project>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("projects")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.search !== undefined) query = query.where(contains(["name", "id"], filter.search));
    if (filter.organizationId !== undefined) query = query.where("organization_id", "=", filter.organizationId);
    if (filter.id !== undefined) query = query.where("id", "=", filter.id);
    if (filter.name !== undefined) query = query.where("name", "=", filter.name);
    if (filter.includeArchived !== true) query = query.where("archived_at", "is", null);
    return toPage(await query.execute(), filter.limit, toProject);
  });
}

/** @throws AppError not_found */
export async function getProject(control: ControlDatabase, id: string): Promise<Project> {
  return control.read(async (database) => toProject(await requireProject(database, id)));
}

/** @throws AppError not_found (the organization), or conflict when it is archived, or the name is taken or being deleted */
export async function createProject(control: ControlDatabase, input: NewProject): Promise<Project> {
  return control.change(async (transaction) => {
    await requireActiveOrganization(transaction, input.organizationId);
    await requireNoProjectDeletion(transaction, input);
    return insertProject(transaction, input);
  });
}

/** Like `createProject`, in a transaction that has checked the organization. */
export async function insertProject(transaction: Writer, input: NewProject): Promise<Project> {
  await requireRoom(transaction, {
    table: "projects",
    endedAt: "archived_at",
    organizationId: input.organizationId,
    maximum: maximumProjects,
    what: "projects",
    remedy: "Archive",
  });
  const row = {
    id: newIdentifier("proj"),
    organization_id: input.organizationId,
    name: input.name,
    settings: JSON.stringify({ ...defaultProjectSettings, ...input.settings }),
    created_at: nowSeconds(),
    archived_at: null,
  };
  await rejectNameConflict("project", input.name, () => transaction.insertInto("projects").values(row).execute());
  return toProject(row);
}

/**
 * A shorter retention also deletes telemetry that is older.
 * @param requestedBy the caller's key
 * @throws AppError not_found, or conflict when it is archived
 */
export async function updateProject(
  control: ControlDatabase,
  id: string,
  { requestedBy, settings: changes }: ProjectUpdate & { readonly requestedBy: string },
): Promise<Project> {
  return control.change(async (transaction) => {
    const row = await requireProject(transaction, id);
    requireNotArchived(row);
    const before = parseSettings(row.settings);
    const after = { ...before, ...changes };
    const settings = JSON.stringify(after);
    await transaction.updateTable("projects").set({ settings }).where("id", "=", id).execute();
    if (after.retention_days < before.retention_days) {
      await insertDeletion(transaction, {
        kind: "retention",
        organizationId: row.organization_id,
        selection: { project_name: row.name, retention_days: after.retention_days },
        requestedBy,
      });
    } else if (after.retention_days > before.retention_days) {
      await lengthenOpenRetentions(transaction, { ...row, retentionDays: after.retention_days });
    }
    return toProject({ ...row, settings });
  });
}

/**
 * Archives the project and revokes the keys that are bound to it, permanently. Idempotent.
 * @throws AppError not_found, or conflict when no operator's key would be left
 */
export async function archiveProject(control: ControlDatabase, id: string): Promise<Project> {
  return control.change((transaction) => archiveProjectIn(transaction, id));
}

/** Like `archiveProject`, in a transaction. */
export async function archiveProjectIn(transaction: Writer, id: string): Promise<Project> {
  const row = await requireProject(transaction, id);
  if (row.archived_at !== null) return toProject(row);
  const now = nowSeconds();
  await requireRemainingOperator(transaction, async () => {
    await transaction.updateTable("projects").set({ archived_at: now }).where("id", "=", id).execute();
    await transaction
      .updateTable("keys")
      .set({ revoked_at: now })
      .where("project_id", "=", id)
      .where("revoked_at", "is", null)
      .execute();
  });
  return toProject({ ...row, archived_at: now });
}

export function parseSettings(text: string): ProjectSettings {
  return { ...defaultProjectSettings, ...(JSON.parse(text) as Partial<ProjectSettings>) };
}

async function requireProject(database: Reader, id: string): Promise<ProjectRow> {
  const row = await database.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `The project ${JSON.stringify(id)} does not exist.`);
  return row;
}

type ProjectRow = Selectable<ControlTables["projects"]>;

function toProject(row: ProjectRow): Project {
  return {
    object: "project",
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    settings: parseSettings(row.settings),
    created_at: row.created_at,
    archived_at: row.archived_at,
  };
}
