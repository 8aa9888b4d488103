/** Copies telemetry while the server runs, again and again what is new, until the server is stopped. docs/adr/0042-deletion-backup-and-move.md */
import { sleep } from "../abort.ts";
import { AppError } from "../errors.ts";
import { schemaVersion } from "../store/migrations.ts";
import { isStoreFailure } from "../store/transfer/store-access.ts";
import { compareTelemetry } from "./compare-telemetry.ts";
import { type Installation, type OpenTelemetryStore, requireCurrentTelemetry } from "./installation.ts";
import { copyNewRows, newRows, type TelemetryMove } from "./move-telemetry.ts";

export interface StopWait {
  /** Opens the installation. It is locked unless a server runs on it. */
  readonly open: () => Promise<Installation>;
  /** What is copied meanwhile, without its source; undefined: nothing. */
  readonly telemetry: Omit<TelemetryMove, "source"> | undefined;
  readonly signal: AbortSignal;
  /** How long to wait once little is left; undefined: without a limit. */
  readonly waitMs: number | undefined;
  readonly onReady: (rowsLeft: number) => void;
}

/** While no more rows are left, the server may be stopped. */
const fewRows = 20_000;
/** If rows arrive faster than they are copied. */
const maximumPasses = 10;
/** Days end while the command waits. To compare the current one would be in vain. */
const comparisonIntervalMs = 600_000;
const pauseMs = 500;
/** How long the source or the target may fail: the engine of a server that stops ends before the server does. */
const patienceMs = 60_000;

/** Resolves with the installation once it is locked. @throws AppError, or the signal's reason */
export async function copyUntilStopped(wait: StopWait): Promise<Installation> {
  const { onReady, open, signal, telemetry, waitMs } = wait;
  let passes = 0;
  let comparedMs = -Infinity;
  let readyMs: number | undefined;
  let failingMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const installation = await open();
    if (!installation.isServed) return installation;
    const nowMs = performance.now();
    if (readyMs !== undefined && waitMs !== undefined && nowMs - readyMs >= waitMs) {
      throw new AppError(
        "timeout",
        `The server on ${installation.dataDirectory} still runs. What was copied is kept: run the same command again.`,
      );
    }
    try {
      passes += 1;
      let left = telemetry === undefined ? 0 : await copyOnce(installation, telemetry, false);
      const isNear = left <= fewRows || passes >= maximumPasses;
      if (telemetry !== undefined && isNear && performance.now() - comparedMs >= comparisonIntervalMs) {
        left = await copyOnce(installation, telemetry, true);
        comparedMs = performance.now();
      }
      failingMs = undefined;
      if (isNear && readyMs === undefined) {
        readyMs = performance.now();
        onReady(left);
      }
    } catch (error) {
      signal.throwIfAborted();
      failingMs ??= performance.now();
      if (performance.now() - failingMs > patienceMs || !mayPass(error)) throw error;
    }
    if (readyMs !== undefined || failingMs !== undefined) await sleep(pauseMs, signal);
  }
}

/** Whether the store failed, or files that its engine removes when it starts are gone. */
function mayPass(error: unknown): boolean {
  return isStoreFailure(error) || (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Resolves with the number of rows that have arrived meanwhile. */
async function copyOnce(
  installation: Installation,
  telemetry: Omit<TelemetryMove, "source">,
  compares: boolean,
): Promise<number> {
  const { checkpoint, signal } = telemetry;
  if (!installation.hasStore) return 0;
  await using source = await openSource(installation, signal);
  const move = { ...telemetry, source };
  await copyNewRows(move);
  if (compares) await compareTelemetry(move, { isServed: true });
  const left = newRows(await source.partitions.list(signal), checkpoint);
  return left.reduce((sum, { rows }) => sum + rows, 0);
}

/** @throws AppError internal if the store does not have the schema of this version */
export async function openSource(installation: Installation, signal: AbortSignal): Promise<OpenTelemetryStore> {
  const source = await installation.openTelemetry();
  try {
    requireCurrentTelemetry(await source.transfer.storedVersion(signal), schemaVersion);
    return source;
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}
