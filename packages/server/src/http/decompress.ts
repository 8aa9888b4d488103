/**
 * Inflates gzip within a limit and charges the memory while it inflates, so that a small body cannot become a large
 * one. https://www.rfc-editor.org/rfc/rfc1952
 */
import { createGunzip, gunzipSync } from "node:zlib";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { type BodyLimits, concatChunks, tooLarge } from "./collect-body.ts";

/** Inflated synchronously, without the detour over a thread: at most about a millisecond of work. */
const quickInputBytes = 65_536;
const quickOutputBytes = 262_144;
const pieceBytes = 65_536;

/** @throws AppError payload_too_large, invalid_request or as the charge */
export async function decompress(bytes: Buffer, limits: BodyLimits): Promise<Buffer> {
  const { charge, limitBytes } = limits;
  const told = declaredLength(bytes);
  if (bytes.length <= quickInputBytes && told <= quickOutputBytes && told <= limitBytes) {
    charge.add(told);
    try {
      const whole = gunzipSync(bytes, { maxOutputLength: Math.max(told, 1) });
      charge.remove(told - whole.length);
      return whole;
    } catch (error) {
      charge.remove(told);
      if (!isTooLarge(error)) throw failure(error, limitBytes);
    }
  }
  return inflateInChunks(bytes, limits);
}

/** The length that gzip of one member has at its end, modulo 2^32; the sender may lie. */
function declaredLength(bytes: Buffer): number {
  return bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
}

async function inflateInChunks(bytes: Buffer, { limitBytes, charge }: BodyLimits): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  const inflated = new InflatedBytes(bytes, limitBytes);
  gunzip.end(bytes);
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      if (inflated.length + piece.length > limitBytes) throw tooLarge(limitBytes);
      charge.add(piece.length);
      inflated.add(piece);
    }
  } catch (error) {
    throw failure(error, limitBytes);
  }
  return inflated.whole(charge);
}

/** Output that goes straight to its place where the input tells its length truly, as gzip of one member does. */
class InflatedBytes {
  readonly #expected: Buffer;
  readonly #rest: Buffer[] = [];
  #expectedLength = 0;
  #restLength = 0;

  constructor(input: Buffer, limitBytes: number) {
    const told = declaredLength(input);
    // Pages of it that are never written to take no memory.
    this.#expected = Buffer.allocUnsafe(told <= limitBytes ? told : 0);
  }

  get length(): number {
    return this.#expectedLength + this.#restLength;
  }

  add(piece: Buffer): void {
    if (this.#restLength === 0 && this.#expectedLength + piece.length <= this.#expected.length) {
      this.#expectedLength += piece.copy(this.#expected, this.#expectedLength);
      return;
    }
    this.#rest.push(piece);
    this.#restLength += piece.length;
  }

  async whole(charge: MemoryCharge): Promise<Buffer> {
    const begun = this.#expected.subarray(0, this.#expectedLength);
    if (this.#restLength === 0) return begun;
    charge.add(this.length);
    const whole = await concatChunks([begun, ...this.#rest], this.length);
    charge.remove(this.length);
    return whole;
  }
}

function failure(error: unknown, limitBytes: number): unknown {
  if (error instanceof AppError) return error;
  if (isTooLarge(error)) return tooLarge(limitBytes);
  return new AppError("invalid_request", "The body is not valid gzip and could not be decompressed.", { cause: error });
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
}
