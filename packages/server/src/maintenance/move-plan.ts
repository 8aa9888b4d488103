/** What two configurations of a move have in common, and which databases are to be copied. */
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { type DatabaseNames, namesOf } from "../tenancy/move-record.ts";
import { databaseSettings } from "./installation.ts";

export interface MovePlan {
  readonly from: Config;
  readonly to: Config;
  readonly fromDirectory: string;
  readonly toDirectory: string;
  /** Relative to the old data directory. */
  readonly names: { readonly from: DatabaseNames; readonly to: DatabaseNames };
  readonly movesTelemetry: boolean;
  readonly movesControl: boolean;
}

/** @throws AppError invalid_request if there is nothing to move */
export function planMove(from: Config, to: Config): MovePlan {
  const settings = { from: databaseSettings(from), to: databaseSettings(to) };
  const fromDirectory = settings.from.dataDirectory;
  if (!existsSync(fromDirectory)) {
    throw new AppError(
      "invalid_request",
      `The data directory ${fromDirectory} of the current configuration does not exist. Name the server's configuration with --config.`,
    );
  }
  const names = { from: namesOf(settings.from, fromDirectory), to: namesOf(settings.to, fromDirectory) };
  const movesControl = names.from.control !== names.to.control;
  const movesTelemetry = names.from.telemetry !== names.to.telemetry && names.from.telemetry !== null;
  if (!movesControl && !movesTelemetry) {
    throw new AppError(
      "invalid_request",
      `Both configurations name the same databases (${names.from.control}${names.from.telemetry === null ? "" : ` and ${names.from.telemetry}`}). They must differ in storage.database_url, telemetry.clickhouse or storage.data_dir; environment variables such as DATABASE_URL apply to both.`,
    );
  }
  if (movesTelemetry && names.to.telemetry === null) {
    throw new AppError(
      "invalid_request",
      "The new configuration turns telemetry off (telemetry.enabled is false). The current one has telemetry to move.",
    );
  }
  if (movesTelemetry && from.telemetry.clickhouse.cluster !== undefined) {
    throw new AppError(
      "invalid_request",
      "Telemetry of a ClickHouse cluster (telemetry.clickhouse.cluster) cannot be moved. Use `sounding backup` and `sounding restore`.",
    );
  }
  return { from, to, fromDirectory, toDirectory: settings.to.dataDirectory, names, movesTelemetry, movesControl };
}

/** The names as the other data directory's record has them. */
export function namesIn(plan: MovePlan, directory: string): MovePlan["names"] {
  return { from: namesOf(databaseSettings(plan.from), directory), to: namesOf(databaseSettings(plan.to), directory) };
}
