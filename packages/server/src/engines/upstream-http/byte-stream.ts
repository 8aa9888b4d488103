/** Streams a response's bytes with back-pressure: reading pauses while bytes are queued. */
import { AppError } from "../../errors.ts";
import { refuseCompressed } from "./body-collector.ts";
import { ErrorResponse, isErrorStatus } from "./error-response.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { UpstreamRequestControl, OutgoingRequest } from "./upstream-request.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";

/** The bytes of a response with status 2xx, with its headers. Leaving the loop cancels the request. */
export async function* streamBytes(
  pool: ConnectionPool,
  request: OutgoingRequest,
): AsyncGenerator<{ readonly bytes: Buffer; readonly headers: ResponseHeaders }, void, undefined> {
  const reader = new ByteReader();
  const upstreamRequest = pool.open(request, reader);
  reader.upstreamRequest = upstreamRequest;
  try {
    for (;;) {
      const bytes = await reader.next();
      if (bytes === undefined) return;
      yield { bytes, headers: reader.headers };
    }
  } finally {
    upstreamRequest.cancel();
  }
}

class ByteReader implements ResponseReader {
  upstreamRequest: UpstreamRequestControl | undefined;
  headers: ResponseHeaders = {};
  #refusal: ErrorResponse | undefined;
  #bytes: Buffer[] = [];
  #outcome: "whole" | AppError | undefined;
  #wake: (() => void) | undefined;

  /** What came since the last call; undefined at the end. @throws AppError when the answer failed */
  async next(): Promise<Buffer | undefined> {
    if (this.#bytes.length === 0 && this.#outcome === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.upstreamRequest?.resume();
      await promise;
    }
    if (this.#bytes.length > 0) return Buffer.concat(this.#bytes.splice(0));
    if (this.#outcome instanceof AppError) throw this.#outcome;
    return undefined;
  }

  onStart(status: number, headers: ResponseHeaders): void {
    this.headers = headers;
    if (isErrorStatus(status)) {
      this.#refusal = new ErrorResponse(status, headers);
      this.upstreamRequest?.expectErrorBody();
    } else refuseCompressed(headers);
  }

  onData(bytes: Buffer): void {
    if (this.#refusal !== undefined) {
      if (this.#refusal.push(bytes)) return;
      this.upstreamRequest?.cancel();
      this.#end(this.#refusal.error);
      return;
    }
    this.#bytes.push(bytes);
    this.upstreamRequest?.startStreaming();
    this.upstreamRequest?.pause();
    this.#notify();
  }

  onEnd(): void {
    this.#end(this.#refusal?.error ?? "whole");
  }

  onFailure(error: AppError): void {
    this.#end(this.#refusal?.errorAfter(error) ?? error);
  }

  #end(outcome: "whole" | AppError): void {
    this.#outcome ??= outcome;
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
