/** Reads and writes the files of a backup: private, flushed to the disk, and compared with their checksums. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../errors.ts";
import { type Manifest, manifestFile, parseManifest } from "./manifest.ts";

export interface StoredFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** In the folder until the backup is complete. */
const mark = ".incomplete";

/** @throws AppError invalid_request if the folder has entries, internal if it cannot be created */
export async function createBackupFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    // Another backup that began at the same time finds the mark.
    if ((await readdir(path)).length === 0) return await writeFile(join(path, mark), "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw toFileError(error, path, "created");
  }
  throw new AppError("invalid_request", `${path} is not empty. Name a folder that is empty or does not exist.`);
}

/** Removes what an interrupted backup left. */
export async function emptyBackupFolder(path: string): Promise<void> {
  for (const name of await readdir(path).catch(() => [])) {
    await rm(join(path, name), { recursive: true, force: true }).catch(() => {});
  }
}

/** Copies a file, if `target` is set, and returns its size and checksum. @throws AppError internal, or the signal's reason */
export async function copyFile(source: string, target: string | undefined, signal: AbortSignal): Promise<StoredFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    if (target !== undefined) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await using file = target === undefined ? undefined : await open(target, "wx", 0o600);
    const chunks = createReadStream(source, { highWaterMark: 1_048_576, signal }) as AsyncIterable<Buffer>;
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      await file?.writeFile(chunk);
    }
    await file?.sync();
  } catch (error) {
    signal.throwIfAborted();
    throw toFileError(error, target ?? source, target === undefined ? "read" : "written");
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Writes a small file. @throws AppError internal */
export async function writeBackupFile(path: string, content: string | Uint8Array): Promise<StoredFile> {
  const bytes = Buffer.from(content);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, bytes, { mode: 0o600, flush: true, flag: "wx" });
  } catch (error) {
    throw toFileError(error, path, "written");
  }
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Completes the backup. @throws AppError internal */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, manifestFile);
  await writeBackupFile(`${path}.part`, `${JSON.stringify(manifest, undefined, 1)}\n`);
  try {
    await rename(`${path}.part`, path);
    await rm(join(folder, mark), { force: true });
    await using directory = await open(folder, "r");
    await directory.sync();
  } catch (error) {
    throw toFileError(error, path, "written");
  }
}

/** @throws AppError invalid_request if the folder is not a complete backup */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestFile);
  try {
    await using file = await open(path);
    return parseManifest(await file.readFile("utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new AppError(
        "invalid_request",
        `${folder} has no ${manifestFile}: it is not a backup, or the backup was interrupted.`,
        { cause: error },
      );
    }
    throw toFileError(error, path, "read");
  }
}

/** @throws AppError invalid_request if a file is not as the manifest says */
export function requireSame(path: string, found: StoredFile, expected: StoredFile): void {
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  const reason =
    found.bytes === expected.bytes
      ? "its checksum differs from the manifest's"
      : `it has ${found.bytes} bytes instead of ${expected.bytes}`;
  throw new AppError("invalid_request", `The backup is damaged: ${path}: ${reason}.`);
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "it exists already",
};

function toFileError(error: unknown, path: string, done: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  return new AppError("internal", `${path} cannot be ${done}: ${reasons[code] ?? error.message}.`, { cause: error });
}
