/** Grows a buffer with what arrives, so that input which was only announced, or has only begun, takes little memory. */

/** Input up to this size is not copied again. */
const smallBytes = 65_536;

export interface Space {
  /** Bytes that the buffer has. */
  readonly length: number;
  /** Bytes that are added. */
  readonly more: number;
  /** The largest buffer. */
  readonly mostBytes: number;
}

/**
 * The buffer, or a larger copy. Of long input, at most four times what has arrived is reserved; the system gives memory only to
 * what is written.
 */
export function withSpace(buffer: Buffer, { length, more, mostBytes }: Space): Buffer {
  const needed = length + more;
  if (needed <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafe(Math.min(mostBytes, Math.max(needed * 4, smallBytes * 4)));
  buffer.copy(larger, 0, 0, length);
  return larger;
}
