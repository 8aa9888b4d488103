/** Runs the server as a process: loads its configuration, starts it, reloads changes, and shuts down gracefully on a signal. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { startApp } from "./app.ts";
import type { Config } from "./config/config.ts";
import { mayUnpackPocketSphinx } from "./config/discovery.ts";
import { loadConfig, type ConfigOverrides } from "./config/load-config.ts";
import { formatProblem } from "./config/problem.ts";
import { wantsProcessTelemetry } from "./config/process-telemetry.ts";
import { modelsOf } from "./config/settings-of-role.ts";
import { watchConfig } from "./config/watch-config.ts";
import type { LogLineStyle } from "./log-line.ts";
import { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
import type { App, AppOptions } from "./running-app.ts";
import type { ProcessTelemetry } from "./telemetry/process/process-telemetry.ts";

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
  /** Called with sentences about what the server adds to the data directory. */
  readonly onNotice?: ((notice: string) => void) | undefined;
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
 * Makes V8 count buffers as heap when it schedules garbage collections. By default every few dozen megabytes of buffers cause
 * a full collection, and telemetry bodies reach that in half a second. docs/adr/0027-cost-of-a-call.md
 */
function countBuffersAsHeap(): void {
  // The flag exists in V8 13, the version of Node 24.
  if (process.versions.v8.startsWith("13.")) setFlagsFromString("--external-memory-accounted-in-global-limit");
}

/**
 * Resolves when the server has stopped.
 * @throws InvalidConfigError, or AppError if a part cannot start
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { configPath, overrides, signal, onReady, onFirstStart } = options;
  countBuffersAsHeap();
  const load = { path: configPath, overrides };
  const loaded = await loadConfig(load);
  const { config } = loaded;
  if (config === undefined) throw new InvalidConfigError(loaded.problems.map(formatProblem));
  const logger = createLogger(config.server.log_level, logOutput(config.server.log_format, options.terminal));
  for (const warning of loaded.warnings) logger.warn({}, warning);
  try {
    await using observed = await observeProcess(logger);
    const observeRequest = observed.telemetry?.observeRequest;
    const app = await startApp({ config, logger, version: readVersion(), observeRequest, onFirstStart });
    const watch = watchConfig({ load, loaded: { ...loaded, config }, logger, apply: (next) => app.reload(next) });
    try {
      logger.info({ host: app.host, port: app.port }, "the server accepts calls");
      if (!signal.aborted) onReady(app, config);
      void addPocketSphinx(app, { config, logger, options });
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

/** Lines for people on the terminal, or JSON. */
function logOutput(format: Config["server"]["log_format"], terminal: ServeOptions["terminal"]): LoggerOptions {
  if (terminal === undefined || format === "json" || (format === "auto" && !terminal.isTerminal)) return {};
  return { destination: terminal.stream, text: terminal.style };
}

/** Adds PocketSphinx to the data directory if it is missing, while the server already accepts requests. */
async function addPocketSphinx(
  app: App,
  { config, logger, options }: { config: Config; logger: Logger; options: ServeOptions },
): Promise<void> {
  if (!mayUnpackPocketSphinx(modelsOf(config))) return;
  const { unpackPocketSphinx } = await import("./engines/pocketsphinx/unpack-packages.ts");
  const dataDirectory = resolve(config.storage.data_dir);
  const notify = options.onNotice ?? (() => {});
  if (await unpackPocketSphinx({ dataDirectory, logger, notify, signal: options.signal })) await app.lookForModels();
}

/** Starts telemetry of the process if the environment sets an OTLP endpoint. A failure does not stop the server. */
async function observeProcess(logger: Logger) {
  let telemetry: ProcessTelemetry | undefined;
  try {
    if (wantsProcessTelemetry()) {
      const { startProcessTelemetry } = await import("./telemetry/process/process-telemetry.ts");
      telemetry = await startProcessTelemetry({ version: readVersion(), logger });
    }
  } catch (error) {
    logger.warn({ error }, "process telemetry is off because OpenTelemetry's SDK could not be started");
  }
  return { telemetry, [Symbol.asyncDispose]: async () => telemetry?.close() };
}

function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
