/**
 * Keeps the embedded store's process running: starts it, restarts it when it exits (immediately the first time, then with
 * growing pauses), and kills it when it no longer responds.
 */
import { sleep } from "../../abort.ts";
import { FailureBackoff } from "../../child-process/failure-backoff.ts";
import type { Logger } from "../../logger.ts";
import { EngineAbsentError, startEngineProcess, type EngineProcess } from "./engine-process.ts";
import type { EngineSettings } from "./protocol.ts";

export interface EngineEvents {
  /** The process serves its socket, for the first time or again. */
  onStart(): void;
  /** The process ended or cannot be started; `isFinal` if retrying cannot help. */
  onEnd(reason: string, isFinal: boolean): void;
}

export interface SupervisedEngineOptions extends EngineEvents {
  readonly settings: EngineSettings;
  readonly logger: Logger;
}

export interface SupervisedEngine {
  readonly pid: number | undefined;
  /** Kills a process that does not respond; a new one is started. */
  restart(): void;
  close(): Promise<void>;
}

const firstPauseMs = 250;
/** A store that has served is needed soon; one that cannot start does not start sooner for frequent attempts. */
const longestPauseMs = { served: 1_000, failed: 15_000 };
/** After running this long, a process counts as having started successfully, and pauses start over. */
const healthyMs = 60_000;

export function superviseEngine({ settings, logger, onStart, onEnd }: SupervisedEngineOptions): SupervisedEngine {
  const closing = new AbortController();
  let current: EngineProcess | undefined;
  const backoff = new FailureBackoff({ firstMs: firstPauseMs });

  /** Runs one process from start to exit; resolves with the reason. */
  const runOnce = async (): Promise<string> => {
    const started = await startEngineProcess(settings);
    const startedMs = performance.now();
    current = started;
    if (closing.signal.aborted) return "the server is closing";
    logger.info({ pid: started.pid, version: started.version }, "the embedded telemetry store is running");
    onStart();
    const how = await started.ended;
    current = undefined;
    if (performance.now() - startedMs > healthyMs) backoff.succeed();
    return how;
  };

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      let outcome: "served" | "failed" = "failed";
      try {
        const how = await runOnce();
        if (closing.signal.aborted) return;
        outcome = "served";
        logger.error({ how }, "the embedded telemetry store exited and is being restarted");
        onEnd("The embedded telemetry store is restarting.", false);
      } catch (error) {
        if (error instanceof EngineAbsentError) {
          logger.error({ error }, "telemetry is off: the package chdb is not installed for this platform");
          onEnd("The embedded telemetry store is not installed (npm package chdb); telemetry is off.", true);
          return;
        }
        logger.error({ error }, "the embedded telemetry store cannot be started");
        onEnd("The embedded telemetry store cannot be started; see the server's log.", false);
      }
      backoff.fail(longestPauseMs[outcome]);
      await sleep(backoff.leftMs, closing.signal);
    }
  };
  const running = run();

  return {
    get pid() {
      return current?.pid;
    },
    restart() {
      current?.kill();
    },
    async close() {
      closing.abort();
      await current?.stop();
      await running;
      // The process was still starting when the server began to close.
      await current?.stop();
    },
  };
}
