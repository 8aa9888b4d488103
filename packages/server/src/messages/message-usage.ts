/** Token counts. Prompt tokens here are those that no cache was used for; those of chat completions include the others. */
import type { ChatUsage } from "../api/chat-answer.ts";
import { isObject, wholeNumber, type JsonObject } from "../json-object.ts";

export function toMessageUsage(usage: ChatUsage): JsonObject {
  const {
    cached_tokens: read = 0,
    cache_write_tokens: write,
    cache_write_1h_tokens: hour,
  } = (usage.prompt_tokens_details ?? {}) as {
    cached_tokens?: number;
    cache_write_tokens?: unknown;
    cache_write_1h_tokens?: unknown;
  };
  const written = wholeNumber(write) ?? 0;
  const ofHour = wholeNumber(hour);
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    input_tokens: Math.max(0, usage.prompt_tokens - read - written),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    ...(ofHour === undefined
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: Math.max(0, written - ofHour),
            ephemeral_1h_input_tokens: ofHour,
          },
        }),
    output_tokens: usage.completion_tokens,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

/** @returns undefined if it has no counts */
export function toChatUsage(usage: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = wholeNumber(usage["input_tokens"]);
  const output = wholeNumber(usage["output_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const read = wholeNumber(usage["cache_read_input_tokens"]);
  const written = wholeNumber(usage["cache_creation_input_tokens"]);
  const details = usage["output_tokens_details"];
  const thinking = isObject(details) ? wholeNumber(details["thinking_tokens"]) : undefined;
  const prompt = (input ?? 0) + (read ?? 0) + (written ?? 0);
  const creation = usage["cache_creation"];
  const ofHour = isObject(creation) ? wholeNumber(creation["ephemeral_1h_input_tokens"]) : undefined;
  const cached = {
    cached_tokens: read ?? 0,
    cache_write_tokens: written ?? 0,
    ...(ofHour === undefined ? {} : { cache_write_1h_tokens: ofHour }),
  };
  const tools = usage["server_tool_use"];
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    ...(read === undefined && written === undefined ? {} : { prompt_tokens_details: cached }),
    ...(thinking === undefined ? {} : { completion_tokens_details: { reasoning_tokens: thinking } }),
    ...(isObject(tools) ? { server_tool_use: tools } : {}),
  };
}
