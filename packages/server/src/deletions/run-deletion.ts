/**
 * The steps of one deletion: hide the rows from queries, sweep what was on the way, see that the files are gone. Each can be
 * repeated, and the control database says which is next, so a crash at any time loses nothing.
 */
import type { Store } from "../store/store.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { removeOrganization, removeProject } from "../tenancy/delete-tenants.ts";
import { type OpenDeletion, recordProgress } from "../tenancy/deletions.ts";
import { openDeletionScope } from "../tenancy/job-scope.ts";
import { countRows, mostRows, sumOfRows } from "./count-rows.ts";
import { type ErasingParts, eraseRows, eraseUnusedDescriptions, readTimeoutMs } from "./erase-rows.ts";
import { SelectedRows } from "./selection.ts";
import { shortenRetention } from "./shorten-retention.ts";

export interface DeletionParts {
  readonly control: ControlDatabase;
  readonly store: Pick<Store, "eraser" | "open">;
  /** How long after the first step rows may still arrive that were on the way. */
  readonly sweepDelayMs: number;
}

const dayNanos = 86_400_000_000_000n;

/** Does the next step if it is due. @throws AppError if it fails; it is repeated later */
export async function runDeletion(deletion: OpenDeletion, parts: DeletionParts, signal: AbortSignal): Promise<void> {
  const { control, store, sweepDelayMs } = parts;
  const erasing: ErasingParts = { store, scope: openDeletionScope(deletion), signal };
  if (deletion.hidden_at === null) await hide(deletion, control, erasing);
  else if (deletion.swept_at === null) {
    if (Date.now() >= deletion.hidden_at * 1000 + sweepDelayMs) await sweep(deletion, control, erasing);
  } else if (await store.eraser.hasOnlyFilesSince(deletion.swept_at, signal)) {
    await recordProgress(control, deletion.id, { ...succeeded, status: "done", erased_at: nowSeconds() });
  }
}

/** Within this time after the request, what has arrived is what the caller meant. */
const promptSeconds = 60;

const succeeded = { error: null, attempts: 0, retry_at: null } as const;

async function hide(deletion: OpenDeletion, control: ControlDatabase, erasing: ErasingParts): Promise<void> {
  const { created_at, id, kind, started_at } = deletion;
  const { scope, signal, store } = erasing;
  if (started_at === null) await recordProgress(control, id, { status: "running", started_at: nowSeconds() });
  else {
    await recordProgress(control, id, { status: "running", retry_at: null });
    // The attempt before this one may have erased rows without their sums.
    await store.eraser.eraseSums(scope, signal);
  }
  await store.eraser.requireVisible(scope, signal);
  // The first attempt also deletes rows that a sender has dated ahead.
  const isLate = started_at !== null || nowSeconds() - created_at > promptSeconds;
  const selected = kind === "telemetry" && isLate ? receivedBefore(deletion) : selectedRows(deletion);
  const counted = await countRows(store.open(scope), selected, { signal, timeoutMs: readTimeoutMs });
  await recordProgress(control, id, { rows: mostRows(deletion.rows, counted) });
  await eraseSelected(deletion, selected, erasing);
  await recordProgress(control, id, { ...succeeded, hidden_at: nowSeconds() });
}

/**
 * Deletes what was on the way in the first step: rows in the journals of other servers, calls that had begun, rows that were written
 * with settings of before.
 */
async function sweep(deletion: OpenDeletion, control: ControlDatabase, erasing: ErasingParts): Promise<void> {
  const { id, kind, organizationId, selection } = deletion;
  const { scope, signal, store } = erasing;
  await store.eraser.requireVisible(scope, signal);
  const selected = kind === "telemetry" ? receivedBefore(deletion) : selectedRows(deletion);
  const more = await countRows(store.open(scope), selected, { signal, timeoutMs: readTimeoutMs });
  if (Object.values(more).some((rows) => rows > 0)) {
    await recordProgress(control, id, { rows: sumOfRows(deletion.rows, more) });
    await eraseSelected(deletion, selected, erasing);
  } else await eraseUnusedDescriptions(erasing);
  if (kind === "organization") {
    await eraseSelected(deletion, selected, erasing);
    await store.eraser.eraseHours(scope, signal);
    await removeOrganization(control, organizationId);
  }
  if (kind === "project" && selection.project_id !== undefined) await removeProject(control, selection.project_id);
  await recordProgress(control, id, { ...succeeded, status: "running", swept_at: await store.eraser.now(signal) });
}

async function eraseSelected(deletion: OpenDeletion, selected: SelectedRows, erasing: ErasingParts): Promise<void> {
  await eraseRows(selected, erasing);
  const { retention_days: days } = deletion.selection;
  if (days !== undefined) await shortenRetention(selected, days, erasing);
  await eraseUnusedDescriptions(erasing);
}

function selectedRows({ kind, selection }: OpenDeletion): SelectedRows {
  if (kind !== "retention" || selection.retention_days === undefined) return new SelectedRows(selection);
  const end = BigInt(Date.now()) * 1_000_000n - BigInt(selection.retention_days) * dayNanos;
  return new SelectedRows({ ...selection, end: String(end) });
}

/** Rows of later are new data. */
function receivedBefore({ created_at, selection }: OpenDeletion): SelectedRows {
  const requested = BigInt(created_at) * 1_000_000_000n;
  const end = selection.end === undefined || BigInt(selection.end) > requested ? String(requested) : selection.end;
  return new SelectedRows({ ...selection, end });
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
