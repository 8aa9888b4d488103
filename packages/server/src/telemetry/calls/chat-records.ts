/** Turns a chat call into spans and, if it failed, a log record. */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { FinishedChat } from "../../finished-call.ts";
import { genAi, sounding } from "./attribute-names.ts";
import { toCallRecords, type CallRecords, type ProviderOf } from "./call-records.ts";
import { contentAttributes } from "./message-content.ts";
import type { Attributes } from "./call-record-types.ts";

/** @param keepContent whether the project records prompts and answers */
export function toChatRecords(call: FinishedChat, keepContent: boolean, providerOf: ProviderOf): CallRecords {
  const { model, messages } = call.request;
  const attributes = {
    ...requestAttributes(call.request),
    ...answerAttributes(call),
    ...guardAttributes(call),
    ...(keepContent ? contentAttributes(messages, call.answer) : {}),
  };
  return toCallRecords(
    call,
    { subject: `${subjects[call.operation]} with ${model}`, attributes, keepContent },
    providerOf,
  );
}

const subjects = { chat: "Chat completion", text_completion: "Text completion" } as const;

function requestAttributes(request: ChatRequest): Attributes {
  return {
    [genAi.requestStream]: request.stream === true ? true : undefined,
    [genAi.choiceCount]: request.n == null || request.n === 1 ? undefined : request.n,
    [genAi.maxTokens]: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    [genAi.temperature]: request.temperature ?? undefined,
    [genAi.topP]: request.top_p ?? undefined,
    [genAi.frequencyPenalty]: request.frequency_penalty ?? undefined,
    [genAi.presencePenalty]: request.presence_penalty ?? undefined,
    // A larger one was rounded when it was read.
    [genAi.seed]: Number.isSafeInteger(request.seed) ? request.seed! : undefined,
    [genAi.stopSequences]: request.stop == null ? undefined : [request.stop].flat(),
    [genAi.outputType]: outputType(request),
  };
}

function outputType({ response_format: format }: ChatRequest): string | undefined {
  if (format == null) return undefined;
  return format.type === "text" ? "text" : "json";
}

function answerAttributes({ answer, usage, isUsageEstimated, firstChunkMs }: FinishedChat): Attributes {
  return {
    [genAi.responseId]: answer?.id,
    [genAi.responseModel]: answer?.model,
    [genAi.finishReasons]: (answer?.finishReasons.length ?? 0) > 0 ? answer?.finishReasons : undefined,
    [genAi.timeToFirstChunk]: firstChunkMs === undefined ? undefined : firstChunkMs / 1000,
    [genAi.inputTokens]: usage?.prompt_tokens,
    [genAi.outputTokens]: usage?.completion_tokens,
    [genAi.cacheReadTokens]: usage?.prompt_tokens_details?.cached_tokens,
    [genAi.cacheWriteTokens]: usage?.prompt_tokens_details?.cache_write_tokens,
    [genAi.reasoningTokens]: usage?.completion_tokens_details?.reasoning_tokens,
    [sounding.usageEstimated]: isUsageEstimated ? true : undefined,
  };
}

function guardAttributes({ guard }: FinishedChat): Attributes {
  if (guard === undefined || guard.findings.length === 0) return {};
  const { findings } = guard;
  const categoriesOf = (action: string): string[] | undefined => {
    const categories = findings.filter((each) => each.action === action).map(({ category }) => category);
    return categories.length === 0 ? undefined : [...new Set(categories)];
  };
  return {
    [genAi.riskCategory]: guard.blockedFor,
    [sounding.guardrailNames]: [...new Set(findings.map(({ guardrail }) => guardrail))],
    [sounding.guardrailFlagged]: categoriesOf("flag"),
    [sounding.guardrailRedacted]: categoriesOf("redact"),
  };
}
