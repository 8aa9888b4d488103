/**
 * Reloads the configuration while the server runs, on SIGHUP and when the file changes. Changes that need a restart are
 * logged but not applied; an invalid file changes nothing.
 */
import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../logger.ts";
import { isReloadable, type Config } from "./config.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "./load-config.ts";
import { formatProblem } from "./problem.ts";

export interface WatchOptions {
  /** How the configuration was loaded at the start. */
  readonly load: LoadOptions;
  readonly loaded: LoadedConfig & { readonly config: Config };
  readonly logger: Logger;
  /** Applies a changed configuration. A failure is logged, and the next reload tries again. */
  readonly apply: (config: Config) => void | Promise<void>;
  /** Wait after a change of the file, because editors write in several steps. */
  readonly debounceMs?: number;
}

export interface ConfigWatch {
  /** The configuration in use. */
  readonly config: Config;
  /** Reloads immediately. Never rejects. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export function watchConfig(options: WatchOptions): ConfigWatch {
  const { loaded, logger, debounceMs = 250 } = options;
  let config = loaded.config;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function reloadOnce(): Promise<void> {
    const next = await loadConfig(options.load);
    if (loaded.found && !next.found) {
      logger.error(
        { file: next.file },
        "the configuration file no longer exists; the current configuration stays active",
      );
      return;
    }
    if (next.config === undefined) {
      const problems = next.problems.map(formatProblem);
      logger.error(
        { file: next.file, problems },
        "the configuration file is invalid; the current configuration stays active",
      );
      return;
    }
    const merged = withReloadable(config, next.config);
    if (merged.kept.length > 0) {
      logger.warn({ settings: merged.kept }, "some changed settings take effect only after a restart");
    }
    if (isDeepStrictEqual(merged.config, config)) return;
    await options.apply(merged.config);
    config = merged.config;
    logger.info({ file: next.file }, "the configuration was reloaded");
  }

  function reload(): Promise<void> {
    running = running.then(reloadOnce).catch((error: unknown) => {
      logger.error({ error }, "the new configuration could not be applied");
    });
    return running;
  }

  const onSignal = (): void => void reload();
  process.on("SIGHUP", onSignal);
  const watcher = watchFile(loaded.file, logger, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), debounceMs).unref();
  });

  return {
    get config() {
      return config;
    },
    reload,
    async close() {
      process.off("SIGHUP", onSignal);
      watcher?.close();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Kubernetes replaces a mounted ConfigMap by moving this link. */
const mountedLink = "..data";

/** Watches the folder, because editors and deployments replace the file instead of writing to it. */
function watchFile(file: string, logger: Logger, onChange: () => void): FSWatcher | undefined {
  const name = basename(file);
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_event, changed) => {
      if (changed === null || changed === name || changed === mountedLink) onChange();
    });
    watcher.on("error", (error) => {
      logger.warn({ error, file }, "the configuration file is no longer watched; send SIGHUP to reload it");
    });
    return watcher;
  } catch (error) {
    logger.warn({ error, file }, "the configuration file cannot be watched; send SIGHUP to reload it");
    return undefined;
  }
}

/**
 * The current configuration with the reloadable parts of the next one, and the changed settings that need a restart.
 */
function withReloadable(current: Config, next: Config): { config: Config; kept: string[] } {
  const kept: string[] = [];
  const merge = (before: object, after: object, prefix: string): object => {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const entries = [...names].map((name): [string, unknown] => {
      const path = prefix + name;
      const [was, is] = [(before as Entries)[name], (after as Entries)[name]];
      if (isReloadable(path)) return [name, is];
      if (prefix === "") return [name, merge(was as object, is as object, `${path}.`)];
      if (!isDeepStrictEqual(was, is)) kept.push(path);
      return [name, was];
    });
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  };
  return { config: merge(current, next, "") as Config, kept };
}

type Entries = Readonly<Record<string, unknown>>;
