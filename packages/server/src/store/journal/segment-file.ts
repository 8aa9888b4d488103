/** One file of the journal: written once, record after record, and read when its rows are inserted. */
import { type FileHandle, open, readFile } from "node:fs/promises";
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
    await writer.#write([signature]);
    return writer;
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

/** @throws Error of the file system, or for a file that is not a segment */
export async function readSegment(path: string): Promise<SegmentContent> {
  const bytes = await readFile(path);
  const start = bytes.subarray(0, signature.length);
  if (!signature.subarray(0, start.length).equals(start)) throw new Error(`${path} is not a segment of this version.`);
  const decoded = await decodeRecords(bytes, Math.min(signature.length, bytes.length));
  return { ...decoded, bytes: bytes.length };
}
