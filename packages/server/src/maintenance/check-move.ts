/** Says what a move would copy, and whether the target is fit for it, without changing either. docs/adr/0042-deletion-backup-and-move.md */
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { type ControlDatabase, openControlDatabase } from "../tenancy/control-database.ts";
import { readControlRows } from "../tenancy/control-rows.ts";
import { requireNotMoved } from "../tenancy/move-record.ts";
import { openSource } from "./copy-until-stopped.ts";
import { databaseSettings, openInstallation, requireCurrentControl, type Installation } from "./installation.ts";
import { MoveCheckpoint } from "./move-checkpoint.ts";
import { type MovePlan, planMove } from "./move-plan.ts";
import { openTarget, requireNoOrganization, targetHasRows } from "./move-target.ts";
import { newRows } from "./move-telemetry.ts";

interface CheckOptions {
  readonly from: Config;
  readonly to: Config;
  readonly signal: AbortSignal;
}

interface DatabaseCheck {
  readonly from: string;
  readonly to: string;
  /** Left to copy, with rows that others replace. */
  readonly rows: number;
}

export interface MoveCheck {
  /** undefined: not to be moved. */
  readonly telemetry: (DatabaseCheck & { readonly bytes: number }) | undefined;
  readonly control: DatabaseCheck | undefined;
  /** Whether an interrupted move will continue. */
  readonly isResumed: boolean;
}

/** @throws AppError, also if the target cannot take the installation */
export async function checkMove({ from, signal, to }: CheckOptions): Promise<MoveCheck> {
  const plan = planMove(from, to);
  const checkpoint = await MoveCheckpoint.open(plan);
  if (checkpoint.result !== undefined || !checkpoint.isResumed) await requireNotMoved(databaseSettings(from));
  await using source = await openInstallation(from, signal, { isMoved: true });
  requireCurrentControl(await source.migrations());
  await checkTarget(plan, checkpoint, signal);
  const { names } = plan;
  return {
    telemetry: plan.movesTelemetry
      ? { from: names.from.telemetry!, to: names.to.telemetry!, ...(await telemetryLeft(source, checkpoint, signal)) }
      : undefined,
    control: plan.movesControl
      ? { from: names.from.control, to: names.to.control, rows: await controlRows(from, signal) }
      : undefined,
    isResumed: checkpoint.isResumed,
  };
}

async function telemetryLeft(source: Installation, checkpoint: MoveCheckpoint, signal: AbortSignal) {
  if (!source.hasStore) return { rows: 0, bytes: 0 };
  await using store = await openSource(source, signal);
  const left = newRows(await store.partitions.list(signal), checkpoint);
  return {
    rows: left.reduce((sum, { rows }) => sum + rows, 0),
    bytes: left.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function controlRows(config: Config, signal: AbortSignal): Promise<number> {
  await using control = await openMigrated(config);
  return (await readControlRows(control.database, undefined, signal)).length;
}

interface OpenControl extends AsyncDisposable {
  readonly database: ControlDatabase;
}

async function openMigrated(config: Config): Promise<OpenControl> {
  const { controlUrl, dataDirectory } = databaseSettings(config);
  const database = await openControlDatabase({ url: controlUrl, dataDirectory, isMigrated: true });
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

async function checkTarget(plan: MovePlan, checkpoint: MoveCheckpoint, signal: AbortSignal): Promise<void> {
  const { fromDirectory, movesControl, movesTelemetry, to, toDirectory } = plan;
  const isOwnDirectory = toDirectory === fromDirectory;
  // To open the target would create the folder.
  if (!isOwnDirectory && !existsSync(toDirectory) && to.storage.database_url === undefined && !isRemote(to)) return;
  const isLocked = isOwnDirectory || !existsSync(toDirectory);
  await using target = await openTarget(plan, signal, { isLocked });
  if (movesControl && !checkpoint.controlBegun) await requireEmptyControl(to, target);
  if (!movesTelemetry || !target.hasStore) return;
  await using store = await target.openTelemetry();
  const version = await store.transfer.storedVersion(signal);
  if (version === 0 || checkpoint.isResumed || (await store.partitions.list(signal)).length === 0) return;
  throw targetHasRows();
}

function isRemote({ telemetry }: Config): boolean {
  return telemetry.enabled && telemetry.clickhouse.url !== undefined;
}

/** @throws AppError conflict; overloaded if the database is unreachable */
async function requireEmptyControl(to: Config, target: Installation): Promise<void> {
  const { applied } = await target.migrations();
  // The first one creates the table of organizations.
  if (applied.length === 0) return;
  await using control = await openMigrated(to);
  await requireNoOrganization(control.database);
}
