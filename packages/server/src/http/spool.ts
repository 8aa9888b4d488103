/**
 * An upload that is read at its own pace and as often as needed while it still arrives: its first bytes in memory, a
 * longer one in a file that has no name, so that whatever ends the process ends the file too.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";

/** Bytes that stay in memory. */
export const spoolMemoryBytes = 256 * 1024;
/** Bytes that a reader gets at once from a file. */
const pieceBytes = 64 * 1024;
const filePrefix = "upload-";

export class Spool {
  readonly #directory: string;
  #memory: Buffer | undefined;
  #file: FileHandle | undefined;
  #length = 0;
  #state: "open" | "ended" | "closed" = "open";
  #failure: unknown;
  /** Resolved, and replaced, when there is more to read or when no more comes. */
  #change = Promise.withResolvers<void>();

  /** @param directory where a file is made when the upload is too long for memory */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Takes the next bytes; one call after another. @throws AppError overloaded when there is no room for them */
  async write(bytes: Buffer): Promise<void> {
    if (this.#file === undefined && this.#length + bytes.length <= spoolMemoryBytes) {
      this.#memory ??= Buffer.allocUnsafe(spoolMemoryBytes);
      bytes.copy(this.#memory, this.#length);
    } else {
      await this.#writeToFile(bytes);
    }
    this.#length += bytes.length;
    this.#tell();
  }

  /** All is there. */
  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#tell();
  }

  /** The rest will not come: readers get what is there, then the error. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#tell();
  }

  /** The bytes from the beginning, as they come. */
  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let position = 0; ;) {
      if (this.#state === "closed") throw new Error("The upload was closed while it was read.");
      if (position < this.#length) {
        const bytes = await this.#readAt(position);
        position += bytes.length;
        yield bytes;
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#state === "ended") return;
      await this.#change.promise;
    }
  }

  /** Forgets everything. Reading fails from now on. */
  async close(): Promise<void> {
    this.#state = "closed";
    this.#memory = undefined;
    this.#tell();
    await this.#file?.close();
  }

  async #readAt(position: number): Promise<Uint8Array> {
    const length = Math.min(pieceBytes, this.#length - position);
    if (this.#file === undefined) {
      // No byte of it is written twice, so readers may keep it.
      return this.#memory!.subarray(position, position + length);
    }
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Error("The upload's file is shorter than what was written to it.");
    return buffer.subarray(0, bytesRead);
  }

  async #writeToFile(bytes: Buffer): Promise<void> {
    try {
      if (this.#file === undefined) {
        const file = await openNamelessFile(this.#directory);
        if (this.#state === "closed") return await file.close();
        if (this.#memory !== undefined) await writeAll(file, this.#memory.subarray(0, this.#length), 0);
        this.#file = file;
        this.#memory = undefined;
      }
      await writeAll(this.#file, bytes, this.#length);
    } catch (error) {
      throw new AppError("overloaded", "There is no room for the upload just now.", { cause: error });
    }
  }

  #tell(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** Removes what a process left behind that was killed in the instant between making a file and taking its name away. */
export async function clearSpoolDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const left = (await readdir(directory)).filter((name) => name.startsWith(filePrefix));
  await Promise.all(left.map((name) => unlink(join(directory, name)).catch(() => {})));
}

async function openNamelessFile(directory: string): Promise<FileHandle> {
  const path = join(directory, `${filePrefix}${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  // Another process that starts may have removed the name already.
  await unlink(path).catch(() => {});
  return file;
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
