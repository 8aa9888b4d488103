/**
 * The only place that writes server-sent events: status held back until the first event, back-pressure, heartbeats,
 * the end. A stream that failed never looks whole: it carries an error frame and no `[DONE]`.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 * docs/adr/0003-errors-and-streams.md
 */
import { toAppError, toErrorBody, type AppError } from "../errors.ts";
import { drained } from "./drained.ts";
import type { AnswerTarget } from "./reply.ts";
import type { AnswerHeaders } from "./route.ts";

export interface EventsOptions {
  readonly headers: AnswerHeaders;
  /** How long to wait for the first event before the status is sent without it. */
  readonly holdMs: number;
  /** Silence after which a keep-alive is sent. */
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  /** Whether `[DONE]` follows the last event. */
  readonly done: boolean;
}

/**
 * Writes the events, each the JSON text of one frame, and then, where it is wanted, `[DONE]`.
 * @returns undefined when the stream is whole, else the error that ended it after it had begun
 * @throws whatever the events throw before the first one, while the answer can still be an HTTP error
 */
export async function writeEvents(
  { response, answerHeaders }: AnswerTarget,
  events: AsyncIterable<string>,
  options: EventsOptions,
): Promise<AppError | undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let pending = iterator.next();
  const begun = await settledWithin(pending, options.holdMs);
  response.writeHead(200, {
    ...answerHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    // Reverse proxies of the nginx kind would collect the stream otherwise.
    "x-accel-buffering": "no",
    ...options.headers,
  });
  // Headers otherwise leave together with the first event.
  if (!begun) response.flushHeaders();
  let lastWriteMs = performance.now();
  const heartbeat = setInterval(() => {
    if (performance.now() - lastWriteMs < options.heartbeatMs || response.writableNeedDrain) return;
    // One newline only: the comment joins the next frame, since some clients end their stream at a frame without data.
    response.write(": ping\n");
  }, options.heartbeatMs);
  try {
    for (;;) {
      const { done, value } = await pending;
      if (done === true) break;
      lastWriteMs = performance.now();
      if (!response.write(`data: ${value}\n\n`)) await drained(response, options.signal);
      if (options.signal.aborted) throw options.signal.reason;
      pending = iterator.next();
    }
    response.end(options.done ? "data: [DONE]\n\n" : undefined);
    return undefined;
  } catch (thrown) {
    const error = toAppError(thrown);
    await iterator.return?.().catch(() => {});
    if (!response.destroyed) response.end(`data: ${JSON.stringify(toErrorBody(error))}\n\n`);
    return error;
  } finally {
    clearInterval(heartbeat);
  }
}

/** Whether the promise is fulfilled before the time is up; rejects as the promise does. */
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
