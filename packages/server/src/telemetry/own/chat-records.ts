/** A chat call as spans and, where something went wrong, a log record. */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { ChatUsage } from "../../api/chat-answer.ts";
import type { AppError, ErrorCode } from "../../errors.ts";
import type { Scope } from "../../tenant.ts";
import { errorType, genAi, sounding } from "./attribute-names.ts";
import { contentAttributes, type AnswerContent } from "./message-content.ts";
import { toUnixNano, type Attributes, type OwnLog, type OwnSpan } from "./own-records.ts";
import { newSpanId, traceContext, type TraceContext } from "./trace-context.ts";

/** What is known of a chat call when it is over. Of a call that was refused, no model was asked. */
export interface ObservedChat {
  readonly scope: Scope;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly request: ChatRequest;
  readonly startUnixMs: number;
  readonly durationMs: number;
  readonly error: AppError | undefined;
  readonly firstChunkMs?: number | undefined;
  readonly usage?: ChatUsage | undefined;
  readonly answer?:
    | (AnswerContent & { readonly id: string | undefined; readonly model: string | undefined })
    | undefined;
  readonly attempts?: readonly {
    readonly engine: string;
    readonly model: string;
    readonly outcome: "ok" | ErrorCode;
    readonly startUnixMs: number;
    readonly durationMs: number;
  }[];
}

export interface ChatRecords {
  readonly spans: readonly OwnSpan[];
  readonly log: OwnLog | undefined;
}

/** The name by which OpenTelemetry knows the vendor of an engine. */
export type ProviderOf = (engine: string) => string;

/** @param keepContent whether the project's settings say that prompts and answers are recorded */
export function toChatRecords(call: ObservedChat, keepContent: boolean, providerOf: ProviderOf): ChatRecords {
  const context = traceContext(call.traceparent, call.tracestate);
  const spanId = newSpanId();
  const attributes: Attributes = {
    ...requestAttributes(call, providerOf),
    ...answerAttributes(call),
    ...(keepContent ? contentAttributes(call.request.messages, call.answer) : {}),
  };
  const span: OwnSpan = {
    ...context,
    spanId,
    name: `chat ${call.request.model}`,
    kind: "client",
    startUnixNano: toUnixNano(call.startUnixMs),
    endUnixNano: toUnixNano(call.startUnixMs + call.durationMs),
    error: failureOf(call.error, keepContent),
    attributes,
  };
  return { spans: [span, ...attemptSpans(call, { context, spanId })], log: logOf(call, span) };
}

/**
 * What is told of a failure; undefined where there is none, such as when the caller left. Messages about a request may quote
 * it, and so are content themselves.
 */
function failureOf(error: AppError | undefined, keepContent: boolean): string | undefined {
  if (error === undefined || error.code === "client_closed") return undefined;
  if (error.status !== badRequestStatus || keepContent) return error.message;
  return error.param === null ? error.code : `${error.code}: ${error.param}`;
}

const badRequestStatus = 400;

function requestAttributes(
  { request, scope, requestId, attempts = [] }: ObservedChat,
  providerOf: ProviderOf,
): Attributes {
  const engine = attempts.at(-1)?.engine;
  return {
    [genAi.operation]: "chat",
    [genAi.provider]: engine === undefined ? undefined : providerOf(engine),
    [genAi.requestModel]: request.model,
    [genAi.requestStream]: request.stream === true ? true : undefined,
    [genAi.choiceCount]: request.n == null || request.n === 1 ? undefined : request.n,
    [genAi.maxTokens]: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    [genAi.temperature]: request.temperature ?? undefined,
    [genAi.topP]: request.top_p ?? undefined,
    [genAi.frequencyPenalty]: request.frequency_penalty ?? undefined,
    [genAi.presencePenalty]: request.presence_penalty ?? undefined,
    [genAi.seed]: request.seed ?? undefined,
    [genAi.stopSequences]: request.stop == null ? undefined : [request.stop].flat(),
    [genAi.outputType]: outputType(request),
    [sounding.requestId]: requestId,
    [sounding.keyId]: scope.key.keyId,
    [sounding.engine]: engine,
    [sounding.attempts]: attempts.length > 1 ? attempts.length : undefined,
  };
}

function outputType({ response_format: format }: ChatRequest): string | undefined {
  if (format == null) return undefined;
  return format.type === "text" ? "text" : "json";
}

function answerAttributes({ answer, usage, firstChunkMs, error }: ObservedChat): Attributes {
  return {
    [genAi.responseId]: answer?.id,
    [genAi.responseModel]: answer?.model,
    [genAi.finishReasons]: (answer?.finishReasons.length ?? 0) > 0 ? answer?.finishReasons : undefined,
    [genAi.timeToFirstChunk]: firstChunkMs === undefined ? undefined : firstChunkMs / 1000,
    [genAi.inputTokens]: usage?.prompt_tokens,
    [genAi.outputTokens]: usage?.completion_tokens,
    [genAi.cacheReadTokens]: usage?.prompt_tokens_details?.cached_tokens,
    [genAi.reasoningTokens]: usage?.completion_tokens_details?.reasoning_tokens,
    [errorType]: error?.code,
  };
}

/** One each, where it took more than one. They are no model calls of their own: the call is counted once. */
function attemptSpans(
  { attempts = [] }: ObservedChat,
  { context, spanId }: { context: TraceContext; spanId: string },
): OwnSpan[] {
  if (attempts.length < 2) return [];
  return attempts.map((attempt, index) => ({
    ...context,
    parentSpanId: spanId,
    spanId: newSpanId(),
    name: `attempt ${attempt.engine}`,
    kind: "client",
    startUnixNano: toUnixNano(attempt.startUnixMs),
    endUnixNano: toUnixNano(attempt.startUnixMs + attempt.durationMs),
    error: attempt.outcome === "ok" || attempt.outcome === "client_closed" ? undefined : attempt.outcome,
    attributes: {
      [sounding.engine]: attempt.engine,
      [genAi.requestModel]: attempt.model,
      [sounding.attempts]: index + 1,
      [errorType]: attempt.outcome === "ok" ? undefined : attempt.outcome,
    },
  }));
}

/** Faults of the caller are warnings; faults of engines and our own are errors. */
const firstServerStatus = 500;

function logOf({ error, request }: ObservedChat, span: OwnSpan): OwnLog | undefined {
  if (error === undefined || span.error === undefined) return undefined;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    unixNano: span.endUnixNano,
    level: error.status >= firstServerStatus ? "error" : "warning",
    eventName: "gen_ai.client.operation.exception",
    body: `The chat with ${request.model} failed: ${span.error}`,
    attributes: {
      [genAi.operation]: "chat",
      [genAi.requestModel]: request.model,
      [errorType]: error.code,
      "exception.type": error.code,
      "exception.message": span.error,
      [sounding.requestId]: span.attributes[sounding.requestId],
    },
  };
}
