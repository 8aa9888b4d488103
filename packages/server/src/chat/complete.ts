/** The use case: one chat completion, batch or streamed, admitted by the limits, answered by a model, counted. */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import { toAppError, type ErrorCode } from "../errors.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Attempt, ChatCall, ChatModel } from "../models/model.ts";
import type { Scope } from "../tenant.ts";
import { prepareChat } from "./prepare.ts";
import { toFrames } from "./chunks.ts";

/** What is known of a chat call when it is over. */
export interface FinishedChat {
  readonly model: string;
  readonly stream: boolean;
  readonly outcome: "ok" | ErrorCode;
  readonly durationMs: number;
  readonly firstChunkMs: number | undefined;
  readonly usage: ChatUsage | undefined;
  readonly attempts: readonly Attempt[];
}

export interface ChatParts {
  /** @throws AppError model_not_found, model_not_allowed */
  resolveModel(scope: Scope, modelId: string): ChatModel;
  readonly limiter: Limiter;
  /** Told of every call that is over; must not throw. */
  observe(call: FinishedChat): void;
}

type ChatInput = Pick<RouteInput<ChatRequest>, "body" | "bytes" | "scope" | "requestId" | "signal" | "note">;

export type ChatAnswer =
  | { readonly stream: false; readonly completion: ChatCompletion; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly stream: true;
      readonly frames: AsyncIterable<string>;
      readonly headers: Readonly<Record<string, string>>;
    };

export type Chat = (input: ChatInput) => Promise<ChatAnswer>;

/** A guess, for the limits until the engine has counted. */
const bytesPerToken = 4;

export function createChat(parts: ChatParts): Chat {
  return async (input) => {
    const { request, changes } = prepareChat(input.body);
    const model = parts.resolveModel(input.scope, request.model);
    const promptTokens = Math.ceil(input.bytes.length / bytesPerToken);
    const longestAnswer = (request.max_completion_tokens ?? request.max_tokens ?? 0) * (request.n ?? 1);
    const admission = parts.limiter.admit(input.scope, { estimatedTokens: promptTokens + longestAnswer });
    const record = new CallRecord({ request, promptTokens, admission, input, parts });
    const call: ChatCall = {
      request,
      bytes: input.bytes,
      changes,
      signal: input.signal,
      requestId: input.requestId,
      onAttempt: (attempt) => record.attempts.push(attempt),
    };
    const headers = admission.headers();
    if (request.stream !== true) {
      return { stream: false, completion: await complete(model, call, record), headers };
    }
    const includeUsage = request.stream_options?.include_usage === true;
    const frames = toFrames(counted(model.stream(call), record), {
      includeUsage,
      observer: record,
    });
    return { stream: true, frames, headers };
  };
}

async function complete(model: ChatModel, call: ChatCall, record: CallRecord): Promise<ChatCompletion> {
  try {
    const completion = await model.complete(call);
    if (completion.usage !== undefined) record.onUsage(completion.usage);
    record.end("ok");
    return completion;
  } catch (error) {
    record.end(toAppError(error).code);
    throw error;
  }
}

/** The chunks as they are; the call is over when they end, fail, or are left. */
async function* counted(
  chunks: AsyncIterable<ChatCompletionChunk>,
  record: CallRecord,
): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  let outcome: "ok" | ErrorCode = "client_closed";
  try {
    yield* chunks;
    outcome = "ok";
  } catch (error) {
    outcome = toAppError(error).code;
    throw error;
  } finally {
    record.end(outcome);
  }
}

interface CallContext {
  readonly request: ChatRequest;
  /** Estimated. */
  readonly promptTokens: number;
  readonly admission: Admission;
  readonly input: ChatInput;
  readonly parts: ChatParts;
}

/** What is learnt of one call while it runs. */
class CallRecord {
  readonly attempts: Attempt[] = [];
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  #chunks = 0;
  #firstChunkMs: number | undefined;
  #usage: ChatUsage | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  onChunk(): void {
    this.#chunks += 1;
    this.#firstChunkMs ??= performance.now() - this.#startMs;
  }

  onUsage(usage: ChatUsage): void {
    this.#usage = usage;
  }

  end(outcome: "ok" | ErrorCode): void {
    if (this.#ended) return;
    this.#ended = true;
    const { request, admission, input, parts } = this.#context;
    admission.settle({ tokens: this.#usage?.total_tokens ?? this.#estimatedUse(outcome) });
    input.note({
      model: request.model,
      stream: request.stream === true,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_chunk_ms: this.#firstChunkMs === undefined ? undefined : Math.round(this.#firstChunkMs * 10) / 10,
      prompt_tokens: this.#usage?.prompt_tokens,
      completion_tokens: this.#usage?.completion_tokens,
    });
    parts.observe({
      model: request.model,
      stream: request.stream === true,
      outcome,
      durationMs: performance.now() - this.#startMs,
      firstChunkMs: this.#firstChunkMs,
      usage: this.#usage,
      attempts: this.attempts,
    });
  }

  /** Where the engine did not count, or could not to the end: a chunk is a token; what failed at once cost nothing. */
  #estimatedUse(outcome: "ok" | ErrorCode): number {
    return outcome === "ok" || this.#chunks > 0 ? this.#context.promptTokens + this.#chunks : 0;
  }
}
