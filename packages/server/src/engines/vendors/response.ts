/** An answer of the AI SDK's language models as a choice of a chat completion. */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ChatChoice, ChatUsage, FinishReason } from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import { toReasoningDetail, toToolCallExtra, type ReasoningDetail } from "./reasoning.ts";
import { isObject, wholeNumber, type JsonObject } from "../../json-object.ts";
import type { Vendor } from "./vendor.ts";

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** The vendors' finish reasons that the adapters do not map, except failures, with their meaning. */
const rawFinishReasons: Readonly<Record<string, FinishReason>> = {
  model_context_window_exceeded: "length",
  LANGUAGE: "content_filter",
};
const failedReason = /malformed|error|timeout|unexpected|too_many|missing|unspecified/i;

/** Why an answer ended; throws where it did not end well. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, vendor: Vendor): FinishReason {
  const known = finishReasons[unified] ?? rawFinishReasons[raw ?? ""];
  if (known !== undefined) return known;
  if (unified === "interrupted" || raw === undefined) {
    throw new AppError("upstream_failed", `${vendor.label} aborted the response.`);
  }
  if (unified === "error" || failedReason.test(raw)) {
    throw new AppError("upstream_failed", `${vendor.label} ended the response with "${raw}".`);
  }
  return "stop";
}

/** Token counts; undefined if the vendor sent none. */
export function toUsage({ inputTokens, outputTokens, raw = {} }: LanguageModelV4Usage): ChatUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const prompt = inputTokens.total ?? 0;
  const completion = outputTokens.total ?? 0;
  const searches = raw["server_tool_use"];
  const billed = raw["billed_units"];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...details("prompt_tokens_details", {
      cached_tokens: inputTokens.cacheRead,
      cache_write_tokens: inputTokens.cacheWrite,
      cache_write_1h_tokens: cacheWriteHour(raw),
      audio_tokens: ofGoogle("AUDIO", raw["promptTokensDetails"]),
      ...details("cached_tokens_details", { audio_tokens: ofGoogle("AUDIO", raw["cacheTokensDetails"]) }),
    }),
    ...details("completion_tokens_details", {
      reasoning_tokens: outputTokens.reasoning,
      audio_tokens: ofGoogle("AUDIO", raw["candidatesTokensDetails"]),
      image_tokens: ofGoogle("IMAGE", raw["candidatesTokensDetails"]),
    }),
    ...(isObject(searches) ? { server_tool_use: searches } : {}),
    // Cohere charges for fewer tokens than its models read.
    ...(isObject(billed) ? { billed_units: billed } : {}),
  };
}

/** The members that are known, under their name; nothing if none is. */
function details(name: string, members: JsonObject): JsonObject {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return known.length === 0 ? {} : { [name]: Object.fromEntries(known) };
}

/** What caches keep for an hour, in the usage of Anthropic and in that of Bedrock. */
function cacheWriteHour({ cacheDetails, cache_creation: creation }: JsonObject): number | undefined {
  if (isObject(creation)) return wholeNumber(creation["ephemeral_1h_input_tokens"]);
  if (!Array.isArray(cacheDetails)) return undefined;
  const ofHour = cacheDetails.filter((each) => isObject(each) && each["ttl"] === "1h") as JsonObject[];
  return ofHour.reduce((sum, { inputTokens }) => sum + (wholeNumber(inputTokens) ?? 0), 0);
}

/** Google's counts by modality. */
function ofGoogle(modality: "AUDIO" | "IMAGE", counts: unknown): number | undefined {
  if (!Array.isArray(counts)) return undefined;
  const found = counts.filter((each) => isObject(each) && each["modality"] === modality) as JsonObject[];
  return found.length === 0 ? undefined : found.reduce((sum, each) => sum + (wholeNumber(each["tokenCount"]) ?? 0), 0);
}

/** Sums of all members of two usages, details included. */
export function addUsage(one: ChatUsage | undefined, other: ChatUsage | undefined): ChatUsage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: JsonObject = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = sum[name];
    if (typeof known === "number" && typeof value === "number") sum[name] = known + value;
    else if (isObject(known) && isObject(value)) sum[name] = addUsage(known as ChatUsage, value as ChatUsage);
    else sum[name] ??= value;
  }
  return sum as ChatUsage;
}

/** Anthropic's explanation of a refusal, if it sends one. */
export function toRefusal(metadata: SharedV4ProviderMetadata | undefined): string | null {
  const details = metadata?.["anthropic"]?.["stopDetails"];
  return isObject(details) && typeof details["explanation"] === "string" ? details["explanation"] : null;
}

/** The stop sequence that ended the answer, if Anthropic says so, under SGLang's name. */
export function toMatchedStop(metadata: SharedV4ProviderMetadata | undefined): { matched_stop?: string } {
  const stop = metadata?.["anthropic"]?.["stopSequence"];
  return typeof stop === "string" ? { matched_stop: stop } : {};
}

/** The failure for content that a chat completion has no place for. */
export function unexpectedFile(mediaType: string, vendor: Vendor): AppError {
  const text = `${vendor.label} returned a file of type ${mediaType}, which a chat completion cannot contain.`;
  return new AppError("upstream_failed", text);
}

interface Gathered {
  text: string;
  reasoning: string;
  readonly details: ReasoningDetail[];
  readonly calls: (LanguageModelV4ToolCall & { type: "tool-call" })[];
}

function gather(content: readonly LanguageModelV4Content[], vendor: Vendor): Gathered {
  const gathered: Gathered = { text: "", reasoning: "", details: [], calls: [] };
  for (const part of content) {
    if (part.type === "text") gathered.text += part.text;
    if (part.type === "reasoning") {
      gathered.reasoning += part.text;
      const detail = toReasoningDetail(part.text, part.providerMetadata);
      if (detail !== undefined) gathered.details.push(detail);
    }
    if (part.type === "tool-call" && part.providerExecuted !== true) gathered.calls.push(part);
    if (part.type === "file") throw unexpectedFile(part.mediaType, vendor);
  }
  return gathered;
}

/** The one choice of an answer. Throws when the answer did not end well. */
export function toChoice(result: LanguageModelV4GenerateResult, vendor: Vendor): ChatChoice {
  const finishReason = toFinishReason(result.finishReason, vendor);
  const { text: known, reasoning, details, calls } = gather(result.content, vendor);
  const text = (vendor.readDroppedText?.(result.response?.body) ?? "") + known;
  const toolCalls = calls.map((call) => ({
    id: call.toolCallId,
    type: "function" as const,
    function: { name: call.toolName, arguments: call.input },
    ...toToolCallExtra(call.providerMetadata),
  }));
  return {
    index: 0,
    message: {
      role: "assistant",
      content: text === "" && toolCalls.length > 0 ? null : text,
      refusal: toRefusal(result.providerMetadata),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    logprobs: null,
    finish_reason: finishReason,
    ...toMatchedStop(result.providerMetadata),
  };
}
