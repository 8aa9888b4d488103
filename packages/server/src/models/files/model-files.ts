/** The model files of a server: pulled, listed, removed. They are in the folder `models` of its data directory. */
import { mkdir, open, readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { AppError } from "../../errors.ts";
import { download, removeParts, type Downloaded, type DownloadOptions } from "./download.ts";
import { describeGguf, ggufProblem, type GgufDescription } from "./gguf-file.ts";
import { parseModelSource, partsOf } from "./model-source.ts";

export interface ModelFile {
  /** Relative to the models' directory, with slashes: its name in the configuration. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedUnixMs: number;
  /** What the file says of itself; undefined if it cannot be read. */
  readonly description: GgufDescription | undefined;
  readonly problem: string | undefined;
}

export interface PullOptions extends Pick<DownloadOptions, "signal" | "retryPauseMs" | "idleTimeoutMs"> {
  readonly dataDirectory: string;
  /** `owner/repository/file.gguf`, or a URL. */
  readonly source: string;
  /** The checksum that the file must have, in hexadecimal. */
  readonly sha256?: string | undefined;
  readonly hubEndpoint?: string | undefined;
  readonly hubToken?: string | undefined;
  onProgress?(name: string, progress: Parameters<NonNullable<DownloadOptions["onProgress"]>>[0]): void;
}

export interface PulledFile extends Downloaded {
  readonly name: string;
  readonly path: string;
}

function modelsDirectoryOf(dataDirectory: string): string {
  return join(resolve(dataDirectory), "models");
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Runs while no other process pulls the same file. */
async function exclusively<T>(target: string, run: () => Promise<T>): Promise<T> {
  const lock = join(dirname(target), `.${target.split(sep).at(-1)}.lock`);
  await mkdir(dirname(target), { recursive: true });
  const holder = Number(await readFile(lock, "utf8").catch(() => "0"));
  if (holder > 0 && isRunning(holder)) {
    throw new AppError("conflict", `The process ${holder} is pulling this file already.`);
  }
  await rm(lock, { force: true });
  const handle = await open(lock, "wx");
  try {
    await handle.writeFile(String(process.pid));
    return await run();
  } finally {
    await handle.close();
    await rm(lock, { force: true });
  }
}

/**
 * Fetches a model file, all its parts if it is split, into the data directory.
 * @throws AppError that says what is wrong; the signal's reason when aborted
 */
export async function pullModel(options: PullOptions): Promise<PulledFile[]> {
  const sources = partsOf(parseModelSource(options.source, options.hubEndpoint));
  const sha256 = options.sha256?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new AppError(
      "invalid_request",
      `The SHA-256 ${JSON.stringify(options.sha256)} is not 64 hexadecimal digits.`,
    );
  }
  if (sha256 !== undefined && sources.length > 1)
    throw new AppError("invalid_request", "One SHA-256 cannot be checked against a model of several files.");
  const pulled: PulledFile[] = [];
  for (const { name, url, onHub } of sources) {
    const path = join(modelsDirectoryOf(options.dataDirectory), ...name.split("/"));
    const downloaded = await exclusively(path, () =>
      download({
        ...options,
        file: { url, token: onHub ? options.hubToken : undefined },
        target: path,
        sha256,
        check: ggufProblem,
        onProgress: (progress) => options.onProgress?.(name, progress),
      }),
    );
    pulled.push({ name, path, ...downloaded });
  }
  return pulled;
}

async function describe(directory: string, path: string): Promise<ModelFile> {
  const { size, mtimeMs } = await stat(path);
  const facts = {
    name: relative(directory, path).split(sep).join("/"),
    path,
    sizeBytes: size,
    modifiedUnixMs: mtimeMs,
  };
  try {
    return { ...facts, description: await describeGguf(path), problem: undefined };
  } catch (error) {
    return { ...facts, description: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The model files of a data directory, by name. */
export async function listModelFiles(dataDirectory: string): Promise<ModelFile[]> {
  const directory = modelsDirectoryOf(dataDirectory);
  const names = await readdir(directory, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => name.toLowerCase().endsWith(".gguf")).sort();
  const described: ModelFile[] = [];
  for (const name of files) described.push(await describe(directory, join(directory, name)));
  return described;
}

/**
 * Removes a model file, all its parts if it is split, and what was left of unfinished pulls of it.
 * @returns the names of the removed files
 * @throws AppError not_found
 */
export async function removeModelFile(dataDirectory: string, name: string): Promise<string[]> {
  const directory = modelsDirectoryOf(dataDirectory);
  const removed: string[] = [];
  for (const part of partsOf({ name, url: "", onHub: false })) {
    const path = resolve(directory, part.name);
    if (!path.startsWith(directory + sep))
      throw new AppError("not_found", `${JSON.stringify(name)} is not a model file of ${directory}.`);
    await removeParts(path);
    const there = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (!there) continue;
    await rm(path);
    removed.push(part.name);
    await removeEmptyFolders(dirname(path), directory);
  }
  if (removed.length === 0)
    throw new AppError("not_found", `There is no model file ${JSON.stringify(name)} in ${directory}.`);
  return removed;
}

async function removeEmptyFolders(folder: string, upTo: string): Promise<void> {
  if (folder === upTo) return;
  const empty = (await readdir(folder)).length === 0;
  if (!empty) return;
  await rmdir(folder);
  await removeEmptyFolders(dirname(folder), upTo);
}
