/**
 * Deletions of data and their receipts in the control database. A row says what is to be deleted without saying what it contains:
 * IDs of conversations and end users are hashes. Callers check permissions. docs/adr/0042-deletion-backup-and-move.md
 */
import type { Selectable } from "kysely";
import type { Page } from "../api/admin.ts";
import type { DeletedRows, Deletion } from "../api/deletions.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { toPage, type PageRequest } from "./list-query.ts";
import { newIdentifier, nowSeconds } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

/** What is deleted; an absent member selects everything. */
export interface DeletionSelection {
  readonly project_id?: string | undefined;
  readonly project_name?: string | undefined;
  readonly conversation_sha256?: string | undefined;
  readonly end_user_sha256?: string | undefined;
  /** Nanoseconds since 1970; `end` is exclusive. */
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly retention_days?: number | undefined;
}

export interface NewDeletion {
  readonly kind: Deletion["kind"];
  readonly organizationId: string;
  readonly selection: DeletionSelection;
  /** The key that asks for it. */
  readonly requestedBy: string;
}

type Row = Selectable<ControlTables["deletions"]>;

/** A deletion that is not done. */
export interface OpenDeletion extends Pick<
  Row,
  "id" | "attempts" | "created_at" | "started_at" | "hidden_at" | "swept_at"
> {
  readonly kind: Deletion["kind"];
  readonly organizationId: string;
  readonly selection: DeletionSelection;
  readonly rows: DeletedRows;
}

/** Adds a deletion, in the transaction of what causes it. */
export async function insertDeletion(
  transaction: Writer,
  { kind, organizationId, requestedBy, selection }: NewDeletion,
): Promise<Deletion> {
  if (kind !== "organization") await requireFewOpen(transaction, organizationId);
  const row: Row = {
    id: newIdentifier("del"),
    kind,
    organization_id: organizationId,
    selection: JSON.stringify(selection),
    requested_by: requestedBy,
    status: "pending",
    rows: "{}",
    error: null,
    attempts: 0,
    created_at: nowSeconds(),
    started_at: null,
    hidden_at: null,
    swept_at: null,
    erased_at: null,
    retry_at: null,
  };
  await transaction.insertInto("deletions").values(row).execute();
  return toDeletion(row);
}

/** A tenant's deletions rewrite files that hold rows of others. */
const mostOpen = inputLimit({
  area: "Administration",
  bounds: "Deletions of one organization that are not done",
  value: 100,
  error: "rate_limited",
});
const retryAfterMs = 60_000;

/** @throws AppError rate_limited */
async function requireFewOpen(transaction: Writer, organizationId: string): Promise<void> {
  const open = await transaction
    .selectFrom("deletions")
    .select("id")
    .where("organization_id", "=", organizationId)
    .where("status", "!=", "done")
    .limit(mostOpen)
    .execute();
  if (open.length < mostOpen) return;
  throw new AppError(
    "rate_limited",
    `The organization has ${mostOpen} deletions that are not done, which is the limit. Wait until some are.`,
    { retryAfterMs },
  );
}

async function openOfProject(transaction: Writer, organizationId: string, kind: NewDeletion["kind"], name: string) {
  const rows = await transaction
    .selectFrom("deletions")
    .select(["id", "selection"])
    .where("organization_id", "=", organizationId)
    .where("kind", "=", kind)
    .where("status", "!=", "done")
    .execute();
  return rows
    .map(({ id, selection }) => ({ id, selection: JSON.parse(selection) as DeletionSelection }))
    .filter(({ selection }) => selection.project_name === name);
}

/** A new project with the name would lose its telemetry. @throws AppError conflict */
export async function requireNoProjectDeletion(
  transaction: Writer,
  { name, organizationId }: { readonly name: string; readonly organizationId: string },
): Promise<void> {
  const [open] = await openOfProject(transaction, organizationId, "project", name);
  if (open === undefined) return;
  throw new AppError(
    "conflict",
    `The deletion ${open.id} of a project ${JSON.stringify(name)} is not done. Wait until it is, or use another name.`,
  );
}

/** A retention that was shortened by mistake deletes no more than the new one does. */
export async function lengthenOpenRetentions(
  transaction: Writer,
  project: { readonly name: string; readonly organization_id: string; readonly retentionDays: number },
): Promise<void> {
  const { name, organization_id: organizationId, retentionDays } = project;
  for (const { id, selection } of await openOfProject(transaction, organizationId, "retention", name)) {
    if ((selection.retention_days ?? retentionDays) >= retentionDays) continue;
    const longer = JSON.stringify({ ...selection, retention_days: retentionDays });
    await transaction.updateTable("deletions").set({ selection: longer }).where("id", "=", id).execute();
  }
}

export async function createDeletion(control: ControlDatabase, deletion: NewDeletion): Promise<Deletion> {
  return control.change((transaction) => insertDeletion(transaction, deletion));
}

export async function listDeletions(
  control: ControlDatabase,
  filter: PageRequest & { readonly organizationId?: string | undefined },
): Promise<Page<Deletion>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("deletions")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.organizationId !== undefined) query = query.where("organization_id", "=", filter.organizationId);
    const { data, ...page } = toPage(await query.execute(), filter.limit, (row) => ({
      ...toDeletion(row),
      id: row.id,
    }));
    return { ...page, data };
  });
}

/** @throws AppError not_found */
export async function getDeletion(control: ControlDatabase, id: string): Promise<Deletion> {
  const row = await control.read((database) =>
    database.selectFrom("deletions").selectAll().where("id", "=", id).executeTakeFirst(),
  );
  if (row === undefined) throw new AppError("not_found", deletionNotFound(id));
  return toDeletion(row);
}

export function deletionNotFound(id: string): string {
  return `The deletion ${JSON.stringify(id)} does not exist.`;
}

/** Those that are not done, oldest first. */
export async function openDeletions(
  control: ControlDatabase,
): Promise<readonly (OpenDeletion & { retry_at: number | null })[]> {
  const rows = await control.read((database) =>
    database.selectFrom("deletions").selectAll().where("status", "!=", "done").orderBy("id").execute(),
  );
  return rows.map(({ kind, organization_id, rows: counted, selection, ...row }) => ({
    ...row,
    kind: kind as Deletion["kind"],
    organizationId: organization_id,
    selection: JSON.parse(selection) as DeletionSelection,
    rows: JSON.parse(counted) as DeletedRows,
  }));
}

type Progress = Partial<
  Pick<Row, "status" | "error" | "attempts" | "started_at" | "hidden_at" | "swept_at" | "erased_at" | "retry_at">
> & { readonly rows?: DeletedRows };

export async function recordProgress(control: ControlDatabase, id: string, progress: Progress): Promise<void> {
  const { rows, ...columns } = progress;
  const counted = rows === undefined ? {} : { rows: JSON.stringify(rows) };
  await control.write((transaction) =>
    transaction
      .updateTable("deletions")
      .set({ ...columns, ...counted })
      .where("id", "=", id)
      .execute(),
  );
}

function toDeletion(row: Row): Deletion {
  const selection = JSON.parse(row.selection) as DeletionSelection;
  return {
    object: "deletion",
    id: row.id,
    kind: row.kind as Deletion["kind"],
    organization_id: row.organization_id,
    ...receiptOf(selection),
    requested_by: row.requested_by,
    status: row.status,
    rows: JSON.parse(row.rows) as DeletedRows,
    error: row.error,
    created_at: row.created_at,
    started_at: row.started_at,
    hidden_at: row.hidden_at,
    erased_at: row.erased_at,
    retry_at: row.retry_at,
  };
}

/** The selection as a receipt shows it. */
export function receiptOf(selection: DeletionSelection) {
  return {
    project_id: selection.project_id ?? null,
    project_name: selection.project_name ?? null,
    conversation_sha256: selection.conversation_sha256 ?? null,
    end_user_sha256: selection.end_user_sha256 ?? null,
    start: selection.start ?? null,
    end: selection.end ?? null,
    retention_days: selection.retention_days ?? null,
  };
}
