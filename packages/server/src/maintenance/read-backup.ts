/** Checks a backup without changing anything: its manifest, every checksum, and whether this version can restore it. */
import { AppError } from "../errors.ts";
import { schemaVersion } from "../store/migrations.ts";
import { columnsOf, tablesInOrder } from "../store/transfer/telemetry-transfer.ts";
import { toControlRow, type ControlRow } from "../tenancy/control-rows.ts";
import { knownMigrations } from "../tenancy/migrations.ts";
import type { BackupStorage, ExpectedFile } from "./backup-storage.ts";
import { configurationFile, controlFile, type Manifest, telemetryPath } from "./manifest.ts";

export interface CheckOptions {
  readonly storage: BackupStorage;
  readonly signal: AbortSignal;
  readonly onChecked?: ((path: string, doneBytes: number, totalBytes: number) => void) | undefined;
}

/** Compares all checksums. @throws AppError invalid_request that says what is wrong, or the signal's reason */
export async function checkBackup({ storage, signal, onChecked }: CheckOptions): Promise<Manifest> {
  const manifest = await readSupportedManifest(storage, signal);
  const files = filesOf(manifest);
  const totalBytes = files.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  let doneBytes = 0;
  for (const [path, expected] of files) {
    await storage.verify(path, expected, { signal });
    doneBytes += expected.bytes;
    onChecked?.(path, doneBytes, totalBytes);
  }
  await readControlFile(storage, manifest, signal);
  return manifest;
}

export interface ReadBackup {
  readonly manifest: Manifest;
  readonly rows: readonly ControlRow[];
}

/** What a restore checks and reads before it writes anything. @throws AppError invalid_request, or the signal's reason */
export async function openBackup(storage: BackupStorage, signal: AbortSignal): Promise<ReadBackup> {
  const manifest = await readSupportedManifest(storage, signal);
  await storage.verifyAll(filesOf(manifest), signal);
  return { manifest, rows: await readControlFile(storage, manifest, signal) };
}

async function readSupportedManifest(storage: BackupStorage, signal: AbortSignal): Promise<Manifest> {
  const manifest = await storage.readManifest(signal);
  requireSupported(manifest);
  return manifest;
}

function filesOf(manifest: Manifest): readonly ExpectedFile[] {
  return [
    [controlFile, manifest.control],
    ...(manifest.configuration === null ? [] : [[configurationFile, manifest.configuration] as const]),
    ...(manifest.telemetry?.files ?? []).map((file) => [telemetryPath(file), file] as const),
  ];
}

/** @throws AppError invalid_request for a backup of a newer version */
function requireSupported({ control, server_version: version, telemetry }: Manifest): void {
  const newer = (what: string): AppError =>
    new AppError(
      "invalid_request",
      `The backup is of version ${version} of Sounding, which has ${what} that this version does not know. Use that version or a newer one.`,
    );
  const migration = control.migrations.find((name) => !knownMigrations.includes(name));
  if (migration !== undefined) throw newer(`the migration ${migration}`);
  if (telemetry === null) return;
  if (telemetry.schema_version > schemaVersion) throw newer(`the telemetry schema ${telemetry.schema_version}`);
  for (const [name, columns] of Object.entries(telemetry.columns)) {
    const table = tablesInOrder.find((each) => each === name);
    if (table === undefined) throw newer(`the table ${name}`);
    const unknown = columns.find((column) => !columnsOf(table).includes(column));
    if (unknown !== undefined) throw newer(`the column ${name}.${unknown}`);
    if (!columns.includes("organization"))
      throw new AppError("invalid_request", `The manifest names no column organization of the table ${name}.`);
  }
  const file = telemetry.files.find(({ table }) => !Object.hasOwn(telemetry.columns, table));
  if (file !== undefined) throw newer(`the table ${file.table}`);
}

/** @throws AppError invalid_request */
async function readControlFile(
  storage: BackupStorage,
  { control }: Manifest,
  signal: AbortSignal,
): Promise<ControlRow[]> {
  const text = (await storage.read(controlFile, control, signal)).toString("utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line, index) => {
    try {
      return toControlRow(JSON.parse(line));
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError("invalid_request", `${controlFile}: line ${index + 1} is not valid JSON.`, { cause });
    }
  });
}
