/** One file of the journal: written once, record after record, and read when its rows are inserted. */
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { decodeRecords, encodeHead, type DecodedRecords, type JournalRecord } from "./record.ts";

/** The first bytes of each file; the digit is the version of the format. */
const signature = Buffer.from("SNDJRNL1", "latin1");

export class SegmentWriter {
  readonly #file: FileHandle;
  /** Bytes that are written. */
  bytes = 0;
  #isSynced = true;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws Error of the file system */
  static async create(path: string): Promise<SegmentWriter> {
    const writer = new SegmentWriter(await open(path, "wx", 0o600));
    try {
      await writer.#write([signature]);
    } catch (error) {
      await writer.discard(path);
      throw error;
    }
    return writer;
  }

  /** Removes a segment that cannot be used. */
  async discard(path: string): Promise<void> {
    await this.#file.close();
    await rm(path, { force: true });
  }

  /** Resolves when the system has the bytes: they outlive the process, but not the machine. @throws Error of the file system */
  async append(records: readonly JournalRecord[]): Promise<void> {
    const heads = await Promise.all(records.map(encodeHead));
    await this.#write(records.flatMap(({ block }, index) => [heads[index]!, block]));
  }

  /** Resolves when everything written is on the disk. @throws Error of the file system; then nothing is known of the bytes since the last call */
  async sync(): Promise<void> {
    await this.#file.datasync();
    this.#isSynced = true;
  }

  /** @throws Error of the file system */
  async close(): Promise<void> {
    try {
      if (!this.#isSynced) await this.sync();
    } finally {
      await this.#file.close();
    }
  }

  async #write(parts: readonly Uint8Array[]): Promise<void> {
    this.#isSynced = false;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const { bytesWritten } = await this.#file.writev(parts);
    this.bytes += bytesWritten;
    if (bytesWritten < length) throw new Error(`Only ${bytesWritten} of ${length} bytes were written.`);
  }
}

export interface SegmentContent extends DecodedRecords {
  /** Bytes of the file. */
  readonly bytes: number;
}

/** A file that this version cannot read. */
export class SegmentFormatError extends Error {
  override readonly name = "SegmentFormatError";
}

/** @throws SegmentFormatError; Error of the file system */
export async function readSegment(path: string): Promise<SegmentContent> {
  const bytes = await readFile(path);
  const start = bytes.subarray(0, signature.length);
  if (!signature.subarray(0, start.length).equals(start)) throw new SegmentFormatError(`${path} is not a segment.`);
  const decoded = await decodeRecords(bytes, Math.min(signature.length, bytes.length));
  if (decoded.end === "unknown") throw new SegmentFormatError(`${path} has records of another version.`);
  return { ...decoded, bytes: bytes.length };
}
