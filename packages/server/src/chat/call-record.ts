/** Collects the data of one chat call while it runs, and reports it when it ends. */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { AppError } from "../errors.ts";
import type { CallStart, FinishedChat } from "../finished-call.ts";
import { callerOf, type CallerFields, type NamedCaller } from "../http/caller.ts";
import type { GuardReport } from "../guardrails/chat-guard.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt } from "../engines/engine.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import type { CallCost, CallCosts } from "../pricing/call-costs.ts";
import type { Scope } from "../tenant.ts";
import { AnswerRecord } from "./answer-record.ts";
import type { ChunkObserver } from "./chunks.ts";

type ChatCallInput = Pick<RouteInput<ChatRequest>, "body" | CallerFields | "note">;

interface CallContext {
  readonly request: ChatRequest;
  readonly guard: GuardReport | undefined;
  /** An estimate. */
  readonly promptTokens: number;
  readonly admission: Admission;
  readonly input: ChatCallInput;
  readonly parts: {
    readonly costs: CallCosts;
    observe(call: FinishedChat): void;
    keepsContent(scope: Scope): boolean | Promise<boolean>;
  };
}

/** The record of a call that was refused before it reached a model. */
export function refusedChat(input: ChatCallInput, start: CallStart, error: AppError): FinishedChat {
  const { body: request } = input;
  return {
    ...callerOf(input, namedIn(request)),
    kind: "chat",
    request,
    model: request.model,
    stream: request.stream === true,
    startUnixMs: start.unixMs,
    durationMs: performance.now() - start.monotonicMs,
    error,
    refused: true,
    firstChunkMs: undefined,
    usage: undefined,
    cost: undefined,
    answer: undefined,
    attempts: [],
    guard: undefined,
  };
}

/** `user` and `safety_identifier` are OpenAI's; a session is what applications put into `metadata`. */
function namedIn(request: ChatRequest): NamedCaller {
  const { metadata, safety_identifier: safetyIdentifier, user } = request as JsonObject;
  const session = isObject(metadata) ? metadata["session_id"] : undefined;
  const endUser = nonEmptyText(user) ?? nonEmptyText(safetyIdentifier);
  const conversation = nonEmptyText(session);
  return { ...(endUser === undefined ? {} : { endUser }), ...(conversation === undefined ? {} : { conversation }) };
}

export class CallRecord implements ChunkObserver {
  readonly attempts: Attempt[] = [];
  /** As sent to the model, with redactions; this is what telemetry records. */
  request: ChatRequest;
  readonly #startUnixMs = Date.now();
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  readonly #answer: AnswerRecord;
  #chunks = 0;
  #firstChunkMs: number | undefined;
  #usage: ChatUsage | undefined;
  #cost: CallCost | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
    this.request = context.request;
    this.#answer = new AnswerRecord(context.parts.keepsContent(context.input.scope));
  }

  onChunk(chunk: ChatCompletionChunk): void {
    this.#chunks += 1;
    this.#firstChunkMs ??= performance.now() - this.#startMs;
    this.#answer.addChunk(chunk);
  }

  /** A chunk that guardrails have not released. */
  onWithheld(): void {
    this.#chunks += 1;
  }

  onCompletion(completion: ChatCompletion): void {
    this.#answer.addCompletion(completion);
  }

  /** The model that clients know, where chunks have the engine's own name. */
  onModel(modelId: string): void {
    this.#answer.model = modelId;
  }

  onUsage(usage: ChatUsage): void {
    this.#usage = usage;
  }

  /** What the answer tells of the cost, once the call has ended; undefined if it is not known or not to be told. */
  get toldCost(): CallCost | undefined {
    return this.#context.parts.costs.areTold ? this.#cost : undefined;
  }

  /** @param error what ended the call; absent on success */
  end(error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { admission, guard, input, parts } = this.#context;
    const { request } = this;
    this.#cost = this.#usage === undefined ? undefined : this.#costOf(this.#usage);
    admission.settle({ tokens: this.#usage?.total_tokens ?? this.#estimatedUse(error) });
    input.note({
      model: request.model,
      stream: request.stream === true,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_chunk_ms: this.#firstChunkMs === undefined ? undefined : Math.round(this.#firstChunkMs * 10) / 10,
      prompt_tokens: this.#usage?.prompt_tokens,
      completion_tokens: this.#usage?.completion_tokens,
      cost: this.#cost?.total,
    });
    parts.observe({
      // What is sent to the model may lack it, if it is translated.
      ...callerOf(input, { ...namedIn(request), ...namedIn(input.body) }),
      kind: "chat",
      request,
      model: request.model,
      stream: request.stream === true,
      startUnixMs: this.#startUnixMs,
      error,
      refused: false,
      answer: this.#answer,
      durationMs: performance.now() - this.#startMs,
      firstChunkMs: this.#firstChunkMs,
      usage: this.#usage,
      cost: this.#cost?.total,
      attempts: this.attempts,
      guard,
    });
  }

  #costOf(usage: ChatUsage): CallCost | undefined {
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens, prompt_tokens_details: details } = usage;
    const cacheReadTokens = details?.cached_tokens ?? 0;
    const cacheWriteTokens = details?.cache_write_tokens ?? 0;
    // A fallback may have answered, which has its own price.
    const models = [this.#answer.model, this.request.model];
    return this.#context.parts.costs.of(models, { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens });
  }

  /** Used if the engine reported no usage: one token per chunk, and nothing for a call that failed before its first chunk. */
  #estimatedUse(error: AppError | undefined): number {
    return error === undefined || this.#chunks > 0 ? this.#context.promptTokens + this.#chunks : 0;
  }
}
