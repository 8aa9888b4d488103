/** What a call used of a model, in the units that vendors charge for. */
import type { ChatUsage } from "../api/chat-answer.ts";
import { isObject, wholeNumber } from "../json-object.ts";

/** What a model was given and generated. Each member but the last is a part of the input or of the output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input: read from a cache. */
  readonly cacheReadTokens: number;
  /** Of the input: written to a cache. */
  readonly cacheWriteTokens: number;
  /** Of those written to a cache: kept for an hour. */
  readonly cacheWriteHourTokens: number;
  /** Of the input: audio, cached audio included. */
  readonly audioInputTokens: number;
  /** Of those read from a cache: audio. */
  readonly audioCacheReadTokens: number;
  /** Of the output: audio. */
  readonly audioOutputTokens: number;
  /** Of the output: images. */
  readonly imageOutputTokens: number;
  /** Of the output: reasoning. */
  readonly reasoningTokens: number;
  /** Of the output: what the model read of pages that it found. */
  readonly citationTokens: number;
  /** Searches of the web that the vendor made. */
  readonly webSearches: number;
}

export const noTokens: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  audioInputTokens: 0,
  audioCacheReadTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
  reasoningTokens: 0,
  citationTokens: 0,
  webSearches: 0,
};

/** What a call used: tokens, or what speech and transcription are charged by. */
export interface CallUsage {
  readonly tokens?: TokenUsage | undefined;
  /** How the vendor says that it processed the call, such as `flex`. */
  readonly serviceTier?: string | undefined;
  /** UTF-16 code units of the text that was spoken. */
  readonly characters?: number | undefined;
  /** Of a recording that was transcribed. */
  readonly inputSeconds?: number | undefined;
  /** Of audio that was synthesized. */
  readonly outputSeconds?: number | undefined;
  /** What the upstream says that it charges, in a currency that it does not name. */
  readonly reportedCost?: number | undefined;
}

/**
 * Of a usage that an engine has normalized: cached and reasoning tokens are part of the input and output. `server_tool_use` is
 * Anthropic's, `num_search_queries` Perplexity's, `billed_units` Cohere's.
 */
export function tokensOfChat(usage: ChatUsage): TokenUsage {
  const prompt = usage.prompt_tokens_details ?? {};
  const completion = usage.completion_tokens_details ?? {};
  const billed = objectIn(usage, "billed_units");
  return {
    inputTokens: wholeNumber(billed["input_tokens"]) ?? usage.prompt_tokens,
    outputTokens: wholeNumber(billed["output_tokens"]) ?? usage.completion_tokens,
    cacheReadTokens: countIn(prompt, "cached_tokens"),
    cacheWriteTokens: countIn(prompt, "cache_write_tokens"),
    cacheWriteHourTokens: countIn(prompt, "cache_write_1h_tokens"),
    audioInputTokens: countIn(prompt, "audio_tokens"),
    audioCacheReadTokens: countIn(objectIn(prompt, "cached_tokens_details"), "audio_tokens"),
    audioOutputTokens: countIn(completion, "audio_tokens"),
    imageOutputTokens: countIn(completion, "image_tokens"),
    reasoningTokens: countIn(completion, "reasoning_tokens"),
    citationTokens: countIn(completion, "citation_tokens"),
    webSearches:
      countIn(objectIn(usage, "server_tool_use"), "web_search_requests") + countIn(usage, "num_search_queries"),
  };
}

type CountsOfKinds = Readonly<Record<string, unknown>>;

function objectIn(counts: CountsOfKinds, name: string): CountsOfKinds {
  const value = counts[name];
  return isObject(value) ? value : {};
}

/** An engine may send anything. */
function countIn(counts: CountsOfKinds, name: string): number {
  return wholeNumber(counts[name]) ?? 0;
}
