/** Lists and copies the files of a model that are in a folder of the user. */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors.ts";
import { mostEntries } from "./archive-guard.ts";
import { writableBytes } from "./extract-archive.ts";
import { isKept } from "./kept-files.ts";
import { deepestPath } from "./member-names.ts";
import type { PackageFile } from "./package-contents.ts";

export interface SourceFile extends PackageFile {
  readonly sizeBytes: number;
}

/**
 * Weights, JSON, texts and licenses in the folder. Links to files are followed, as in the hub's own cache; links to folders
 * are not.
 * @throws AppError invalid_request if there are too many
 */
export async function listKeptFiles(folder: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  let entries = 0;
  const read = async (segments: readonly string[]): Promise<void> => {
    if (segments.length >= deepestPath) return;
    const inside = await readdir(join(folder, ...segments), { withFileTypes: true });
    entries += inside.length;
    if (entries > mostEntries)
      throw new AppError("invalid_request", `${folder} has more than ${mostEntries} files and folders.`);
    for (const entry of inside) {
      const path = [...segments, entry.name];
      if (entry.isDirectory()) {
        if (!entry.name.startsWith(".")) await read(path);
        continue;
      }
      if (!isKept(path)) continue;
      const found = await stat(join(folder, ...path)).catch(() => undefined);
      if (found?.isFile() !== true) continue;
      files.push({ name: path.join("/"), path: join(folder, ...path), sizeBytes: found.size });
    }
  };
  await read([]);
  return files;
}

interface CopyOptions {
  /** Created. */
  readonly folder: string;
  readonly signal: AbortSignal;
  onBytes(doneBytes: number, totalBytes: number): void;
}

/** @throws AppError upstream_failed if they do not fit, or the signal's reason */
export async function copyFiles(files: readonly SourceFile[], options: CopyOptions): Promise<PackageFile[]> {
  const { folder, signal, onBytes } = options;
  await mkdir(folder, { recursive: true });
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const mostBytes = await writableBytes(folder);
  if (totalBytes > mostBytes)
    throw new AppError(
      "upstream_failed",
      `The model needs ${totalBytes} bytes, but at most ${mostBytes} may be written to the disk of ${folder}.`,
    );
  let doneBytes = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      // A file that grows meanwhile.
      if (doneBytes > mostBytes) throw new AppError("upstream_failed", "The files of the model are growing.");
      onBytes(doneBytes, totalBytes);
      yield chunk;
    }
  };
  const copied: PackageFile[] = [];
  for (const { name, path } of files) {
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true });
    await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), counted, createWriteStream(target), { signal });
    copied.push({ name, path: target });
  }
  return copied;
}
