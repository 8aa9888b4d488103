/** What backups, restores and migrations work on: the data directory, the control database and the telemetry store. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { tryOpenDataDirectory } from "../data-directory.ts";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { openStoreAccess, type AccessOptions } from "../store/transfer/store-access.ts";
import { claimFolder, type ClaimedFolder } from "../store/transfer/claimed-folder.ts";
import { StorePartitions } from "../store/transfer/store-partitions.ts";
import { drainJournal } from "../store/transfer/drain-journal.ts";
import { TelemetryTransfer } from "../store/transfer/telemetry-transfer.ts";
import {
  controlMigrations,
  openControlDatabase,
  type ControlDatabase,
  type ControlDatabaseOptions,
} from "../tenancy/control-database.ts";
import type { MigrationState } from "../tenancy/migrations.ts";
import { type DatabaseSettings, requireNotMoved } from "../tenancy/move-record.ts";

export interface Installation extends AsyncDisposable {
  readonly dataDirectory: string;
  /** Whether the configuration enables telemetry. */
  readonly hasTelemetry: boolean;
  /** Whether there is a telemetry store: the embedded one is created by the first start of a server. */
  readonly hasStore: boolean;
  /** Whether a server runs on the data directory. If not, none can start while the installation is open. */
  readonly isServed: boolean;
  migrations(): Promise<MigrationState>;
  /** @throws AppError, also if a newer version has migrated the database */
  openControl(): Promise<ControlDatabase>;
  /** Resolves when the store has every row that was acknowledged before. Call it before `openTelemetry`. */
  drainJournal(): Promise<void>;
  openTelemetry(): Promise<OpenTelemetryStore>;
  /** Where files pass between this process and a remote store: the backup's folder, or one in the data directory that is removed at the end. */
  transferFolder(backupFolder: string | undefined): Promise<string>;
}

export interface OpenTelemetryStore extends AsyncDisposable {
  readonly transfer: TelemetryTransfer;
  readonly partitions: StorePartitions;
}

interface InstallationUse {
  /** Whether it is the source or the target of a move: others may not use databases that are being moved or were moved. */
  readonly isMoved?: boolean;
  /** Whether the caller has locked the data directory. */
  readonly isLocked?: boolean;
}

export function databaseSettings({ storage, telemetry }: Config): DatabaseSettings {
  return {
    dataDirectory: resolve(storage.data_dir),
    controlUrl: storage.database_url,
    telemetry: telemetry.enabled ? telemetry.clickhouse : undefined,
  };
}

/** @throws AppError */
export async function openInstallation(
  config: Config,
  signal: AbortSignal,
  { isLocked = false, isMoved = false }: InstallationUse = {},
): Promise<Installation> {
  const { storage, telemetry } = config;
  const dataDirectory = resolve(storage.data_dir);
  if (!isMoved) await requireNotMoved(databaseSettings(config));
  const directory = isLocked ? undefined : await tryOpenDataDirectory(dataDirectory, silentLogger);
  const isServed = directory === undefined && !isLocked;
  let claimed: Promise<ClaimedFolder> | undefined;
  const database: ControlDatabaseOptions = { url: storage.database_url, dataDirectory };
  const access: AccessOptions = { settings: telemetry, dataDirectory, isServed, logger: silentLogger, signal };
  return {
    dataDirectory,
    hasTelemetry: telemetry.enabled,
    get hasStore() {
      if (!telemetry.enabled || telemetry.clickhouse.url !== undefined) return telemetry.enabled;
      return existsSync(join(dataDirectory, "telemetry/clickhouse"));
    },
    isServed,
    migrations: () => controlMigrations(database),
    openControl: () => openControlDatabase(database),
    drainJournal: () => drainJournal(access, silentLogger),
    async openTelemetry() {
      const opened = await openStoreAccess(access);
      return {
        transfer: new TelemetryTransfer(opened),
        partitions: new StorePartitions(opened),
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      };
    },
    async transferFolder(backupFolder) {
      // The embedded store has a spool of its own.
      if (backupFolder !== undefined || telemetry.clickhouse.url === undefined) return backupFolder ?? dataDirectory;
      claimed ??= claimFolder(dataDirectory);
      return (await claimed).path;
    },
    async [Symbol.asyncDispose]() {
      await (await claimed)?.[Symbol.asyncDispose]();
      await directory?.close();
    },
  };
}

/** @throws AppError internal unless the database has the schema of this version: a copy of another would lack columns */
export function requireCurrentControl({ later, pending }: MigrationState): void {
  if (later.length > 0) {
    throw new AppError(
      "internal",
      `A newer version of Sounding has migrated the control database (${later.join(", ")}). Use the newer version.`,
    );
  }
  if (pending.length === 0) return;
  throw new AppError(
    "internal",
    `The control database is empty or of an earlier version: it lacks the migrations ${pending.join(", ")}. Run \`sounding migrate\`, or use the version that runs on it.`,
  );
}

/** @throws AppError internal unless the store has the schema of this version */
export function requireCurrentTelemetry(stored: number, supported: number): void {
  if (stored === supported) return;
  throw new AppError(
    "internal",
    stored > supported
      ? `The telemetry store has schema version ${stored}, and this version of Sounding knows ${supported}. Use a newer version.`
      : `The telemetry store has schema version ${stored}, and this version of Sounding needs ${supported}. Run \`sounding migrate\`, or use the version that runs on it.`,
  );
}
