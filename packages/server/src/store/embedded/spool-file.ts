/**
 * Passes rows to the embedded engine through a file, because the engine reads binary formats only from files. The server
 * writes the file next to the data and sends its name. It is usually deleted before it is flushed to disk.
 */
import { randomUUID } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../store-error.ts";

/** In the URL of an insert: the file's name in the spool directory. */
export const spoolFileParameter = "spool_file";
const namePattern = /^[0-9a-f-]{36}$/;

/**
 * Writes the blocks to a file, calls the function with it, and removes the file.
 * @throws StoreError when the file cannot be written
 */
export async function withSpoolFile<Result>(
  directory: string,
  blocks: readonly Uint8Array[],
  work: (name: string) => Promise<Result>,
): Promise<Result> {
  const name = randomUUID();
  const path = join(directory, name);
  try {
    await write(path, blocks);
    return await work(name);
  } finally {
    await rm(path, { force: true });
  }
}

async function write(path: string, blocks: readonly Uint8Array[]): Promise<void> {
  const bytes = blocks.reduce((sum, { length }) => sum + length, 0);
  try {
    await using file = await open(path, "wx", 0o600);
    const { bytesWritten } = await file.writev(blocks);
    if (bytesWritten < bytes) throw new Error(`Only ${bytesWritten} of ${bytes} bytes were written.`);
  } catch (error) {
    // A full disk is reported as the engine would report it.
    throw new StoreError("The rows cannot be passed to the store.", { code: 243, cause: error });
  }
}

/**
 * Where the file of that name is, and its size.
 * @throws StoreError for anything but a file of `withSpoolFile`; to be tried again when the file has gone, because the
 *   engine was restarted
 */
export async function findSpoolFile(directory: string, name: string): Promise<{ path: string; bytes: number }> {
  if (!namePattern.test(name)) throw new StoreError("This is not the name of a spool file.", { code: 62 });
  const path = join(directory, name);
  try {
    return { path, bytes: (await stat(path)).size };
  } catch (error) {
    throw new StoreError("The spool file does not exist.", { code: 76, cause: error });
  }
}
