/** What backups, restores and migrations work on: the data directory, the control database and the telemetry store. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { tryOpenDataDirectory } from "../data-directory.ts";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { openStoreAccess, type AccessOptions } from "../store/transfer/store-access.ts";
import { drainJournal } from "../store/transfer/drain-journal.ts";
import { TelemetryTransfer } from "../store/transfer/telemetry-transfer.ts";
import {
  controlMigrations,
  openControlDatabase,
  type ControlDatabase,
  type ControlDatabaseOptions,
} from "../tenancy/control-database.ts";
import type { MigrationState } from "../tenancy/migrations.ts";

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
}

interface OpenTelemetryStore extends AsyncDisposable {
  readonly transfer: TelemetryTransfer;
}

/** @throws AppError */
export async function openInstallation(config: Config, signal: AbortSignal): Promise<Installation> {
  const { storage, telemetry } = config;
  const dataDirectory = resolve(storage.data_dir);
  const directory = await tryOpenDataDirectory(dataDirectory, silentLogger);
  const isServed = directory === undefined;
  const database: ControlDatabaseOptions = { url: storage.database_url, dataDirectory };
  const access: AccessOptions = { settings: telemetry, dataDirectory, isServed, logger: silentLogger, signal };
  return {
    dataDirectory,
    hasTelemetry: telemetry.enabled,
    hasStore:
      telemetry.enabled &&
      (telemetry.clickhouse.url !== undefined || existsSync(join(dataDirectory, "telemetry/clickhouse"))),
    isServed,
    migrations: () => controlMigrations(database),
    openControl: () => openControlDatabase(database),
    drainJournal: () => drainJournal(access, silentLogger),
    async openTelemetry() {
      const opened = await openStoreAccess(access);
      return { transfer: new TelemetryTransfer(opened), [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
    },
    async [Symbol.asyncDispose]() {
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
