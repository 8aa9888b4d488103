/** A backup in a folder: files that are private and flushed to the disk. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../errors.ts";
import { lacksManifest, requireSame, storedFileOf, toFileError } from "./backup-files.ts";
import type { BackupStorage, ExpectedFile, StoredFile, VerifyOptions } from "./backup-storage.ts";
import { incompleteMark, type Manifest, manifestFile, parseManifest, printManifest } from "./manifest.ts";

export class BackupFolder implements BackupStorage {
  readonly location: string;
  readonly folder: string;

  constructor(path: string) {
    this.location = path;
    this.folder = path;
  }

  async begin(): Promise<void> {
    const path = this.folder;
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      // Another backup that began at the same time finds the mark.
      if ((await readdir(path)).length === 0)
        return await writeFile(join(path, incompleteMark), "", { mode: 0o600, flag: "wx" });
    } catch (error) {
      throw toFileError(error, path, "created");
    }
    throw new AppError("invalid_request", `${path} is not empty. Name a folder that is empty or does not exist.`);
  }

  async write(path: string, content: string | Uint8Array): Promise<StoredFile> {
    const target = join(this.folder, path);
    const bytes = Buffer.from(content as Uint8Array);
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, bytes, { mode: 0o600, flush: true, flag: "wx" });
    } catch (error) {
      throw toFileError(error, target, "written");
    }
    return storedFileOf(bytes);
  }

  async add(path: string, source: string, signal: AbortSignal): Promise<StoredFile> {
    return await copyFile(source, join(this.folder, path), signal);
  }

  async complete(manifest: Manifest): Promise<void> {
    const path = join(this.folder, manifestFile);
    await this.write(`${manifestFile}.part`, printManifest(manifest));
    try {
      await rename(`${path}.part`, path);
      await rm(join(this.folder, incompleteMark), { force: true });
      await using directory = await open(this.folder, "r");
      await directory.sync();
    } catch (error) {
      throw toFileError(error, path, "written");
    }
  }

  async discard(): Promise<undefined> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      await rm(join(this.folder, name), { recursive: true, force: true }).catch(() => {});
    }
  }

  async readManifest(): Promise<Manifest> {
    const path = join(this.folder, manifestFile);
    try {
      await using file = await openFile(path);
      return parseManifest(await file.readFile("utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") throw lacksManifest(this.folder, error);
      throw toFileError(error, path, "read");
    }
  }

  async read(path: string, expected: StoredFile): Promise<Buffer> {
    const source = join(this.folder, path);
    try {
      await using file = await openFile(source);
      const bytes = await file.readFile();
      requireSame(path, storedFileOf(bytes), expected);
      return bytes;
    } catch (error) {
      throw toFileError(error, source, "read");
    }
  }

  async verify(path: string, expected: StoredFile, { signal, target }: VerifyOptions): Promise<void> {
    requireSame(path, await copyFile(join(this.folder, path), target, signal), expected);
  }

  async verifyAll(files: readonly ExpectedFile[], signal: AbortSignal): Promise<void> {
    for (const [path, expected] of files) await this.verify(path, expected, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Copies a file, if `target` is set, and returns its size and checksum. @throws AppError internal, or the signal's reason */
async function copyFile(source: string, target: string | undefined, signal: AbortSignal): Promise<StoredFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    if (target !== undefined) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await using file = target === undefined ? undefined : await open(target, "wx", 0o600);
    await using from = await openFile(source);
    const chunks = from.createReadStream({
      highWaterMark: 1_048_576,
      signal,
      autoClose: false,
    }) as AsyncIterable<Buffer>;
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

/** Opens a file to read it. Opening a pipe would wait for its writer, and a device may never end. @throws AppError */
async function openFile(path: string): Promise<FileHandle> {
  // Windows has neither.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new AppError("invalid_request", `${path} is not a file; a backup consists of files.`);
}
