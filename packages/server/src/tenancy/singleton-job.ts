/**
 * Runs a job on one server at a time: on the server that holds the job's lock in the control database. When that server stops or
 * loses its connection, another one takes over within seconds.
 */
import { sleep } from "../abort.ts";
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "./control-database.ts";

export interface SingletonJobOptions {
  readonly control: Pick<ControlDatabase, "tryLock">;
  /** Names the lock; the same on all servers and in all versions. */
  readonly name: string;
  readonly logger: Logger;
  /**
   * Runs until the signal fires, and then ends promptly. Once `lost` fired too, the lock may be another server's. If it fails, it
   * is started again.
   */
  readonly run: (signal: AbortSignal, lost: AbortSignal) => Promise<void>;
  /** Pause between two attempts to take the lock. */
  readonly retryMs?: number | undefined;
}

export interface SingletonJob {
  /** Whether this server runs the job. */
  readonly isRunning: boolean;
  /** Ends the job and releases the lock. */
  close(): Promise<void>;
}

export function startSingletonJob({ control, logger, name, retryMs = 3000, run }: SingletonJobOptions): SingletonJob {
  const closing = new AbortController();
  let isRunning = false;
  let isUnreachable = false;

  async function attempt(): Promise<void> {
    const lock = await control.tryLock(name);
    if (isUnreachable) logger.info({ job: name }, "the lock of a job can be taken again");
    isUnreachable = false;
    if (lock === undefined) return;
    try {
      if (closing.signal.aborted) return;
      isRunning = true;
      logger.info({ job: name }, "this server runs the job");
      await run(AbortSignal.any([closing.signal, lock.lost]), lock.lost);
    } finally {
      isRunning = false;
      const isLost = lock.lost.aborted && !closing.signal.aborted;
      await lock.release();
      if (isLost) {
        logger.warn({ job: name }, "this server no longer runs the job, because it lost the lock");
      }
    }
  }

  async function repeat(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await attempt();
      } catch (error) {
        if (closing.signal.aborted) return;
        // One line for an outage, not one for each attempt.
        if (!isUnreachable) logger.warn({ error, job: name }, "a job could not run and will be tried again");
        isUnreachable = true;
      }
      await sleep(retryMs, closing.signal);
    }
  }

  const ended = repeat();
  return {
    get isRunning() {
      return isRunning;
    },
    async close() {
      closing.abort();
      await ended;
    },
  };
}
