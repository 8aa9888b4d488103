/** Collects the data of one chat call while it runs, and reports it when it ends. */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { AppError } from "../errors.ts";
import type { CallStart, ChatOperation, FinishedChat } from "../finished-call.ts";
import { callerOf, type CallerFields, type NamedCaller } from "../http/caller.ts";
import { tagsInHeader, tagsOfCall } from "../http/request-tags.ts";
import type { GuardReport } from "../guardrails/chat-guard.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt } from "../engines/engine.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import type { CallCost, CallCosts } from "../pricing/call-costs.ts";
import { AnswerRecord } from "./answer-record.ts";
import type { ChunkObserver } from "./chunks.ts";
import { UsageRecord } from "./usage-record.ts";

type ChatCallInput = Pick<RouteInput<ChatRequest>, "body" | CallerFields | "note"> & {
  /** Absent: a chat. */
  readonly operation?: ChatOperation;
};

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
    keepsContent(input: Pick<ChatCallInput, "scope" | "headers">): boolean | Promise<boolean>;
  };
}

/** The record of a call that was refused before it reached a model. */
export function refusedChat(input: ChatCallInput, start: CallStart, error: AppError): FinishedChat {
  const { body: request } = input;
  return {
    ...callerOf(input, namedIn(input, request)),
    kind: "chat",
    operation: input.operation ?? "chat",
    request,
    model: request.model,
    stream: request.stream === true,
    startUnixMs: start.unixMs,
    durationMs: performance.now() - start.monotonicMs,
    error,
    refused: true,
    firstChunkMs: undefined,
    usage: undefined,
    isUsageEstimated: false,
    cost: undefined,
    answer: undefined,
    attempts: [],
    guard: undefined,
  };
}

/** For whom a call is made, and what the application says of it. */
export function callerIn(input: Pick<ChatCallInput, "body" | CallerFields>): {
  readonly endUser: string | undefined;
  /** Budgets also count by numbers and truth values. */
  readonly tags: unknown;
} {
  const { metadata } = input.body as JsonObject;
  const { endUser } = callerOf(input, namedIn(input, input.body));
  const inHeader = tagsInHeader(input.headers);
  if (inHeader === undefined) return { endUser, tags: metadata };
  return { endUser, tags: isObject(metadata) ? { ...inHeader, ...metadata } : inHeader };
}

/** `user` and `safety_identifier` are OpenAI's; a session is what applications put into `metadata`. */
function namedIn({ headers }: Pick<ChatCallInput, "headers">, request: ChatRequest): NamedCaller {
  const { metadata, safety_identifier: safetyIdentifier, user } = request as JsonObject;
  const session = isObject(metadata) ? metadata["session_id"] : undefined;
  const endUser = nonEmptyText(user) ?? nonEmptyText(safetyIdentifier);
  const conversation = nonEmptyText(session);
  return {
    ...(endUser === undefined ? {} : { endUser }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(isObject(metadata) ? { tags: tagsOfCall(headers, metadata) } : {}),
  };
}

export class CallRecord implements ChunkObserver {
  readonly attempts: Attempt[] = [];
  /** As sent to the model, with redactions; this is what telemetry records. */
  request: ChatRequest;
  readonly #startUnixMs = Date.now();
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  readonly #answer: AnswerRecord;
  readonly #usage: UsageRecord;
  #firstChunkMs: number | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
    this.request = context.request;
    this.#answer = new AnswerRecord(context.parts.keepsContent(context.input));
    this.#usage = new UsageRecord({
      costs: context.parts.costs,
      payer: context.input.scope.key,
      requestedModel: context.request.model,
      promptTokens: context.promptTokens,
      attempts: this.attempts,
      guard: context.guard,
    });
  }

  onChunk(chunk: ChatCompletionChunk): void {
    this.#usage.addChunk(chunk);
    this.#firstChunkMs ??= performance.now() - this.#startMs;
    this.#answer.addChunk(chunk);
  }

  /** A chunk that guardrails have not released. */
  onWithheld(): void {
    this.#usage.addWithheld();
  }

  onCompletion(completion: ChatCompletion): void {
    this.#usage.addCompletion(completion);
    this.#answer.addCompletion(completion);
  }

  /** The model that clients know, where chunks have the engine's own name. */
  onModel(modelId: string): void {
    this.#answer.model = modelId;
  }

  onUsage(usage: ChatUsage, isFinal: boolean): void {
    this.#usage.setUsage(usage, isFinal);
  }

  onUnused(usage: ChatUsage): void {
    this.#usage.addUnused(usage);
  }

  /** The usage of an answer that failed. @param isRetried whether another attempt may follow */
  onFailedUsage(usage: ChatUsage, isRetried: boolean): void {
    if (isRetried) this.#usage.addUnused(usage);
    else this.#usage.setUsage(usage, true);
  }

  /** What the answer tells of the cost once its usage is known; undefined if it is not known or not to be told. */
  get toldCost(): CallCost | undefined {
    return this.#context.parts.costs.areTold ? this.#usage.cost : undefined;
  }

  /** @param error what ended the call; absent on success */
  end(error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { admission, guard, input, parts } = this.#context;
    const { request } = this;
    const { usage, isEstimated, cost } = this.#usage.end(error);
    admission.settle({ tokens: this.#usage.tokensToSettle(error), cost });
    input.note({
      model: request.model,
      stream: request.stream === true,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_chunk_ms: this.#firstChunkMs === undefined ? undefined : Math.round(this.#firstChunkMs * 10) / 10,
      prompt_tokens: usage?.prompt_tokens,
      completion_tokens: usage?.completion_tokens,
      usage_estimated: isEstimated ? true : undefined,
      cost: cost?.total,
      price: cost?.source,
    });
    parts.observe({
      // What is sent to the model may lack it, if it is translated.
      ...callerOf(input, { ...namedIn(input, request), ...namedIn(input, input.body) }),
      kind: "chat",
      operation: input.operation ?? "chat",
      request,
      model: request.model,
      stream: request.stream === true,
      startUnixMs: this.#startUnixMs,
      error,
      refused: false,
      answer: this.#answer,
      durationMs: performance.now() - this.#startMs,
      firstChunkMs: this.#firstChunkMs,
      usage,
      isUsageEstimated: isEstimated,
      cost,
      attempts: this.attempts,
      guard,
    });
  }
}
