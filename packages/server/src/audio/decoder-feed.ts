/** Reads one recording for the worker that decodes it, piece by piece, as the worker asks for bytes. */
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import type { DecoderSlot } from "./decoder-slot.ts";

/** Bytes per message to the worker. */
const readBytes = 64 * 1024;

export class DecoderFeed {
  readonly #reopen: (() => AsyncIterable<Uint8Array>) | undefined;
  #reader: ByteReader | undefined;
  /** The bytes that the worker requested are being read. */
  #reading: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #waitingSinceMs: number | undefined;
  #failure: { readonly error: unknown } | undefined;

  /**
   * @param reader reads the recording from its beginning
   * @param reopen gives the recording again, for another worker
   */
  constructor(reader: ByteReader, reopen: (() => AsyncIterable<Uint8Array>) | undefined) {
    this.#reader = reader;
    this.#reopen = reopen;
  }

  /** Since when the worker has been waiting for bytes. */
  get waitingSinceMs(): number | undefined {
    return this.#waitingSinceMs;
  }

  /** Why the recording cannot be read. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Resolves when no bytes are being read any more. */
  get idle(): Promise<void> {
    return this.#reading ?? Promise.resolve();
  }

  /** The next bytes are the first of the recording. */
  open(): void {
    this.#reader ??= createByteReader(this.#reopen!());
  }

  /** Sends the next bytes to the worker. */
  send(slot: DecoderSlot): void {
    this.#reading = this.#send(slot, this.#reader!);
  }

  /** The worker needs no more bytes. A reader that waits for the upload is closed when the upload continues. */
  stop(): void {
    this.#waitingSinceMs = undefined;
    if (this.#reading === undefined && this.#reader !== undefined) this.#close(this.#reader);
    this.#reader = undefined;
  }

  /** Resolves when the reader that was closed last has ended. */
  get closed(): Promise<void> | undefined {
    return this.#closing;
  }

  async #send(slot: DecoderSlot, reader: ByteReader): Promise<void> {
    this.#waitingSinceMs = performance.now();
    try {
      const piece = await reader.readSome(readBytes);
      // A copy with its own buffer, which is transferred.
      const bytes = piece === null ? null : new Uint8Array(piece);
      slot.post({ type: "bytes", bytes }, bytes === null ? [] : [bytes.buffer]);
    } catch (error) {
      if (this.#reader === reader) this.#failure = { error };
      slot.post({ type: "bytes", bytes: "failed" });
    }
    this.#reading = undefined;
    if (this.#reader === reader) this.#waitingSinceMs = undefined;
    else this.#close(reader);
  }

  #close(reader: ByteReader): void {
    // Errors while closing a source that is no longer read do not matter.
    this.#closing = reader.close().catch(() => {});
  }
}
