/** Runs the server as a process: loads its configuration, starts it, reloads changes, and shuts down gracefully on a signal. */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import type { Config } from "./config/config.ts";
import { mostWorkers } from "./config/server.ts";
import { loadConfig, type ConfigOverrides } from "./config/load-config.ts";
import { formatProblem } from "./config/problem.ts";
import { modelsOf } from "./config/settings-of-role.ts";
import { watchConfig } from "./config/watch-config.ts";
import { addModels, type Addition } from "./first-models.ts";
import type { LogLineStyle } from "./log-line.ts";
import { createLogger, type LoggerOptions } from "./logger.ts";
import { countBuffersAsHeap, observeProcess, readVersion } from "./process-setup.ts";
import type { App, AppOptions } from "./running-app.ts";

export interface ServeOptions {
  /** The configuration file; absent: `SOUNDING_CONFIG`, else `sounding.yaml` if it exists. */
  readonly configPath?: string | undefined;
  /** Settings from the command line, which override the file and the environment. */
  readonly overrides?: ConfigOverrides | undefined;
  /** Shuts the server down gracefully. */
  readonly signal: AbortSignal;
  /** Where the log is written if it is for people; absent: it is JSON. */
  readonly terminal?: Terminal | undefined;
  /** Called once, when the server accepts requests, but not after `signal` has fired. */
  onReady(app: App, config: Config): void;
  /** Called with what the server adds to the data directory, while it already accepts requests. */
  readonly onAddition?: ((addition: Addition) => void) | undefined;
  /** Called before `onReady` if this start created the first keys, even if the server then fails to start. */
  readonly onFirstStart?: AppOptions["onFirstStart"];
}

export interface Terminal {
  /** Whether people read the stream, so that the log is for them unless the configuration says otherwise. */
  readonly isTerminal: boolean;
  readonly stream: NodeJS.WritableStream;
  readonly style: LogLineStyle;
}

/** The configuration is invalid; `problems` has a line for each problem. */
export class InvalidConfigError extends Error {
  override readonly name = "InvalidConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}.`);
    this.problems = problems;
  }
}

/**
 * Resolves when the server has stopped.
 * @throws InvalidConfigError, or AppError if a part cannot start
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { configPath, overrides, signal, onReady, onFirstStart } = options;
  const load = { path: configPath, overrides };
  const loaded = await loadConfig(load);
  const { config } = loaded;
  if (config === undefined) throw new InvalidConfigError(loaded.problems.map(formatProblem));
  const logger = createLogger(config.server.log_level, logOutput(config.server.log_format, options.terminal));
  for (const warning of loaded.warnings) logger.warn({}, warning);
  try {
    const app = await start({ config, logger, version: readVersion(), onFirstStart });
    const watch = watchConfig({ load, loaded: { ...loaded, config }, logger, apply: (next) => app.reload(next) });
    try {
      logger.info({ host: app.host, port: app.port }, "the server accepts calls");
      if (!signal.aborted) onReady(app, config);
      void addModels({
        config: modelsOf(config),
        logger,
        signal,
        onAddition: options.onAddition ?? (() => {}),
        lookForModels: () => app.lookForModels(),
      });
      if (!signal.aborted) await once(signal, "abort");
      logger.info({}, "the server is shutting down");
    } finally {
      await watch.close();
      await app.close();
    }
    logger.info({}, "the server has stopped");
  } finally {
    await logger.close();
  }
}

/** One process that serves requests, or several and their primary; neither loads the other's modules. */
async function start(options: AppOptions): Promise<App> {
  const workers = workerCount(options.config.server.workers);
  if (workers > 1) {
    const { startPrimary } = await import("./workers/primary.ts");
    return startPrimary(options, workers);
  }
  countBuffersAsHeap();
  const observed = await observeProcess(options.logger);
  try {
    const { startApp } = await import("./app.ts");
    const app = await startApp({ ...options, observeRequest: observed.telemetry?.observeRequest });
    return {
      ...app,
      async close() {
        await app.close();
        await observed.close();
      },
    };
  } catch (error) {
    await observed.close();
    throw error;
  }
}

function workerCount(setting: Config["server"]["workers"]): number {
  return setting === "auto" ? Math.min(mostWorkers, availableParallelism()) : setting;
}

/** Lines for people on the terminal, or JSON. */
function logOutput(format: Config["server"]["log_format"], terminal: ServeOptions["terminal"]): LoggerOptions {
  if (terminal === undefined || format === "json" || (format === "auto" && !terminal.isTerminal)) return {};
  return { destination: terminal.stream, text: terminal.style };
}
