/** Watches the folders of models, and reports changes once they pause. */
import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";
import { modelsDirectoryOf } from "./pull-options.ts";

export interface ModelsWatch {
  /** Watches exactly these folders from now on. */
  follow(folders: readonly string[]): void;
  close(): void;
}

export interface ModelsWatchOptions {
  readonly dataDirectory: string;
  readonly onChange: () => void;
  /** Called for a folder that cannot be watched, such as when the system's watches are used up. */
  readonly onFailure: (error: unknown) => void;
  /** Wait after a change, because a model consists of several files. */
  readonly debounceMs?: number;
}

/** Grows with every block of a download. */
const unfinished = /^\..*\.part$/;

/** Creates the models' directory, so that it can be watched. */
export async function watchModels(options: ModelsWatchOptions): Promise<ModelsWatch> {
  const { dataDirectory, onChange, onFailure, debounceMs = 250 } = options;
  await mkdir(modelsDirectoryOf(dataDirectory), { recursive: true });
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, debounceMs).unref();
  };
  const stop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const start = (folder: string): void => {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        if (event === "rename" || name === null || !unfinished.test(name)) changed();
      });
      watcher.on("error", () => {
        // The folder was removed, which the folder above reports.
        stop(folder);
        changed();
      });
      watchers.set(folder, watcher);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") onFailure(error);
    }
  };
  return {
    follow(folders) {
      for (const folder of watchers.keys()) if (!folders.includes(folder)) stop(folder);
      for (const folder of folders) if (!watchers.has(folder)) start(folder);
    },
    close() {
      clearTimeout(timer);
      for (const folder of watchers.keys()) stop(folder);
    },
  };
}
