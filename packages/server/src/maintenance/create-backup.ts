/**
 * Backs up a whole installation or one organization to a folder or S3-compatible storage, also while the server runs: first telemetry, then the control
 * database, so that every organization of the telemetry is in it.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { schemaVersion } from "../store/migrations.ts";
import {
  columnsOf,
  nameOf,
  tablesInOrder,
  type PartRows,
  type TelemetryTransfer,
} from "../store/transfer/telemetry-transfer.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { type ControlRow, readControlRows } from "../tenancy/control-rows.ts";
import type { BackupStorage, StoredFile } from "./backup-storage.ts";
import { openInstallation, requireCurrentControl, requireCurrentTelemetry, type Installation } from "./installation.ts";
import {
  configurationFile,
  controlFile,
  formatVersion,
  type Manifest,
  telemetryPath,
  type TelemetryFile,
} from "./manifest.ts";

export interface MaintenanceProgress {
  /** What is copied, such as `spans of 2026-11-24`. */
  readonly part: string;
  readonly doneRows: number;
  readonly totalRows: number;
}

export interface BackupOptions {
  readonly config: Config;
  /** The configuration file, if there is one. */
  readonly configFile: string | undefined;
  /** Empty. */
  readonly storage: BackupStorage;
  /** Name or ID of the only organization to back up. */
  readonly organization?: string | undefined;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
  /** Called with a sentence about files that a failed backup could not remove. */
  readonly onLeft?: ((sentence: string) => void) | undefined;
}

type Selected = NonNullable<Manifest["organization"]>;

/** A failed backup leaves the storage empty. @throws AppError, or the signal's reason */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { config, signal, storage } = options;
  await using installation = await openInstallation(config, signal);
  const state = await installation.migrations();
  requireCurrentControl(state);
  await using stack = new AsyncDisposableStack();
  const control = stack.adopt(await installation.openControl(), (each) => each.close());
  const organization =
    options.organization === undefined ? null : await findOrganization(control, options.organization);
  await storage.begin(signal);
  const begunSeconds = Math.floor(Date.now() / 1000);
  try {
    const telemetry = installation.hasStore ? await copyTelemetry(installation, options, organization) : null;
    const rows = (await readControlRows(control, organization?.id, signal)).map((row) => reopened(row, begunSeconds));
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
    const stored = await storage.write(controlFile, lines.join(""), signal);
    const manifest: Manifest = {
      format: "sounding-backup",
      format_version: formatVersion,
      id: randomUUID(),
      created_at: new Date().toISOString(),
      server_version: options.version,
      organization,
      control: { ...stored, rows: rows.length, migrations: [...state.applied] },
      telemetry,
      configuration: organization === null ? await copyConfiguration(options) : null,
    };
    signal.throwIfAborted();
    await storage.complete(manifest, signal);
    return manifest;
  } catch (error) {
    const left = await storage.discard();
    if (left !== undefined) options.onLeft?.(left);
    throw error;
  }
}

/** The backup may have rows that a deletion has erased since: it is carried out again after a restore. */
function reopened(row: ControlRow, begunSeconds: number): ControlRow {
  const { erased_at: erasedAt } = row.values;
  if (row.table !== "deletions" || (erasedAt != null && Number(erasedAt) < begunSeconds)) return row;
  const again = { status: "pending", error: null, attempts: 0, hidden_at: null, swept_at: null, erased_at: null };
  return { ...row, values: { ...row.values, ...again, retry_at: null } };
}

async function copyConfiguration({ configFile, signal, storage }: BackupOptions): Promise<Manifest["configuration"]> {
  if (configFile === undefined) return null;
  return await storage.write(configurationFile, await readFile(configFile), signal);
}

/** @throws AppError not_found */
async function findOrganization(control: ControlDatabase, nameOrId: string): Promise<Selected> {
  const rows = await control.read((database) =>
    database
      .selectFrom("organizations")
      .select(["id", "name"])
      .where((where) => where.or([where("id", "=", nameOrId), where("name", "=", nameOrId)]))
      // An archived organization only if no other has its name.
      .orderBy("archived_at", (order) => order.asc().nullsFirst())
      .limit(1)
      .execute(),
  );
  if (rows[0] === undefined)
    throw new AppError("not_found", `The organization ${JSON.stringify(nameOrId)} does not exist.`);
  return rows[0];
}

async function copyTelemetry(
  installation: Installation,
  options: BackupOptions,
  selected: Selected | null,
): Promise<Manifest["telemetry"]> {
  const { signal, storage, onProgress = () => {} } = options;
  await installation.drainJournal();
  await using opened = await installation.openTelemetry();
  const { transfer } = opened;
  requireCurrentTelemetry(await transfer.storedVersion(signal), schemaVersion);
  const selection = { organization: selected?.id, signal };
  const parts = [];
  for (const table of tablesInOrder) parts.push(...(await transfer.parts(table, selection)));
  const totalRows = parts.reduce((sum, { rows }) => sum + rowsOf(rows), 0);
  let doneRows = 0;
  const files: TelemetryFile[] = [];
  for (const { part, rows } of parts) {
    onProgress({ part: nameOf(part), doneRows, totalRows });
    const file = { table: part.table, day: part.day ?? null };
    const add = (source: string): Promise<StoredFile> => storage.add(telemetryPath(file), source, signal);
    const stored = await transfer.exported(part, selection, add, await installation.transferFolder(storage.folder));
    const organizations = await leastRows(transfer, { rows, part, selection });
    files.push({ ...file, ...stored, organizations });
    doneRows += rowsOf(rows);
  }
  onProgress({ part: "telemetry", doneRows: totalRows, totalRows });
  const columns = Object.fromEntries(tablesInOrder.map((table) => [table, [...columnsOf(table)]]));
  return { schema_version: schemaVersion, columns, files };
}

function rowsOf(rows: readonly PartRows[]): number {
  return rows.reduce((sum, each) => sum + each.rows, 0);
}

interface CountedPart {
  readonly rows: readonly PartRows[];
  readonly part: Parameters<TelemetryTransfer["exported"]>[0];
  readonly selection: { readonly organization: string | undefined; readonly signal: AbortSignal };
}

/** What the file has at least: rows may have arrived, expired or been deleted since they were counted. */
async function leastRows(
  transfer: TelemetryTransfer,
  { part, rows, selection }: CountedPart,
): Promise<TelemetryFile["organizations"]> {
  const [after] = await transfer.parts(part.table, selection, part.day);
  const now = new Map(after?.rows.map((each) => [each.organization, each.rows]));
  return rows.map(({ expiresAt, organization, rows: before }) => ({
    id: organization,
    rows: Math.min(before, now.get(organization) ?? 0),
    expires_at: expiresAt,
  }));
}
