/**
 * Buffers an upload so that it can be read repeatedly and at any pace, even while it arrives: in memory up to a limit, then in
 * an unlinked temporary file, which disappears with the process.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { withSpace } from "./with-space.ts";

/** Maximum bytes kept in memory. */
export const spoolMemoryBytes = 256 * 1024;
/** Bytes per read from the file. */
const pieceBytes = 64 * 1024;
const filePrefix = "upload-";

const noBytes = Buffer.alloc(0);

export class Spool {
  readonly #directory: string;
  #memory: Buffer = noBytes;
  #file: FileHandle | undefined;
  #length = 0;
  #state: "open" | "ended" | "closed" = "open";
  #failure: unknown;
  /** Resolved and replaced when more bytes are available, or when there will be none. */
  #changed = Promise.withResolvers<void>();

  /** @param directory for the file of an upload that is too large for memory */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends bytes. Calls must not overlap. @throws AppError overloaded if the disk is full */
  async write(bytes: Buffer): Promise<void> {
    if (this.#file === undefined && this.#length + bytes.length <= spoolMemoryBytes) {
      this.#memory = withSpace(this.#memory, {
        length: this.#length,
        more: bytes.length,
        mostBytes: spoolMemoryBytes,
      });
      bytes.copy(this.#memory, this.#length);
    } else {
      await this.#writeToFile(bytes);
    }
    this.#length += bytes.length;
    this.#notify();
  }

  /** Marks the upload as complete. */
  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#notify();
  }

  /** Marks the upload as failed: readers get the bytes so far, then the error. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#notify();
  }

  /** The bytes from the beginning, as they arrive. */
  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let position = 0; ;) {
      if (this.#state === "closed") throw new Error("The upload was closed while it was being read.");
      if (position < this.#length) {
        const bytes = await this.#readAt(position);
        position += bytes.length;
        yield bytes;
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#state === "ended") return;
      await this.#changed.promise;
    }
  }

  /** Deletes everything. Reads fail from now on. */
  async close(): Promise<void> {
    this.#state = "closed";
    this.#memory = noBytes;
    this.#notify();
    await this.#file?.close();
  }

  async #readAt(position: number): Promise<Uint8Array> {
    const length = Math.min(pieceBytes, this.#length - position);
    if (this.#file === undefined) {
      // No byte is overwritten, so readers may keep the view, also of a buffer that has become too small.
      return this.#memory.subarray(position, position + length);
    }
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new Error("The upload's temporary file is shorter than expected.");
    return buffer.subarray(0, bytesRead);
  }

  async #writeToFile(bytes: Buffer): Promise<void> {
    try {
      if (this.#file === undefined) {
        const file = await openUnlinkedFile(this.#directory);
        if (this.#state === "closed") return await file.close();
        await writeAll(file, this.#memory.subarray(0, this.#length), 0);
        this.#file = file;
        this.#memory = noBytes;
      }
      await writeAll(this.#file, bytes, this.#length);
    } catch (error) {
      throw new AppError("overloaded", "There is not enough disk space for the upload. Retry later.", { cause: error });
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Removes files of processes that were killed between creating and unlinking them. */
export async function clearSpoolDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const left = (await readdir(directory)).filter((name) => name.startsWith(filePrefix));
  await Promise.all(left.map((name) => unlink(join(directory, name)).catch(() => {})));
}

async function openUnlinkedFile(directory: string): Promise<FileHandle> {
  const path = join(directory, `${filePrefix}${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  // Another process may have removed it at its start.
  await unlink(path).catch(() => {});
  return file;
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
