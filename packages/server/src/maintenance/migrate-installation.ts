/** Migrates the control database and the telemetry store to this version without starting the server, or lists what is pending. */
import type { Config } from "../config/config.ts";
import { pendingSteps } from "../store/migrations.ts";
import { openInstallation, type Installation } from "./installation.ts";

export interface MigrateOptions {
  readonly config: Config;
  /** Only list what is pending. */
  readonly check: boolean;
  readonly signal: AbortSignal;
}

export interface Migration {
  readonly store: "control database" | "telemetry store";
  readonly step: string;
}

/**
 * Resolves with the steps that were pending.
 * @throws AppError, also if a newer version has migrated a database so that this one cannot work with it
 */
export async function migrateInstallation(options: MigrateOptions): Promise<Migration[]> {
  await using installation = await openInstallation(options.config, options.signal);
  const state = await installation.migrations();
  // The first start creates the embedded store.
  const telemetry = installation.hasStore ? await migrateTelemetry(installation, options) : [];
  // Opening the database migrates it.
  if (!options.check) await (await installation.openControl()).close();
  return [
    ...state.pending.map((step) => ({ store: "control database" as const, step })),
    ...telemetry.map((step) => ({ store: "telemetry store" as const, step })),
  ];
}

async function migrateTelemetry(installation: Installation, options: MigrateOptions): Promise<string[]> {
  const { check, signal } = options;
  await using opened = await installation.openTelemetry();
  const { transfer } = opened;
  const stored = await transfer.storedVersion(signal);
  const steps = [...pendingSteps(stored), ...(stored === 0 ? [] : await transfer.missingColumns(signal))];
  if (!check) await transfer.migrate(signal);
  signal.throwIfAborted();
  return steps;
}
