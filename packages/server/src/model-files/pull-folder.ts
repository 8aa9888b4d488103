/** Pulls models that are folders: a hub repository file by file, or an archive that is unpacked. */
import { lstat, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../errors.ts";
import { download } from "./download.ts";
import { modelFileProblem } from "./model-file-problem.ts";
import { hubUrl, type ArchiveSource, type RepositorySource } from "./model-source.ts";
import { withPullLock } from "./pull-lock.ts";
import { pathOf, type PullResult, type PulledFile, type PullOptions } from "./pull-options.ts";
import { listRepository, type RepositoryFile } from "./repository-files.ts";
import { incompleteMark } from "./stored-models.ts";
import { requireUnpacker } from "./extract-archive.ts";
import { originFile, unpackArchive } from "./unpack-archive.ts";
import { convertWhispers } from "./whisper/convert-whisper.ts";

/** Files that are fetched at the same time: most of a voice's are small. */
const downloadsAtOnce = 4;

export async function pullRepository(source: RepositorySource, options: PullOptions): Promise<PullResult> {
  const token = options.hubToken;
  const { proxies, signal } = options;
  const listed = await listRepository(source, { token, proxies, signal });
  const folder = { name: source.name, path: pathOf(options.dataDirectory, source.name) };
  const totalBytes = listed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const doneBytes = new Map<RepositoryFile, number>();
  const show = (file: RepositoryFile, bytes: number): void => {
    doneBytes.set(file, bytes);
    const done = [...doneBytes.values()].reduce((sum, each) => sum + each, 0);
    options.onProgress?.(source.name, { phase: "downloading", doneBytes: done, totalBytes });
  };
  const pullFile = async (file: RepositoryFile, stopped: AbortSignal): Promise<PulledFile> => {
    const name = [source.name, ...file.path].join("/");
    const path = pathOf(options.dataDirectory, name);
    const downloaded = await download({
      ...options,
      signal: stopped,
      file: { url: hubUrl(source, file.path), token, proxies },
      target: path,
      sha256: undefined,
      check: (part) => modelFileProblem(name, part),
      onProgress: (progress) => progress.phase === "downloading" && show(file, progress.doneBytes),
      onRetry: (retry) => options.onRetry?.(name, retry),
    });
    show(file, downloaded.sizeBytes);
    return { name, path, ...downloaded };
  };
  return withPullLock(folder.path, async () => {
    // Until all files are there, the folder is not served.
    const mark = join(folder.path, incompleteMark);
    await mkdir(folder.path, { recursive: true });
    await writeFile(mark, "");
    const files = await eachOf(listed, signal, pullFile);
    const onConverted = (done: number, total: number): void =>
      options.onProgress?.(source.name, { phase: "converting", doneBytes: done, totalBytes: total });
    await convertWhispers(folder.path, { signal, onProgress: onConverted });
    await rm(mark);
    return { files, folder };
  });
}

/** The results in the order of the items. The first failure stops the others, and is thrown when they have stopped. */
async function eachOf<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T, stopped: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController();
  const stopped = AbortSignal.any([signal, failed.signal]);
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) {
      stopped.throwIfAborted();
      results[index] = await work(item, stopped);
    }
  };
  const workers = Array.from({ length: downloadsAtOnce }, () =>
    worker().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(workers);
  failed.signal.throwIfAborted();
  return results;
}

interface Origin {
  /** Undefined for what was added from this machine. */
  readonly url?: string;
  readonly sha256: string;
  readonly size_bytes: number;
  /** Of a package; null if it declares none. */
  readonly license?: string | null;
}

/** The source of a folder that was unpacked from an archive; undefined for another folder. */
export async function originOf(folder: string): Promise<Origin | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, originFile), "utf8")) as Origin;
  } catch {
    return undefined;
  }
}

/** @throws AppError conflict when something other than an unpacked archive has the name, which would be deleted */
export async function requireReplaceable(path: string, name: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || (found.isDirectory() && (await originOf(path)) !== undefined)) return;
  throw new AppError(
    "conflict",
    `${JSON.stringify(name)} exists and was not unpacked from an archive or package (${path}). Move it away, or remove it with: sounding models remove.`,
  );
}

/** A folder from the same archive is not fetched again. */
export async function pullArchive(
  { name, url, onHub, format }: ArchiveSource,
  options: PullOptions & { readonly sha256: string | undefined },
): Promise<PullResult> {
  const { sha256, signal } = options;
  await requireUnpacker(format);
  const path = pathOf(options.dataDirectory, name);
  return withPullLock(path, async () => {
    const known = await originOf(path);
    if (known?.url === url && (sha256 === undefined || sha256 === known.sha256)) {
      const there = { sha256: known.sha256, sizeBytes: known.size_bytes, alreadyThere: true };
      return { files: [{ name, path, ...there }], folder: { name, path } };
    }
    await requireReplaceable(path, name);
    const archive = join(dirname(path), `.${name}.archive`);
    const downloaded = await download({
      ...options,
      file: { url, token: onHub ? options.hubToken : undefined, proxies: options.proxies },
      target: archive,
      sha256,
      onProgress: (progress) => options.onProgress?.(name, progress),
      onRetry: (retry) => options.onRetry?.(name, retry),
    });
    const made: Origin = { url, sha256: downloaded.sha256, size_bytes: downloaded.sizeBytes };
    try {
      const origin = `${JSON.stringify(made)}\n`;
      const onConverted = (doneBytes: number, totalBytes: number): void =>
        options.onProgress?.(name, { phase: "converting", doneBytes, totalBytes });
      await unpackArchive({ archive, target: path, format, origin, signal, onConverted });
    } finally {
      if (!signal.aborted) await rm(archive, { force: true });
    }
    return { files: [{ name, path, ...downloaded, alreadyThere: false }], folder: { name, path } };
  });
}
