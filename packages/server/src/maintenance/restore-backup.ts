/**
 * Restores a backup: a whole installation into an empty one whose server is stopped, or one organization into any. The control
 * database comes last and in one transaction, so a restore that was interrupted has restored no organization.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { rm } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { TableName } from "../store/schema.ts";
import { nameOf, tablesInOrder, type TelemetryTransfer } from "../store/transfer/telemetry-transfer.ts";
import {
  notEmpty,
  requireReplaceable,
  type ControlRow,
  writeAllControlRows,
  writeOrganizationRows,
} from "../tenancy/control-rows.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { markInstallation } from "../tenancy/installation.ts";
import type { BackupStorage } from "./backup-storage.ts";
import type { MaintenanceProgress } from "./create-backup.ts";
import { openInstallation, type Installation } from "./installation.ts";
import { type Manifest, telemetryPath, type TelemetryFile } from "./manifest.ts";
import { openBackup } from "./read-backup.ts";
import { RestoreCheckpoint } from "./restore-checkpoint.ts";

export interface RestoreOptions {
  readonly config: Config;
  readonly storage: BackupStorage;
  /** Name or ID of the only organization to restore; absent: everything that the backup has. */
  readonly organization?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
}

export interface Restored {
  readonly manifest: Manifest;
  /** undefined: a whole installation. */
  readonly organization: { readonly id: string; readonly name: string } | undefined;
  /** Rows of telemetry. */
  readonly rows: number;
}

/** @throws AppError, or the signal's reason */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, signal, storage } = options;
  const { manifest, rows } = await openBackup(storage, signal);
  const organization = selectOrganization(manifest, rows, options.organization);
  await using installation = await openInstallation(config, signal);
  if (organization === undefined && installation.isServed) {
    throw new AppError(
      "conflict",
      `A server runs on the data directory ${installation.dataDirectory}. Stop it to restore a whole installation.`,
    );
  }
  if (manifest.telemetry !== null && !installation.hasTelemetry) {
    throw new AppError(
      "conflict",
      "The backup has telemetry, and the configuration turns telemetry off (telemetry.enabled is false).",
    );
  }
  await using stack = new AsyncDisposableStack();
  const control = stack.adopt(await installation.openControl(), (each) => each.close());
  await control.read((database) =>
    organization === undefined ? requireEmpty(control) : requireReplaceable(database, organization.id),
  );
  const checkpoint = await RestoreCheckpoint.open(installation.dataDirectory, manifest.id);
  const stored =
    manifest.telemetry === null
      ? 0
      : await fillTelemetry(manifest.telemetry, { installation, options, organization, checkpoint, manifest });
  signal.throwIfAborted();
  if (organization === undefined) await writeAllControlRows(control, rows);
  else
    await writeOrganizationRows(
      control,
      rows.filter((row) => belongsTo(row, organization.id)),
    );
  if (organization === undefined) await checkpoint.remove();
  return { manifest, organization, rows: stored };
}

async function requireEmpty(control: ControlDatabase): Promise<void> {
  const any = await control.read((database) =>
    database.selectFrom("organizations").select("id").limit(1).executeTakeFirst(),
  );
  if (any !== undefined) throw new AppError("conflict", notEmpty);
}

function belongsTo({ table, values }: ControlRow, organizationId: string): boolean {
  return values[table === "organizations" ? "id" : "organization_id"] === organizationId;
}

/** @throws AppError not_found */
function selectOrganization(
  manifest: Manifest,
  rows: readonly ControlRow[],
  nameOrId: string | undefined,
): Restored["organization"] {
  const all = rows
    .filter(({ table }) => table === "organizations")
    .map(({ values }) => ({
      id: String(values["id"]),
      name: String(values["name"]),
      isArchived: values["archived_at"] !== null,
    }));
  const wanted = nameOrId ?? manifest.organization?.id;
  if (wanted === undefined) return undefined;
  const found = all
    .filter(({ id, name }) => id === wanted || name === wanted)
    .toSorted((left, right) => Number(left.isArchived) - Number(right.isArchived))[0];
  if (found !== undefined) return { id: found.id, name: found.name };
  const names = all.slice(0, 20).map(({ name }) => JSON.stringify(name));
  throw new AppError(
    "not_found",
    `The backup does not have the organization ${JSON.stringify(wanted)}. It has ${names.join(", ")}${all.length > 20 ? ` and ${all.length - 20} others` : ""}.`,
  );
}

interface FillContext {
  readonly installation: Installation;
  readonly options: RestoreOptions;
  readonly organization: Restored["organization"];
  readonly checkpoint: RestoreCheckpoint;
  readonly manifest: Manifest;
}

type Telemetry = NonNullable<Manifest["telemetry"]>;

/** Resolves with the number of rows that the backup has at least. */
async function fillTelemetry(telemetry: Telemetry, context: FillContext): Promise<number> {
  const { checkpoint, installation, options, organization } = context;
  const { signal, onProgress = () => {} } = options;
  const isWhole = organization === undefined;
  if (isWhole) await installation.drainJournal();
  await using opened = await installation.openTelemetry();
  const { transfer } = opened;
  await transfer.migrate(signal);
  if (isWhole) {
    if (!checkpoint.isResumed && !(await transfer.isEmpty(signal))) {
      throw new AppError(
        "conflict",
        "The telemetry store has rows already. A whole installation is restored into an empty one.",
      );
    }
    await checkpoint.begin();
    await markInstallation(installation.dataDirectory);
  }
  const files = inOrder(telemetry.files).filter((file) => rowsIn(file, organization?.id) > 0);
  const totalRows = files.reduce((sum, file) => sum + rowsIn(file, organization?.id), 0);
  let doneRows = 0;
  for (const file of files) {
    const path = telemetryPath(file);
    onProgress({ part: nameOf(partOf(file)), doneRows, totalRows });
    if (!isWhole || !checkpoint.has(path)) {
      await insertFile(file, { ...context, transfer, columns: telemetry.columns[file.table]! });
      if (isWhole) await checkpoint.add(path);
    }
    doneRows += rowsIn(file, organization?.id);
  }
  try {
    await requireRows(transfer, files, { organization: organization?.id, signal });
  } catch (error) {
    if (isWhole) await checkpoint.restart();
    throw error;
  }
  onProgress({ part: "telemetry", doneRows: totalRows, totalRows });
  return totalRows;
}

/** Descriptions first: they are few, and what refers to them can then be read. */
function inOrder(files: readonly TelemetryFile[]): TelemetryFile[] {
  const place = ({ table }: TelemetryFile): number => tablesInOrder.indexOf(table as TableName);
  return files.toSorted((left, right) => place(right) - place(left));
}

function rowsIn({ organizations }: TelemetryFile, organization: string | undefined): number {
  return organizations
    .filter(({ id }) => organization === undefined || id === organization)
    .reduce((sum, { rows }) => sum + rows, 0);
}

function partOf({ day, table }: TelemetryFile) {
  return { table: table as TableName, day: day ?? undefined };
}

async function insertFile(
  file: TelemetryFile,
  {
    checkpoint,
    columns,
    installation,
    options,
    organization,
    transfer,
  }: FillContext & { readonly transfer: TelemetryTransfer; readonly columns: readonly string[] },
): Promise<void> {
  const { signal, storage } = options;
  const path = transfer.inputPath(await installation.transferFolder(storage.folder));
  try {
    await storage.verify(telemetryPath(file), file, { target: path, signal });
    const token = [checkpoint.id, telemetryPath(file)].join("-");
    await transfer.insert({ part: partOf(file), columns, path, token }, { organization: organization?.id, signal });
  } finally {
    await rm(path, { force: true });
  }
}

const expiryMarginSeconds = 3600;

/** Compares the store with the manifest. @throws AppError internal if rows are missing that have not expired */
async function requireRows(
  transfer: TelemetryTransfer,
  files: readonly TelemetryFile[],
  selection: { readonly organization: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const nowSeconds = Date.now() / 1000;
  for (const [table, ofTable] of Map.groupBy(files, (file) => file.table as TableName)) {
    const parts = await transfer.parts(table, selection);
    const found = new Map(
      parts.flatMap(({ part, rows }) => rows.map((each) => [`${part.day} ${each.organization}`, each.rows] as const)),
    );
    for (const file of ofTable) {
      for (const { expires_at: expiresAt, id, rows } of file.organizations) {
        if (selection.organization !== undefined && selection.organization !== id) continue;
        const count = found.get(`${file.day ?? undefined} ${id}`) ?? 0;
        if (count >= rows || expiresAt < nowSeconds + expiryMarginSeconds) continue;
        throw new AppError(
          "internal",
          `The store has ${count} rows of ${nameOf(partOf(file))} of the organization ${id}, and the backup has ${rows}. Nothing else was restored; restore again.`,
        );
      }
    }
  }
}
