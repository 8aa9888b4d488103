/** Runs one HTTP request to an engine, from the queue to the last byte of the response, within its timeouts. */
import type { Dispatcher } from "undici";
import { AppError, toAppError, defaultRetryAfterMs } from "../../errors.ts";
import { abortReason } from "../../abort.ts";
import type { AbortListener, AbortSource } from "../../cancellation.ts";
import { toTransportError } from "./transport-error.ts";
import { DecompressedResponse, isCompressed } from "./decompressed-response.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";
import type { TimeLimits, DeadlineTarget } from "./time-limits.ts";

/** What a reader may do with its request. */
export type UpstreamRequestControl = Pick<
  UpstreamRequest,
  "pause" | "resume" | "startStreaming" | "expectErrorBody" | "drain" | "cancel"
>;

/** A body in memory, as consecutive pieces. */
export interface BufferedBody {
  readonly pieces: readonly Buffer[];
  readonly byteLength: number;
}

/** A body that is generated while it is sent, at the engine's pace. */
export interface StreamedBody {
  readonly open: () => AsyncIterable<Uint8Array>;
  /** The exact number of bytes from `open`. */
  readonly byteLength: number;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: BufferedBody | StreamedBody;
  readonly signal: AbortSource;
  readonly limits: TimeLimits;
  /** Whether the idle timeout applies; a batch response sends nothing until it is generated. */
  readonly isStream: boolean;
}

/** What a request needs from its pool. */
export interface UpstreamRequestHost {
  dispatch(upstreamRequest: UpstreamRequest): void;
  /** The request no longer needs its connection. */
  release(upstreamRequest: UpstreamRequest): void;
  /** The engine refused the operator's key or account. */
  credentialsRefused(status: number): void;
}

/**
 * queued → connecting → awaiting (the first valid frame) → streaming → closed. A complete stream is `draining`
 * until its last bytes arrive, so that the connection can be reused. `errorBody` reads the body after an error status.
 */
type Phase = "queued" | "connecting" | "awaiting" | "streaming" | "errorBody" | "draining" | "closed";

const drainTimeoutMs = 1_000;
const errorBodyTimeoutMs = 5_000;
/** Bodies up to this size are sent as one piece. */
export const joinedBodyBytes = 65_536;

export class UpstreamRequest implements Dispatcher.DispatchHandler, DeadlineTarget, AbortListener {
  readonly request: OutgoingRequest;
  setIndex = -1;
  /** Whether it left the queue: it uses, or used, a connection. */
  hasStarted = false;
  readonly #reader: ResponseReader;
  readonly #host: UpstreamRequestHost;
  readonly #startMs: number;
  readonly #queueTimeoutMs: number;
  #phase: Phase = "queued";
  /** Start of the current phase; in `flowing` the last sign of life. */
  #sinceMs: number;
  #isPaused = false;
  #decompressed: DecompressedResponse | undefined;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(
    request: OutgoingRequest,
    reader: ResponseReader,
    host: UpstreamRequestHost & { queueTimeoutMs: number },
  ) {
    this.request = request;
    this.#reader = reader;
    this.#host = host;
    this.#queueTimeoutMs = host.queueTimeoutMs;
    this.#startMs = performance.now();
    this.#sinceMs = this.#startMs;
    request.signal.addEventListener("abort", this);
  }

  /** Handles the signal's abort event. The request is its own listener, which saves a closure per call. */
  handleEvent(): void {
    this.#fail(abortReason(this.request.signal));
  }

  /** Leaves the queue. */
  start(): void {
    this.hasStarted = true;
    this.#enter("connecting");
    try {
      this.#host.dispatch(this);
    } catch (error) {
      this.#fail(toTransportError(error));
    }
  }

  /** The request in undici's form. */
  get dispatchOptions(): Dispatcher.DispatchOptions {
    const { method, path, headers, body } = this.request;
    if (body === undefined) return { method, path, headers: headers as string[] };
    const sized = (): string[] => [...headers, "content-length", String(body.byteLength)];
    if ("open" in body) {
      // Undici's types know streams of Node's alone; its documentation and its code know every asynchronous iterable.
      const stream = body.open() as unknown as NonNullable<Dispatcher.DispatchOptions["body"]>;
      return { method, path, headers: sized(), body: stream };
    }
    if (body.byteLength <= joinedBodyBytes) {
      const [first, ...rest] = body.pieces;
      const joined = rest.length === 0 && first !== undefined ? first : Buffer.concat(body.pieces, body.byteLength);
      return { method, path, headers: headers as string[], body: joined };
    }
    // Undici's types know no synchronous iterables; its documentation and its code do.
    const pieces = body.pieces as unknown as NonNullable<Dispatcher.DispatchOptions["body"]>;
    return { method, path, headers: sized(), body: pieces };
  }

  /** Stops reading; back-pressure reaches the engine once the network's buffers are full. */
  pause(): void {
    this.#isPaused = true;
    this.#decompressed?.pause();
    this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#sinceMs = performance.now();
    this.#decompressed?.resume();
    this.#controller?.resume();
  }

  /** The reader has the first valid frame: from now on the idle timeout applies. */
  startStreaming(): void {
    if (this.#phase === "awaiting") this.#enter("streaming");
  }

  /** The rest of the response is an error body, with a short timeout. */
  expectErrorBody(): void {
    this.#enter("errorBody");
  }

  /** The reader has the complete response; the rest is discarded. */
  drain(): void {
    if (this.#phase === "closed") return;
    this.#enter("draining");
    this.request.signal.removeEventListener("abort", this);
    this.resume();
  }

  /** Cancels the request; nothing further is reported. */
  cancel(): void {
    if (this.#phase === "closed") return;
    this.#close();
    this.#controller?.abort(new AppError("client_closed", "The response was abandoned."));
  }

  /** Ends the request with an error for the reader. */
  #fail(error: AppError): void {
    if (this.#phase === "closed") return;
    const isReported = this.#phase !== "draining";
    this.#close();
    this.#controller?.abort(error);
    if (isReported) this.#reader.onFailure(error);
  }

  /** Ends a request that is still queued. */
  refuse(error: AppError): void {
    this.#fail(error);
  }

  checkTime(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    const { limits, isStream } = this.request;
    if (this.#phase === "draining") {
      if (elapsedMs > drainTimeoutMs) this.cancel();
    } else if (this.#phase === "errorBody") {
      if (elapsedMs > Math.min(errorBodyTimeoutMs, limits.idleTimeoutMs))
        this.#timeOut("did not finish sending its error");
    } else if (nowMs - this.#startMs > limits.totalTimeoutMs) {
      this.#timeOut(`did not finish within ${limits.totalTimeoutMs} ms`);
    } else if (this.#phase === "queued") {
      if (elapsedMs > this.#queueTimeoutMs) this.#fail(concurrencyExceeded());
    } else if (this.#phase === "connecting") {
      if (elapsedMs > limits.connectTimeoutMs)
        this.#timeOut(`did not accept a connection within ${limits.connectTimeoutMs} ms`);
    } else if (isStream && this.#phase === "awaiting") {
      if (elapsedMs > limits.firstByteTimeoutMs)
        this.#timeOut(`did not start to respond within ${limits.firstByteTimeoutMs} ms`);
    } else if (isStream && !this.#isPaused && elapsedMs > limits.idleTimeoutMs) {
      this.#timeOut(`sent nothing for ${limits.idleTimeoutMs} ms`);
    }
  }

  #timeOut(what: string): void {
    this.#fail(new AppError("upstream_timeout", `The engine ${what}.`));
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#sinceMs = performance.now();
  }

  #close(): void {
    this.#phase = "closed";
    this.#decompressed?.destroy();
    this.request.signal.removeEventListener("abort", this);
    this.#host.release(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#phase === "closed") controller.abort(new AppError("client_closed", "The call has already ended."));
    else this.#enter("awaiting");
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200 || this.#phase === "closed") return;
    if (status >= 401 && status <= 403) this.#host.credentialsRefused(status);
    try {
      if (!isCompressed(headers)) return this.#reader.onStart(status, headers);
      this.#decompressed = new DecompressedResponse(headers, this.#reader, {
        pause: () => this.#controller?.pause(),
        resume: () => this.#isPaused || this.#controller?.resume(),
        end: () => this.#end(),
        fail: (error) => this.#fail(error),
      });
      this.#reader.onStart(status, { ...headers, "content-encoding": undefined });
    } catch (error) {
      this.#fail(toAppError(error));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    // undici parses what has arrived when a reader resumes, and reports nothing as an empty piece. A reader that took it for progress
    // would ask for more at once, and again, without end.
    if (bytes.length === 0) return;
    if (this.#phase === "streaming") this.#sinceMs = performance.now();
    if (this.#phase !== "closed" && this.#phase !== "draining") {
      try {
        if (this.#decompressed === undefined) this.#reader.onData(bytes);
        else this.#decompressed.push(bytes);
      } catch (error) {
        this.#fail(toAppError(error));
      }
    }
    if (this.#isPaused) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#phase === "closed") return;
    if (this.#decompressed === undefined || this.#phase === "draining") this.#end();
    else this.#decompressed.end();
  }

  #end(): void {
    const isReported = this.#phase !== "draining";
    this.#close();
    if (isReported) this.#reader.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(toTransportError(error));
  }
}

/** All connections are in use and the queue is full. */
export function concurrencyExceeded(): AppError {
  return new AppError("overloaded", "The engine is at its concurrency limit. Retry later.", {
    retryAfterMs: defaultRetryAfterMs,
  });
}
