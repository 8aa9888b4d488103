/** Token counts. Both APIs count cached tokens as prompt tokens. */
import type { ChatUsage } from "../api/chat-answer.ts";
import { isObject, wholeNumber, type JsonObject } from "../json-object.ts";

export function toResponseUsage(usage: ChatUsage): JsonObject {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: 0, ...usage.prompt_tokens_details },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: 0, ...usage.completion_tokens_details },
    total_tokens: usage.total_tokens,
  };
}

/** @returns undefined if it has no counts */
export function toChatUsage(usage: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = wholeNumber(usage["input_tokens"]);
  const output = wholeNumber(usage["output_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } = usage;
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: wholeNumber(usage["total_tokens"]) ?? (input ?? 0) + (output ?? 0),
    ...(isObject(inputDetails) ? { prompt_tokens_details: inputDetails } : {}),
    ...(isObject(outputDetails) ? { completion_tokens_details: outputDetails } : {}),
  };
}
