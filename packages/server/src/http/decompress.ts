/**
 * Decompresses bodies within a limit and charges their memory as it grows, so that a small body cannot expand without bound.
 * The codings are those that senders of OpenTelemetry have: https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1 and, for zstd,
 * https://www.rfc-editor.org/rfc/rfc8878
 */
import { constants, createGunzip, createInflate, createZstdDecompress, gunzipSync } from "node:zlib";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { type BodyLimits, concatChunks, tooLarge } from "./collect-body.ts";

/** Bodies up to this size are decompressed synchronously, without a thread: at most about a millisecond. */
const quickInputBytes = 65_536;
const quickOutputBytes = 262_144;
const pieceBytes = 65_536;
/** The window that decoders should support. It is memory that the sender chooses. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1.2 */
const maximumZstdWindowLog = 23;

const decoders = {
  gzip: () => createGunzip({ chunkSize: pieceBytes }),
  deflate: () => createInflate({ chunkSize: pieceBytes }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: pieceBytes,
      params: { [constants.ZSTD_d_windowLogMax]: maximumZstdWindowLog },
    }),
};

export type Coding = keyof typeof decoders;

export const codings = Object.keys(decoders) as readonly Coding[];

export function isCoding(name: unknown): name is Coding {
  return typeof name === "string" && Object.hasOwn(decoders, name);
}

/** @throws AppError payload_too_large, invalid_request, or what the charge throws */
export async function decompress(bytes: Buffer, limits: BodyLimits, coding: Coding): Promise<Buffer> {
  if (coding !== "gzip") return inflateInChunks(bytes, limits, coding);
  const { charge, limitBytes } = limits;
  const declared = declaredLength(bytes);
  if (bytes.length <= quickInputBytes && declared <= quickOutputBytes && declared <= limitBytes) {
    charge.add(declared);
    try {
      const whole = gunzipSync(bytes, { maxOutputLength: Math.max(declared, 1) });
      charge.remove(declared - whole.length);
      return whole;
    } catch (error) {
      charge.remove(declared);
      if (!isTooLarge(error)) throw failure(error, limitBytes, coding);
    }
  }
  return inflateInChunks(bytes, limits, coding);
}

/** The length in the trailer of a gzip member, modulo 2^32. The sender may have put any number there. */
function declaredLength(bytes: Buffer): number {
  return bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
}

async function inflateInChunks(bytes: Buffer, { limitBytes, charge }: BodyLimits, coding: Coding): Promise<Buffer> {
  const decoder = decoders[coding]();
  const inflated = new InflatedBytes(coding === "gzip" ? declaredLength(bytes) : 0, limitBytes);
  decoder.end(bytes);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      if (inflated.length + piece.length > limitBytes) throw tooLarge(limitBytes);
      charge.add(piece.length);
      inflated.add(piece);
    }
  } catch (error) {
    throw failure(error, limitBytes, coding);
  }
  return inflated.whole(charge);
}

/** Collects the output in one buffer of the declared length; anything beyond goes to further chunks. */
class InflatedBytes {
  readonly #expected: Buffer;
  readonly #rest: Buffer[] = [];
  #expectedLength = 0;
  #restLength = 0;

  constructor(declared: number, limitBytes: number) {
    // Pages that are never written take no memory.
    this.#expected = Buffer.allocUnsafe(declared <= limitBytes ? declared : 0);
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

function failure(error: unknown, limitBytes: number, coding: Coding): unknown {
  if (error instanceof AppError) return error;
  if (isTooLarge(error)) return tooLarge(limitBytes);
  return new AppError("invalid_request", `The body is not valid ${coding} and could not be decompressed.`, {
    cause: error,
  });
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE";
}
