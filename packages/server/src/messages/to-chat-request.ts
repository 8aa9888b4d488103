/**
 * A request as chat completions have it. What these cannot express is refused by name, except hints that change no answer,
 * such as `cache_control`. Members that the Messages API does not have pass, as in chat completions.
 */
import type { ChatRequest } from "../api/chat-request.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { toChatToolChoice, toChatTools } from "./tools.ts";
import { invalid, refuse, type Refuse } from "../chat/untranslatable.ts";

/** Members that are translated, or that say nothing about the answer. */
const known = new Set([
  "cache_control",
  "diagnostics",
  "max_tokens",
  "messages",
  "metadata",
  "model",
  "output_config",
  "service_tier",
  "stop_sequences",
  "stream",
  "system",
  "temperature",
  "thinking",
  "tool_choice",
  "tools",
  "top_p",
]);
/** Members of the Messages API that no chat completion has, with the values that ask for what happens anyway. */
const untranslatable: Readonly<Record<string, (value: unknown) => boolean>> = {
  container: () => false,
  context_management: keepsEverything,
  fallbacks: () => false,
  inference_geo: () => false,
  mcp_servers: (value) => Array.isArray(value) && value.length === 0,
  speed: (value) => value === "standard",
  user_profile_id: () => false,
  workspace_id: () => false,
};

/** @throws AppError unsupported_parameter, invalid_request */
export function toChatRequest(request: MessageRequest): ChatRequest {
  const { messages, tools } = request;
  if (messages.at(-1)?.role === "assistant") {
    refuse(`messages[${messages.length - 1}].role`, 'is "assistant", so the response should continue this message');
  }
  const translatedTools = toChatTools(tools ?? [], refuse);
  return {
    ...otherMembers(request),
    ...describeParameters(request, refuse),
    ...(translatedTools.length === 0 ? {} : { tools: translatedTools }),
    ...toChatToolChoice(request, translatedTools),
    messages: toChatMessages(request, refuse),
  };
}

function otherMembers(request: MessageRequest): JsonObject {
  const others: JsonObject = {};
  for (const [name, value] of Object.entries(request)) {
    if (known.has(name) || value === null) continue;
    const isHarmless = Object.hasOwn(untranslatable, name) ? untranslatable[name] : undefined;
    if (isHarmless === undefined) others[name] = value;
    else if (!isHarmless(value)) refuse(name, "is set");
  }
  return others;
}

/** What Claude Code sends: nothing is cleared from the context. */
function keepsEverything(value: unknown): boolean {
  if (!isObject(value)) return false;
  const edits = value["edits"] ?? [];
  return Array.isArray(edits) && edits.every((edit: unknown) => isObject(edit) && isNoEdit(edit));
}

function isNoEdit({ type, keep }: JsonObject): boolean {
  return type === "clear_thinking_20251015" && keep === "all";
}

/** The parameters without prompt and tools. */
export function describeParameters(request: MessageRequest, whenUnknown: Refuse): Omit<ChatRequest, "messages"> {
  const { model, max_tokens: maxTokens, metadata, stop_sequences: stop, stream, temperature, top_p: topP } = request;
  if (maxTokens === 0) whenUnknown("max_tokens", "is 0");
  if (stop != null && stop.length > mostStops)
    whenUnknown("stop_sequences", `has ${stop.length} items; at most ${mostStops} are supported`);
  const tier = toServiceTier(request, whenUnknown);
  const effort = toReasoningEffort(request);
  const format = toResponseFormat(request, whenUnknown);
  return {
    model,
    ...(maxTokens === 0 ? {} : { max_completion_tokens: maxTokens }),
    ...(stop == null || stop.length === 0 ? {} : { stop: stop.slice(0, mostStops) }),
    ...(stream == null ? {} : { stream }),
    ...(temperature == null ? {} : { temperature }),
    ...(topP == null ? {} : { top_p: topP }),
    ...(metadata?.user_id == null ? {} : { user: metadata.user_id }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(format === undefined ? {} : { response_format: format }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
  };
}

const mostStops = 4;

function toServiceTier({ service_tier: tier }: MessageRequest, whenUnknown: Refuse): "auto" | "default" | undefined {
  if (tier == null) return undefined;
  if (tier === "auto") return "auto";
  if (tier === "standard_only") return "default";
  whenUnknown("service_tier", `is ${JSON.stringify(tier)}`);
  return undefined;
}

/** Budgets below these are of the effort before. */
const mediumBudget = 4_096;
const highBudget = 16_384;

/**
 * `high` is the default of the Messages API, the same as no effort; clients send it to models that do not reason. A model that
 * may think as it sees fit, or should not, gets no effort either.
 */
function toReasoningEffort({ output_config: config, thinking }: MessageRequest): string | undefined {
  const effort = config?.effort;
  if (effort != null) return effort === "high" ? undefined : effort;
  if (thinking?.type !== "enabled") return undefined;
  const budget = thinking.budget_tokens ?? 0;
  return budget < mediumBudget ? "low" : budget < highBudget ? "medium" : "high";
}

function toResponseFormat(
  { output_config: config }: MessageRequest,
  whenUnknown: Refuse,
): ChatRequest["response_format"] | undefined {
  const format = config?.format;
  for (const name of Object.keys(config ?? {})) {
    if (name !== "effort" && name !== "format") whenUnknown(`output_config.${name}`, "is set");
  }
  if (format == null) return undefined;
  if (format.type !== "json_schema") {
    whenUnknown("output_config.format.type", `is ${JSON.stringify(format.type)}`);
    return undefined;
  }
  if (format.schema === undefined) throw invalid("output_config.format.schema", "is missing.");
  return { type: "json_schema", json_schema: { name: "response", schema: format.schema, strict: true } };
}
