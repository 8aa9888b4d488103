/**
 * Writes streams of bytes and of lines of JSON: status held back until the first of them, back-pressure, the end.
 * A stream that failed never looks whole: lines end with one that tells the error, and where there is no place for
 * that the connection is reset, so that a truncated file is never taken for a whole one.
 */
import type { ServerResponse } from "node:http";
import { toAppError, toErrorBody, type AppError } from "../errors.ts";
import { drained } from "./drained.ts";
import type { AnswerTarget } from "./reply.ts";
import type { AnswerHeaders } from "./route.ts";

export interface BytesOptions {
  /** With the content type. */
  readonly headers: AnswerHeaders;
  readonly signal: AbortSignal;
  /** What is sent in place of the rest when the stream fails; when absent, the caller must reset the connection. */
  readonly onFailure?: (error: AppError) => string;
}

/**
 * @returns undefined when the stream is whole, else the error that ended it after it had begun
 * @throws whatever the stream throws before its first piece, while the answer can still be an HTTP error
 */
export async function writeBytes(
  { response, answerHeaders }: AnswerTarget,
  pieces: AsyncIterable<Uint8Array | string>,
  { headers, signal, onFailure }: BytesOptions,
): Promise<AppError | undefined> {
  const iterator = pieces[Symbol.asyncIterator]();
  let next = await iterator.next();
  response.writeHead(200, {
    ...answerHeaders,
    "cache-control": "no-cache",
    // Reverse proxies of the nginx kind would collect the stream otherwise.
    "x-accel-buffering": "no",
    ...headers,
  });
  try {
    for (; next.done !== true; next = await iterator.next()) {
      if (next.value.length > 0 && !response.write(next.value)) await drained(response, signal);
      if (signal.aborted) throw signal.reason;
    }
    response.end();
    return undefined;
  } catch (thrown) {
    const error = toAppError(signal.aborted ? signal.reason : thrown);
    await iterator.return?.().catch(() => {});
    if (onFailure !== undefined && !response.destroyed) response.end(onFailure(error));
    return error;
  }
}

/** The last line of a stream of lines that failed. */
export function errorLine(error: AppError): string {
  return `${JSON.stringify({ type: "error", ...toErrorBody(error) })}\n`;
}

/** Breaks the connection so that nobody can take what was sent for the whole. */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}
