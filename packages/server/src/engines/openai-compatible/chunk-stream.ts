/**
 * Streams chat chunks with back-pressure: decodes and normalizes events as they arrive into a short queue, and pauses
 * reading while it is full. Events of one read are returned without waiting.
 */
import type { ChatCompletionChunk } from "../../api/chat-answer.ts";
import { AppError, toAppError } from "../../errors.ts";
import { SseDecoder, type SseEvent } from "../../streams/sse-decoder.ts";
import { FruitlessBytes } from "../upstream-http/fruitless-bytes.ts";
import { BodyCollector, refuseCompressed } from "../upstream-http/body-collector.ts";
import { ItemQueue } from "../upstream-http/item-queue.ts";
import { ErrorResponse, isErrorStatus } from "../upstream-http/error-response.ts";
import { parseResponse, responseTooLarge } from "../upstream-http/request-json.ts";
import { completionToChunks } from "./completion-to-chunks.ts";
import type { UpstreamRequestControl } from "../upstream-http/upstream-request.ts";
import type { ResponseHeaders, ResponseReader } from "../upstream-http/response-reader.ts";
import { ChunkNormalizer, endedEarly } from "./normalize-chunks.ts";
import { normalizeCompletion } from "./normalize-completion.ts";

export interface StreamLimits {
  readonly maxEventBytes: number;
  readonly maxAnswerBytes: number;
}

/**
 * How long to wait for usage and `[DONE]` once every choice has its finish reason and nothing more arrives: some engines send
 * neither, and keep the connection open.
 */
const doneGraceMs = 2_000;

export class ChunkStream implements ResponseReader, AsyncIterator<ChatCompletionChunk, undefined> {
  readonly #open: (reader: ResponseReader) => UpstreamRequestControl;
  readonly #model: string;
  readonly #limits: StreamLimits;
  readonly #decoder: SseDecoder;
  readonly #normalizer: ChunkNormalizer;
  readonly #fruitless = new FruitlessBytes();
  /** Whether the current event has a choice. */
  #hasContent = false;
  #upstreamRequest: UpstreamRequestControl | undefined;
  #refusal: ErrorResponse | undefined;
  /** Of an answer that is one JSON object, although events were requested. */
  #completion: BodyCollector | undefined;
  readonly #queue = new ItemQueue<ChatCompletionChunk>(() => {
    if (!this.#queue.isOver) this.#upstreamRequest?.resume();
  });
  #grace: NodeJS.Timeout | undefined;

  /** @param open starts the request; called when the first chunk is requested */
  constructor(open: (reader: ResponseReader) => UpstreamRequestControl, model: string, limits: StreamLimits) {
    this.#open = open;
    this.#model = model;
    this.#limits = limits;
    this.#decoder = new SseDecoder(
      (event) => this.#takeEvent(event),
      limits.maxEventBytes,
      (bytes) => this.#fruitless.add(bytes),
    );
    this.#normalizer = new ChunkNormalizer(model, (chunk) => this.#emit(chunk));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<ChatCompletionChunk, undefined>> {
    const next = this.#queue.next();
    if (!this.#queue.isOver) this.#upstreamRequest ??= this.#open(this);
    return next;
  }

  /** The consumer stops: cancels the engine's work. */
  return(): Promise<IteratorReturnResult<undefined>> {
    // A complete response is only drained: canceling it would cost the connection.
    if (!this.#queue.isOver) this.#upstreamRequest?.cancel();
    clearTimeout(this.#grace);
    this.#queue.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  onStart(status: number, headers: ResponseHeaders): void {
    if (isErrorStatus(status)) {
      this.#refusal = new ErrorResponse(status, headers);
      this.#upstreamRequest?.expectErrorBody();
      return;
    }
    refuseCompressed(headers);
    if (/\bjson\b/i.test(String(headers["content-type"] ?? "")))
      this.#completion = new BodyCollector(this.#limits.maxAnswerBytes);
  }

  onData(bytes: Buffer): void {
    if (this.#refusal !== undefined) {
      if (this.#refusal.push(bytes)) return;
      this.#upstreamRequest?.cancel();
      this.#end(this.#refusal.error);
    } else if (this.#completion !== undefined) {
      if (!this.#completion.push(bytes)) throw responseTooLarge(this.#limits.maxAnswerBytes);
    } else {
      this.#decoder.push(bytes);
      if (this.#queue.isFullWith(bytes.length)) this.#upstreamRequest?.pause();
    }
  }

  onEnd(): void {
    if (this.#refusal !== undefined) return this.#end(this.#refusal.error);
    try {
      if (this.#completion === undefined) this.#takeLastEvents();
      else this.#takeCompletion(this.#completion);
      this.#end("whole");
    } catch (error) {
      this.#end(toAppError(error));
    }
  }

  onFailure(error: AppError): void {
    this.#end(this.#refusal?.errorAfter(error) ?? error);
  }

  #takeEvent(event: SseEvent): void {
    if (this.#queue.isOver) return;
    const { data } = event;
    if (data.startsWith("[DONE]")) {
      this.#normalizer.end(true);
      this.#end("whole");
      this.#upstreamRequest?.drain();
      return;
    }
    this.#hasContent = false;
    const isChunk = this.#normalizer.accept(event);
    if (this.#hasContent) this.#fruitless.reset();
    else this.#fruitless.add(data.length);
    if (isChunk) this.#upstreamRequest?.startStreaming();
    if (isChunk && this.#normalizer.isFinished) this.#awaitDone();
  }

  #awaitDone(): void {
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => {
      if (this.#queue.isOver) return;
      // What has not been read yet may go on.
      if (this.#queue.unread > 0) return this.#awaitDone();
      this.#normalizer.end(true);
      this.#end("whole");
      this.#upstreamRequest?.cancel();
    }, doneGraceMs);
  }

  #takeLastEvents(): void {
    try {
      this.#decoder.end();
    } catch (error) {
      // A truncated response is not JSON, but that is not the actual problem.
      if (error instanceof AppError && error.cause instanceof SyntaxError) throw endedEarly(error);
      throw error;
    }
    if (!this.#queue.isOver) this.#normalizer.end(false);
  }

  #takeCompletion({ text }: BodyCollector): void {
    const completion = normalizeCompletion(parseResponse(text), this.#model);
    for (const chunk of completionToChunks(completion)) this.#emit(chunk);
  }

  #emit(chunk: ChatCompletionChunk): void {
    if (chunk.choices.length > 0) this.#hasContent = true;
    this.#queue.push(chunk);
  }

  #end(outcome: "whole" | AppError): void {
    if (this.#queue.isOver) return;
    clearTimeout(this.#grace);
    this.#queue.end(outcome);
  }
}
