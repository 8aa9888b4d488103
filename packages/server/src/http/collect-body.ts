/** Collects the bytes of a body into one buffer, within a limit and charged before they are kept. For HTTP and gRPC. */
import type { Readable } from "node:stream";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";

export interface BodyLimits {
  /** Largest body, after decompression. */
  readonly limitBytes: number;
  readonly charge: MemoryCharge;
}

/** A body beyond the limit. */
export function tooLarge(limitBytes: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body has more than ${limitBytes} bytes, the most that this operation takes. Send a smaller request.`,
  );
}

interface Framing {
  /** The length that the sender declared: the buffer is filled in place, so that the body never exists twice. */
  readonly declaredBytes?: number | undefined;
  /** What surrounds the body and does not count against its limit. */
  readonly frameBytes?: number;
}

/**
 * After an error the rest of the body stays unread; the caller answers and closes.
 * @throws AppError payload_too_large, invalid_request, client_closed or as the charge
 */
export function collectBody(
  source: Readable,
  { charge, limitBytes }: BodyLimits,
  { declaredBytes, frameBytes = 0 }: Framing = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (declaredBytes !== undefined) {
      if (declaredBytes > limitBytes + frameBytes) throw tooLarge(limitBytes);
      charge.add(declaredBytes);
    }
    let whole: Buffer | undefined = declaredBytes === undefined ? undefined : Buffer.allocUnsafe(declaredBytes);
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      try {
        if (length + chunk.length > limitBytes + frameBytes) throw tooLarge(limitBytes);
        if (whole === undefined) {
          // Twice: the pieces, and the buffer that they are joined into.
          charge.add(chunk.length * 2);
          chunks.push(chunk);
        } else if (length === 0 && chunk.length === whole.length) whole = chunk;
        else chunk.copy(whole, length);
        length += chunk.length;
      } catch (error) {
        source.off("data", take).pause();
        reject(error);
      }
    };
    source.on("data", take);
    let ended = false;
    source.once("end", () => {
      ended = true;
      if (whole !== undefined) resolve(whole);
      else resolve(concatChunks(chunks, length).finally(() => charge.remove(length)));
    });
    source.once("close", () => {
      // Every request closes; an error for each would cost more than all the rest here.
      if (!ended)
        reject(new AppError("client_closed", "The client closed the connection before its request was whole."));
    });
    source.once("error", (error) =>
      reject(new AppError("invalid_request", "The body could not be read.", { cause: error })),
    );
  });
}

/** The pieces in one buffer, copied in slices. */
export async function concatChunks(pieces: readonly Buffer[], length: number): Promise<Buffer> {
  if (pieces.length === 1) return pieces[0]!;
  const whole = Buffer.allocUnsafe(length);
  const yielder = new CooperativeYield();
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(whole, at);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return whole;
}
