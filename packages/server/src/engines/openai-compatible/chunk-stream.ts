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
import { maxErrorBytes, parseResponse, responseTooLarge } from "../upstream-http/request-json.ts";
import { completionToChunks } from "./completion-to-chunks.ts";
import type { UpstreamRequestControl } from "../upstream-http/upstream-request.ts";
import type { ResponseHeaders, ResponseReader } from "../upstream-http/response-reader.ts";
import { ChunkNormalizer, endedEarly } from "./normalize-chunks.ts";
import { normalizeCompletion } from "./normalize-completion.ts";
import { responseError } from "../upstream-http/upstream-error.ts";

export interface StreamLimits {
  readonly maxEventBytes: number;
  readonly maxAnswerBytes: number;
}

/**
 * How long to wait for usage and `[DONE]` once every choice has its finish reason and nothing more arrives: some engines send
 * neither, and keep the connection open.
 */
const doneGraceMs = 2_000;

/** What the body is read as, which status and content type decide. */
type Mode = "events" | "completion" | "refusal";

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
  #mode: Mode = "events";
  #status = 0;
  #headers: ResponseHeaders = {};
  #body: BodyCollector | undefined;
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
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) {
      this.#mode = "refusal";
      this.#body = new BodyCollector(maxErrorBytes);
      this.#upstreamRequest?.expectErrorBody();
      return;
    }
    refuseCompressed(headers);
    if (/\bjson\b/i.test(String(headers["content-type"] ?? ""))) {
      this.#mode = "completion";
      this.#body = new BodyCollector(this.#limits.maxAnswerBytes);
    }
  }

  onData(bytes: Buffer): void {
    if (this.#body === undefined) {
      this.#decoder.push(bytes);
      if (this.#queue.isFullWith(bytes.length)) this.#upstreamRequest?.pause();
      return;
    }
    if (this.#body.push(bytes)) return;
    if (this.#mode === "completion") throw responseTooLarge(this.#limits.maxAnswerBytes);
    this.#upstreamRequest?.cancel();
    this.#end(this.#refusal());
  }

  onEnd(): void {
    if (this.#mode === "refusal") {
      this.#end(this.#refusal());
      return;
    }
    try {
      if (this.#mode === "completion") this.#takeCompletion();
      else this.#takeLastEvents();
      this.#end("whole");
    } catch (error) {
      this.#end(toAppError(error));
    }
  }

  onFailure(error: AppError): void {
    const isCut = this.#mode === "refusal" && (error.code === "upstream_timeout" || error.code === "upstream_failed");
    this.#end(isCut ? this.#refusal() : error);
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

  #takeCompletion(): void {
    const completion = normalizeCompletion(parseResponse(this.#body?.text ?? ""), this.#model);
    for (const chunk of completionToChunks(completion)) this.#emit(chunk);
  }

  #refusal(): AppError {
    return responseError({ status: this.#status, headers: this.#headers, text: this.#body?.text ?? "" });
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
