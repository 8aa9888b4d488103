/**
 * Streams an upstream's events as they come, with back-pressure: reading pauses while events are queued. The last event ends
 * the stream, and its connection is kept for the next call.
 */
import { toAppError, type AppError } from "../../errors.ts";
import { parseObject } from "../../json-object.ts";
import { SseDecoder } from "../../streams/sse-decoder.ts";
import type { WireEvent } from "../wire.ts";
import { refuseCompressed } from "./body-collector.ts";
import { ErrorResponse, isErrorStatus } from "./error-response.ts";
import { FruitlessBytes } from "./fruitless-bytes.ts";
import { ItemQueue } from "./item-queue.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";
import type { UpstreamRequestControl } from "./upstream-request.ts";

export interface EventStreamOptions {
  readonly maxEventBytes: number;
  isLast(event: WireEvent): boolean;
}

/** Fails with upstream_failed for events without data beyond what heartbeats need, and for too large ones. */
export class EventStream implements ResponseReader, AsyncIterator<WireEvent, undefined> {
  readonly #open: (reader: ResponseReader) => UpstreamRequestControl;
  readonly #isLast: (event: WireEvent) => boolean;
  readonly #decoder: SseDecoder;
  readonly #fruitless = new FruitlessBytes();
  readonly #queue = new ItemQueue<WireEvent>(() => {
    if (!this.#queue.isOver) this.#upstreamRequest?.resume();
  });
  #upstreamRequest: UpstreamRequestControl | undefined;
  #refusal: ErrorResponse | undefined;
  /** Whether the upstream has ended its response. */
  #hasEnded = false;

  /** @param open starts the request; called when the first event is requested */
  constructor(open: (reader: ResponseReader) => UpstreamRequestControl, { maxEventBytes, isLast }: EventStreamOptions) {
    this.#open = open;
    this.#isLast = isLast;
    this.#decoder = new SseDecoder(
      ({ type, data }) => this.#take({ name: type === "message" ? undefined : type, data }),
      maxEventBytes,
      (bytes) => this.#fruitless.add(bytes),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WireEvent, undefined>> {
    const next = this.#queue.next();
    if (!this.#queue.isOver) this.#upstreamRequest ??= this.#open(this);
    return next;
  }

  /** The consumer stops: cancels the engine's work, unless the stream is complete. */
  return(): Promise<IteratorReturnResult<undefined>> {
    if (!this.#queue.isOver) this.#upstreamRequest?.cancel();
    this.#queue.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  onStart(status: number, headers: ResponseHeaders): void {
    if (isErrorStatus(status)) {
      this.#refusal = new ErrorResponse(status, headers);
      this.#upstreamRequest?.expectErrorBody();
    } else refuseCompressed(headers);
  }

  onData(bytes: Buffer): void {
    if (this.#refusal === undefined) {
      this.#upstreamRequest?.startStreaming();
      this.#decoder.push(bytes);
      if (this.#queue.isFullWith(bytes.length) && !this.#queue.isOver) this.#upstreamRequest?.pause();
      return;
    }
    if (this.#refusal.push(bytes)) return;
    this.#upstreamRequest?.cancel();
    this.#queue.end(this.#refusal.error);
  }

  onEnd(): void {
    if (this.#refusal !== undefined) return this.#queue.end(this.#refusal.error);
    this.#hasEnded = true;
    try {
      this.#decoder.end();
      this.#queue.end("whole");
    } catch (error) {
      this.#queue.end(toAppError(error));
    }
  }

  onFailure(error: AppError): void {
    this.#queue.end(this.#refusal?.errorAfter(error) ?? error);
  }

  #take(event: WireEvent): void {
    if (this.#queue.isOver) return;
    // The last event may lack its blank line, but one that was cut is none.
    if (this.#hasEnded && !isWhole(event)) return;
    this.#fruitless.reset();
    this.#queue.push(event);
    if (!this.#isLast(event)) return;
    this.#queue.end("whole");
    this.#upstreamRequest?.drain();
  }
}

function isWhole({ data }: WireEvent): boolean {
  return data.startsWith("[DONE]") || parseObject(data) !== undefined;
}
