/**
 * Collects a body into one buffer, for HTTP and gRPC: limits its size, and charges its bytes when they arrive. A declared length
 * only checks the limit, since a connection that sends nothing must hold nothing.
 */
import type { Readable } from "node:stream";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { withSpace } from "./with-space.ts";

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
    /** For a body of declared length: the first chunk if it has everything, else a buffer that is filled. */
    let whole: Buffer = noBytes;
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      try {
        if (length + chunk.length > limitBytes + frameBytes) throw tooLarge(limitBytes);
        // Twice without a declared length: for the chunks, and for the buffer that they are copied to.
        charge.add(declaredBytes === undefined ? chunk.length * 2 : chunk.length);
        if (declaredBytes === undefined) chunks.push(chunk);
        else if (length === 0 && chunk.length === declaredBytes) whole = chunk;
        else {
          whole = withSpace(whole, { length, more: chunk.length, mostBytes: declaredBytes });
          chunk.copy(whole, length);
        }
        length += chunk.length;
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
      else resolve(concatChunks(chunks, length).finally(() => charge.remove(length)));
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
