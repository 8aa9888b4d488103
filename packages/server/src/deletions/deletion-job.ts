/**
 * Carries out deletions in one of the processes that share a control database. All of them forget which descriptions they have
 * written for an organization whose data is deleted. docs/adr/0042-deletion-backup-and-move.md
 */
import { sleep } from "../abort.ts";
import { toAppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { Store } from "../store/store.ts";
import { openDeletions, recordProgress } from "../tenancy/deletions.ts";
import { startSingletonJob } from "../tenancy/singleton-job.ts";
import { type DeletionParts, runDeletion } from "./run-deletion.ts";

export interface DeletionJobOptions extends DeletionParts {
  readonly store: Pick<Store, "eraser" | "open" | "whenReady">;
  readonly logger: Logger;
  /** Whether this server may carry out deletions. */
  readonly runsJob: boolean;
  /** Whether another process may carry them out. */
  readonly isShared: boolean;
}

/** Between two looks for new deletions. */
const intervalMs = 1000;
/** While one is under way. */
const busyIntervalMs = 500;
const firstRetryMs = 5000;
const longestRetryMs = 3_600_000;

/** `close` ends the statement that runs; another server or the next start continues. */
export function startDeletions(options: DeletionJobOptions): { close(): Promise<void> } {
  const { control, isShared, logger, runsJob } = options;
  const job = runsJob
    ? startSingletonJob({ control, name: "deletions", logger, run: (signal) => runDeletions(options, signal) })
    : undefined;
  const forgetting = isShared ? startForgetting(options) : undefined;
  return {
    async close() {
      await job?.close();
      await forgetting?.close();
    },
  };
}

async function runDeletions(options: DeletionJobOptions, signal: AbortSignal): Promise<void> {
  const { control, store } = options;
  while (!signal.aborted) {
    await store.whenReady(signal);
    const open = await openDeletions(control);
    for (const deletion of open) {
      if (signal.aborted) return;
      if (deletion.retry_at === null || deletion.retry_at * 1000 <= Date.now())
        await attempt(deletion, options, signal);
    }
    await sleep(open.length > 0 ? busyIntervalMs : intervalMs, signal);
  }
}

async function attempt(
  deletion: Awaited<ReturnType<typeof openDeletions>>[number],
  options: DeletionJobOptions,
  signal: AbortSignal,
): Promise<void> {
  const { control, logger } = options;
  const { attempts, id, organizationId } = deletion;
  try {
    await runDeletion(deletion, options, signal);
  } catch (error) {
    if (signal.aborted) return;
    const waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempts, 20));
    logger.warn({ error, deletion: id, organization_id: organizationId }, "a deletion failed and will be tried again");
    await recordProgress(control, id, {
      status: "failed",
      error: toAppError(error).message,
      attempts: attempts + 1,
      retry_at: Math.ceil((Date.now() + waitMs) / 1000),
    });
  }
}

/** Makes this server write descriptions again that the server with the job may erase. */
function startForgetting({ control, logger, store }: DeletionJobOptions): { close(): Promise<void> } {
  const closing = new AbortController();
  const known = new Set<string>();
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        for (const { hidden_at, id, organizationId, swept_at } of await openDeletions(control)) {
          const step = `${id} ${hidden_at !== null} ${swept_at !== null}`;
          if (known.has(step)) continue;
          known.add(step);
          store.eraser.forgetDescriptions(organizationId);
        }
      } catch (error) {
        logger.debug({ error }, "deletions could not be read and will be read again");
      }
      await sleep(intervalMs, closing.signal);
    }
  };
  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}
