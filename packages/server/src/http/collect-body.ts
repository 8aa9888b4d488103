/**
 * Collects a body into one buffer, for HTTP and gRPC: limits its size, and charges its bytes when they arrive. A declared length
 * only checks the limit, since a connection that sends nothing must hold nothing.
 */
import type { Readable } from "node:stream";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { ChunkList } from "./chunk-list.ts";

export interface BodyLimits {
  /** Largest body, after decompression. */
  readonly limitBytes: number;
  readonly charge: MemoryCharge;
}

const noBytes = Buffer.alloc(0);

/** The error for a body above the limit. */
export function tooLarge(limitBytes: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${limitBytes} bytes, which is the limit of this operation. Send a smaller request.`,
  );
}

interface Framing {
  /** The declared length, which allows one buffer to be filled without a second copy of the whole. */
  readonly declaredBytes?: number | undefined;
  /** Bytes of framing around the body, which do not count against the limit. */
  readonly frameBytes?: number;
}

/**
 * After an error the rest of the body stays unread; the caller responds and closes the connection.
 * @throws AppError payload_too_large, invalid_request, client_closed, or what the charge throws
 */
export function collectBody(
  source: Readable,
  { charge, limitBytes }: BodyLimits,
  { declaredBytes, frameBytes = 0 }: Framing = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // An HTTP/2 stream without a body may have ended before its caller was authenticated.
    if (source.readableEnded) {
      resolve(Buffer.alloc(0));
      return;
    }
    if (declaredBytes !== undefined && declaredBytes > limitBytes + frameBytes) throw tooLarge(limitBytes);
    /** For a body of declared length of which a quarter has arrived. What only began must not reserve much. */
    let whole: Buffer = noBytes;
    const chunks = new ChunkList();
    let length = 0;
    const take = (chunk: Buffer): void => {
      try {
        if (length + chunk.length > limitBytes + frameBytes) throw tooLarge(limitBytes);
        // Twice without a declared length: for the chunks, and for the buffer that they are copied to.
        charge.add(declaredBytes === undefined ? chunk.length * 2 : chunk.length);
        length += chunk.length;
        if (whole.length > 0) chunk.copy(whole, length - chunk.length);
        else if (chunk.length === declaredBytes) whole = chunk;
        else {
          chunks.add(chunk);
          if (declaredBytes !== undefined && length >= declaredBytes / 4) whole = join(chunks.take(), declaredBytes);
        }
      } catch (error) {
        source.off("data", take).pause();
        reject(error);
      }
    };
    source.on("data", take);
    let ended = false;
    source.on("end", () => {
      ended = true;
      if (declaredBytes !== undefined) resolve(whole);
      else resolve(concatChunks(chunks.take(), length).finally(() => charge.remove(length)));
    });
    source.on("close", () => {
      // Every request closes; creating an error each time would cost more than everything else here.
      if (!ended) reject(new AppError("client_closed", "The client disconnected before its request was complete."));
    });
    source.on("error", (error) =>
      reject(new AppError("invalid_request", "The body could not be read.", { cause: error })),
    );
  });
}

/** A buffer of this length that begins with the chunks. */
function join(chunks: readonly Buffer[], bytes: number): Buffer {
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(whole, at);
  return whole;
}

/** Copies the chunks into one buffer, yielding to other requests. */
export async function concatChunks(chunks: readonly Buffer[], length: number): Promise<Buffer> {
  if (chunks.length === 1) return chunks[0]!;
  const whole = Buffer.allocUnsafe(length);
  const yielder = new CooperativeYield();
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return whole;
}
