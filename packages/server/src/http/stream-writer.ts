/**
 * Writes streamed responses: server-sent events, JSON lines and bytes. The status waits for the first item, writing waits
 * for slow clients, and a stream that failed never looks complete: it ends with an error event or an error line, or the
 * caller resets the connection.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 * docs/adr/0002-contract-and-http-server.md
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { toAppError, toErrorBody, type AppError } from "../errors.ts";
import type { ResponseTarget } from "./reply.ts";
import type { NamedEvent, ResponseHeaders } from "./route.ts";

const streamHeaders = {
  "cache-control": "no-cache",
  // Without it, nginx and similar reverse proxies buffer the stream.
  "x-accel-buffering": "no",
};

/** Characters of events that wait for the end of a tick. */
const mostUnwritten = 16_384;

export interface EventsOptions {
  readonly headers: ResponseHeaders;
  /** How long to wait for the first event before the status is sent without it. */
  readonly holdMs: number;
  /** Silence after which a keep-alive comment is sent. */
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  /** What follows the last event. */
  readonly end: string | undefined;
  /** The last event of a stream that failed. @param sequence the number of events before it */
  readonly onFailure: (error: AppError, sequence: number) => string;
}

/** An event without a name. */
export function dataEvent(json: string): string {
  return `data: ${json}\n\n`;
}

export function namedEvent({ name, data }: NamedEvent): string {
  // A line break within JSON is white space.
  const line = data.includes("\n") ? data.replaceAll("\n", " ") : data;
  return name === undefined ? dataEvent(line) : `event: ${name}\n${dataEvent(line)}`;
}

/**
 * Writes server-sent events, each given as `toText` needs it.
 * @returns undefined when the stream is complete, else the error that ended it after it had begun
 * @throws what the events throw before the first one, while the response can still be an HTTP error
 */
export async function writeEvents<Event>(
  { response, responseHeaders }: ResponseTarget,
  events: AsyncIterable<Event>,
  options: EventsOptions & { readonly toText: (event: Event) => string },
): Promise<AppError | undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  const begun = await settledWithin(next, options.holdMs);
  response.writeHead(200, {
    ...responseHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    ...streamHeaders,
    ...options.headers,
  });
  // Node otherwise sends the headers together with the first event.
  if (!begun) response.flushHeaders();
  let lastWriteMs = performance.now();
  let sequence = 0;
  let unwritten = "";
  const write = (): void => {
    if (unwritten === "") return;
    lastWriteMs = performance.now();
    const { socket } = response;
    // Node would write the parts of this chunk in a further tick.
    socket?.cork();
    response.write(unwritten);
    socket?.uncork();
    unwritten = "";
  };
  const heartbeat = setInterval(() => {
    if (performance.now() - lastWriteMs < options.heartbeatMs || response.writableNeedDrain) return;
    // One newline only, which joins the comment to the next event: some clients stop at an event without data.
    response.write(": ping\n");
  }, options.heartbeatMs);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) break;
      sequence += 1;
      // Events that are there already are written together: the tick comes when no promise is left to be resolved.
      if (unwritten === "") process.nextTick(write);
      unwritten += options.toText(value);
      if (unwritten.length > mostUnwritten) write();
      if (response.writableNeedDrain) await drained(response, options.signal);
      if (options.signal.aborted) throw options.signal.reason;
      next = iterator.next();
    }
    response.end(unwritten + (options.end ?? ""));
    unwritten = "";
    return undefined;
  } catch (thrown) {
    const error = toAppError(thrown);
    await iterator.return?.().catch(() => {});
    if (!response.destroyed) response.end(unwritten + options.onFailure(error, sequence));
    unwritten = "";
    return error;
  } finally {
    clearInterval(heartbeat);
  }
}

export interface BytesOptions {
  /** Including the content type. */
  readonly headers: ResponseHeaders;
  readonly signal: AbortSignal;
  /** The last bytes of a stream that failed; absent: the caller must reset the connection. */
  readonly onFailure?: (error: AppError) => string;
}

/**
 * @returns undefined when the stream is complete, else the error that ended it after it had begun
 * @throws what the stream throws before its first chunk, while the response can still be an HTTP error
 */
export async function writeBytes(
  { response, responseHeaders }: ResponseTarget,
  chunks: AsyncIterable<Uint8Array | string>,
  { headers, signal, onFailure }: BytesOptions,
): Promise<AppError | undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  let next = await iterator.next();
  response.writeHead(200, {
    ...responseHeaders,
    ...streamHeaders,
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

/** The last line of a stream of JSON lines that failed. */
export function errorLine(error: AppError): string {
  return `${JSON.stringify({ type: "error", ...toErrorBody(error) })}\n`;
}

/** Resets the connection, so that no client takes a truncated file for a complete one. */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}

/** Waits until the client has read what was sent. Rejects with the signal's reason when the client disconnects. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, "drain", { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Whether the promise is fulfilled within the time; rejects as the promise does. */
async function settledWithin(promise: Promise<unknown>, timeMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, timeMs, false);
  });
  try {
    return await Promise.race([promise.then(() => true), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
