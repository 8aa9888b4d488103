/**
 * Moves an installation to other databases: telemetry while the server runs, the rest and the control database once it is stopped.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { tryLock } from "../file-lock.ts";
import { requireNotMoved } from "../tenancy/move-record.ts";
import { compareTelemetry } from "./compare-telemetry.ts";
import { copyUntilStopped, openSource } from "./copy-until-stopped.ts";
import type { MaintenanceProgress } from "./create-backup.ts";
import { databaseSettings, openInstallation, requireCurrentControl, type Installation } from "./installation.ts";
import { MoveCheckpoint, type MoveResult } from "./move-checkpoint.ts";
import { moveControl } from "./move-control.ts";
import { openTarget, requireNoOrganization, targetHasRows } from "./move-target.ts";
import { type MovePlan, planMove } from "./move-plan.ts";
import { copyNewRows, type TelemetryMove } from "./move-telemetry.ts";

export interface MoveOptions {
  /** The configuration of the installation. */
  readonly from: Config;
  /** The configuration with the new databases. */
  readonly to: Config;
  /** How long to wait until the server is stopped; undefined: without a limit. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
  /** Called once, when the server is to be stopped. Rows that arrive meanwhile are copied while it runs. */
  readonly onReady?: ((rowsLeft: number) => void) | undefined;
}

export interface Moved extends MoveResult {
  /** How long the server had to be stopped, in seconds; undefined if it was moved before. */
  readonly stoppedSeconds: number | undefined;
}

/** @throws AppError, or the signal's reason */
export async function moveInstallation(options: MoveOptions): Promise<Moved> {
  const { from, onReady = () => {}, signal, to, waitMs } = options;
  const plan = planMove(from, to);
  const checkpoint = await MoveCheckpoint.open(plan);
  if (checkpoint.result !== undefined) {
    await checkpoint.cleanUp();
    return { ...checkpoint.result, stoppedSeconds: undefined };
  }
  // Of a move to other databases that was completed.
  if (!checkpoint.isResumed) await requireNotMoved(databaseSettings(from));
  using _lock = lockMove(plan);
  const open = (): Promise<Installation> => openInstallation(from, signal, { isMoved: true });
  await requireCurrentSource(open);
  await using target = await openTarget(plan, signal);
  await using stack = new AsyncDisposableStack();
  const store = plan.movesTelemetry ? stack.use(await target.openTelemetry()) : undefined;
  if (plan.movesControl && !checkpoint.controlBegun) await requireEmptyControl(target);
  if (store !== undefined) await prepareStore(store, checkpoint, signal);
  await checkpoint.begin();
  const scratch = join(plan.fromDirectory, "move");
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { mode: 0o700 });
  stack.defer(() => rm(scratch, { recursive: true, force: true }));
  const onProgress = options.onProgress ?? (() => {});
  const telemetry = store === undefined ? undefined : { target: store, checkpoint, scratch, signal, onProgress };
  await using source = await copyUntilStopped({ open, telemetry, signal, waitMs, onReady });
  const stoppedMs = performance.now();
  // Otherwise its rows would stay in the old data directory.
  if (source.hasTelemetry) await source.drainJournal();
  if (telemetry !== undefined && source.hasStore) await finishTelemetry(source, telemetry);
  const telemetryRows = plan.movesTelemetry ? checkpoint.rows : undefined;
  const controlRows = plan.movesControl ? await finishControl({ checkpoint, signal, source, target }) : undefined;
  const result = { telemetryRows, controlRows };
  signal.throwIfAborted();
  await checkpoint.complete(result);
  return { ...result, stoppedSeconds: (performance.now() - stoppedMs) / 1000 };
}

function lockMove({ fromDirectory }: MovePlan): Disposable {
  const release = tryLock(join(fromDirectory, "move.lock"));
  if (release === undefined)
    throw new AppError("conflict", `Another \`sounding move\` works on the data directory ${fromDirectory}.`);
  return { [Symbol.dispose]: release };
}

async function requireCurrentSource(open: () => Promise<Installation>): Promise<void> {
  await using installation = await open();
  requireCurrentControl(await installation.migrations());
}

/** @throws AppError conflict */
async function requireEmptyControl(target: Installation): Promise<void> {
  await using stack = new AsyncDisposableStack();
  await requireNoOrganization(stack.adopt(await target.openControl(), (each) => each.close()));
}

/** @throws AppError conflict if the store has rows that are not of this move */
async function prepareStore(
  { transfer }: TelemetryMove["target"],
  checkpoint: MoveCheckpoint,
  signal: AbortSignal,
): Promise<void> {
  await transfer.migrate(signal);
  const isEmpty = await transfer.isEmpty(signal);
  if (!isEmpty && !checkpoint.isResumed) {
    throw targetHasRows();
  }
  // The database was created again since the last attempt.
  if (isEmpty && checkpoint.hasCopies) await checkpoint.forgetAll();
}

async function finishTelemetry(installation: Installation, telemetry: Omit<TelemetryMove, "source">): Promise<void> {
  await using source = await openSource(installation, telemetry.signal);
  const move = { ...telemetry, source };
  await copyNewRows(move);
  await compareTelemetry(move, { isServed: false });
}

interface FinishedControl {
  readonly checkpoint: MoveCheckpoint;
  readonly signal: AbortSignal;
  readonly source: Installation;
  readonly target: Installation;
}

async function finishControl({ checkpoint, signal, source, target }: FinishedControl): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const open = async (installation: Installation) =>
    stack.adopt(await installation.openControl(), (each) => each.close());
  return await moveControl({ checkpoint, signal, source: await open(source), target: await open(target) });
}
