/**
 * A request as chat completions have it. What these cannot express is refused by name, except hints that change no answer,
 * such as `prompt_cache_key`. Members that the Responses API does not have pass, as in chat completions.
 */
import { serviceTiers, type ChatRequest } from "../api/chat-request.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { invalid, refuse, type Refuse } from "../chat/untranslatable.ts";
import type { JsonObject } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { toChatToolChoice, toChatTools } from "./tools.ts";

/** Members that are translated, that the server itself answers, or that are hints. */
const known = new Set([
  "background",
  "client_metadata",
  "conversation",
  "include",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "model",
  "parallel_tool_calls",
  "previous_response_id",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
  "user",
]);
/** Members of the Responses API that no chat completion has. */
const untranslatable = new Set(["context_management", "image", "moderation", "prompt"]);

/** @throws AppError unsupported_parameter, invalid_request */
export function toChatRequest(request: ResponseRequest): ChatRequest {
  const tools = toChatTools(request, refuse);
  const choice = toChatToolChoice(request.tool_choice, tools, refuse);
  const { parallel_tool_calls: parallel } = request;
  const others = Object.entries(request).filter(([name, value]) => !known.has(name) && value !== null);
  for (const [name] of others) if (untranslatable.has(name)) refuse(name, "is set");
  const messages = toChatMessages(request, refuse);
  if (messages.length === 0) throw invalid("input", "is empty; it must be a text or a list of items.");
  return {
    ...Object.fromEntries(others),
    ...describeParameters(request, refuse),
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(tools.length === 0 || parallel == null ? {} : { parallel_tool_calls: parallel }),
    messages,
  };
}

/** The parameters without prompt and tools. */
export function describeParameters(request: ResponseRequest, whenUnknown: Refuse): Omit<ChatRequest, "messages"> {
  const { model, stream, temperature, max_output_tokens: maxTokens, top_p: topP, user } = request;
  refuseOthers(request, whenUnknown);
  const effort = toReasoningEffort(request, whenUnknown);
  const format = toResponseFormat(request, whenUnknown);
  const tier = toServiceTier(request, whenUnknown);
  const verbosity = request.text?.verbosity;
  return {
    model,
    ...(maxTokens == null ? {} : { max_completion_tokens: maxTokens }),
    ...(stream == null ? {} : { stream }),
    ...(temperature == null ? {} : { temperature }),
    ...(topP == null ? {} : { top_p: topP }),
    ...(user == null ? {} : { user }),
    ...(request.safety_identifier == null ? {} : { safety_identifier: request.safety_identifier }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(format === undefined ? {} : { response_format: format }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(verbosity == null ? {} : { verbosity }),
  };
}

function refuseOthers({ include, top_logprobs: logprobs, truncation }: ResponseRequest, whenUnknown: Refuse): void {
  for (const [index, each] of (include ?? []).entries()) {
    if (each !== "reasoning.encrypted_content") whenUnknown(`include[${index}]`, `is ${JSON.stringify(each)}`);
  }
  if (logprobs != null && logprobs > 0) whenUnknown("top_logprobs", `is ${logprobs}`);
  if (truncation != null && truncation !== "disabled") whenUnknown("truncation", `is ${JSON.stringify(truncation)}`);
}

function toServiceTier(
  { service_tier: tier }: ResponseRequest,
  whenUnknown: Refuse,
): NonNullable<ChatRequest["service_tier"]> | undefined {
  if (tier == null) return undefined;
  const found = serviceTiers.find((each) => each === tier);
  if (found === undefined) whenUnknown("service_tier", `is ${JSON.stringify(tier)}`);
  return found;
}

/** Whether, and how, the model tells what it thinks is a wish. */
const hints = new Set(["summary", "generate_summary"]);

function toReasoningEffort({ reasoning }: ResponseRequest, whenUnknown: Refuse): string | undefined {
  for (const [name, value] of Object.entries((reasoning ?? {}) as JsonObject)) {
    if (name !== "effort" && value !== null && !hints.has(name)) whenUnknown(`reasoning.${name}`, "is set");
  }
  return reasoning?.effort ?? undefined;
}

function toResponseFormat(
  { text }: ResponseRequest,
  whenUnknown: Refuse,
): NonNullable<ChatRequest["response_format"]> | undefined {
  for (const [name, value] of Object.entries((text ?? {}) as JsonObject)) {
    if (name !== "format" && name !== "verbosity" && value !== null) whenUnknown(`text.${name}`, "is set");
  }
  const format = text?.format;
  if (format == null || format.type === "text") return undefined;
  if (format.type === "json_object") return { type: "json_object" };
  const { name, schema, strict, description } = format;
  if (name === undefined) throw invalid("text.format.name", "is missing.");
  if (schema === undefined) throw invalid("text.format.schema", "is missing.");
  return {
    type: "json_schema",
    json_schema: {
      name,
      schema,
      ...(strict == null ? {} : { strict }),
      ...(description == null ? {} : { description }),
    },
  };
}
