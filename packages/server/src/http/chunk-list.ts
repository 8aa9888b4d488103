/**
 * The pieces of a body in the order of their arrival. Each is an object of some 200 bytes, however short it is; short ones
 * are therefore copied together, or a body sent byte by byte would take 200 times what it is charged.
 */
export class ChunkList {
  /** In bytes. */
  length = 0;
  #chunks: Buffer[] = [];
  /** Where short pieces are copied together. */
  #tail: Buffer | undefined;
  #tailBytes = 0;

  add(chunk: Buffer): void {
    this.length += chunk.length;
    if (chunk.length >= shortBytes) {
      this.#endTail();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#tailBytes + chunk.length > tailBytes) this.#endTail();
    this.#tail ??= Buffer.allocUnsafeSlow(tailBytes);
    this.#tailBytes += chunk.copy(this.#tail, this.#tailBytes);
  }

  /** Empties the list. */
  take(): readonly Buffer[] {
    this.#endTail();
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#tail = undefined;
    this.length = 0;
    return chunks;
  }

  #endTail(): void {
    if (this.#tailBytes === 0) return;
    this.#chunks.push(Buffer.from(this.#tail!.subarray(0, this.#tailBytes)));
    this.#tailBytes = 0;
  }
}

const shortBytes = 4_096;
const tailBytes = 16_384;
