/** Builds the pool of processes of one model. */
import { ProcessPool } from "../../child-process/process-pool.ts";
import type { Logger } from "../../logger.ts";
import { modelPoolOptions } from "../model-pool-options.ts";
import { ModelProcess } from "./model-process.ts";
import type { LoadSettings } from "./protocol.ts";

export interface ModelPoolOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  /** The model's files; when they cannot be loaded, that is tried again once they change. */
  readonly files: readonly string[];
  /** Most processes. */
  readonly processes: number;
  readonly startTimeoutMs: number;
  /** Undefined: never unloaded. */
  readonly idleUnloadMs: number | undefined;
  readonly logger: Logger;
}

export type ModelPool = ProcessPool<ModelProcess>;

/** Longest time for a phrase, or for some 30 s of speech. */
const longestWorkMs = 600_000;
/** Abandoned work is let finish for at least this long. */
const shortestGraceMs = 50;
const graceAmongStreamsMs = 10_000;

export function createModelPool(options: ModelPoolOptions): ModelPool {
  const { name, settings, files, processes, startTimeoutMs, idleUnloadMs, logger } = options;
  return new ProcessPool({
    ...modelPoolOptions(name),
    most: processes,
    logger,
    async start(signal) {
      const process = await ModelProcess.start({ name, settings, files, startTimeoutMs, signal });
      logger.info({ model: name, pid: process.pid, load_ms: Math.round(process.loadMs) }, "model loaded");
      return process;
    },
    files: () => files,
    // Waiting as long as a load takes costs at most twice the better choice. Others may have streams there, whose pieces are
    // short.
    graceMs: ({ loadMs }, streams) => (streams > 0 ? graceAmongStreamsMs : Math.max(shortestGraceMs, loadMs)),
    longestWorkMs,
    idleMs: idleUnloadMs,
  });
}
