/**
 * Turns a chat request into a generation: every parameter is honored or refused by name. Parameters that are harmless
 * without an effect (such as `user` and `store`) are accepted.
 */
import type { ChatMessage, ChatRequest } from "../../api/chat-request.ts";
import { chatParameterNames } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import type { Generation, GenerationTool, SamplingSettings, TemplateMessage } from "./protocol.ts";

/** Parameters that say nothing about the answer. */
const accepted = new Set([
  "user",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
  "store",
  "service_tier",
  "modalities",
]);
/** Parameters of the contract that no local model has. */
const absent: Readonly<Record<string, string>> = {
  audio: "the model generates only text",
  web_search_options: "the model cannot search the web",
  functions: "use tools",
  function_call: "use tool_choice",
};
/** Parameters beyond the contract, as vLLM and llama.cpp's server name them. */
const extensions = new Set(["top_k", "min_p", "chat_template_kwargs"]);

function unsupported(param: string, reason: string): AppError {
  return new AppError("unsupported_parameter", `${param} is not supported by this model: ${reason}.`, { param });
}

function refuseUnsupported(request: ChatRequest): void {
  for (const [name, value] of Object.entries(request)) {
    if (value == null) continue;
    if (absent[name] !== undefined) throw unsupported(name, absent[name]);
    if (!chatParameterNames.has(name) && !accepted.has(name) && !extensions.has(name))
      throw unsupported(name, "llama.cpp models do not support it");
  }
  if (request.store === true) throw unsupported("store", "responses are not stored");
  if (request.service_tier === "flex")
    throw unsupported("service_tier", '"flex" is not available; use "auto" or "default"');
  const modality = request.modalities?.find((each) => each !== "text");
  if (modality !== undefined)
    throw unsupported("modalities", `${JSON.stringify(modality)} is not available; use "text"`);
  if (request.prompt_logprobs != null && request.stream === true)
    throw unsupported("prompt_logprobs", "it is not available in streams; set stream to false");
}

function partText(part: { type: string; text?: unknown; refusal?: unknown }, param: string): string {
  if (part.type === "text" && typeof part.text === "string") return part.text;
  if (part.type === "refusal" && typeof part.refusal === "string") return part.refusal;
  if (part.type === "text" || part.type === "refusal")
    throw new AppError("invalid_request", `${param}.${part.type} must be a string.`, { param });
  throw unsupported(`${param}.type`, `the model accepts only text, not ${JSON.stringify(part.type)}`);
}

function messageText(content: ChatMessage["content"], param: string): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part, index) => partText(part, `${param}.content[${index}]`)).join("\n");
}

function templateMessage(message: ChatMessage, index: number): TemplateMessage {
  const param = `messages[${index}]`;
  if (message.role === "function") throw unsupported(`${param}.role`, 'the role "function" is deprecated; use "tool"');
  return {
    role: message.role === "developer" ? "system" : message.role,
    content: messageText(message.content, param),
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.tool_call_id === undefined ? {} : { tool_call_id: message.tool_call_id }),
    ...(message.tool_calls == null || message.tool_calls.length === 0
      ? {}
      : {
          tool_calls: message.tool_calls.map(({ id, function: called }) => ({
            id,
            type: "function" as const,
            function: called,
          })),
        }),
  };
}

function biasOf(request: ChatRequest): [number, number][] {
  return Object.entries(request.logit_bias ?? {}).map(([key, bias]) => {
    if (!/^\d{1,9}$/.test(key)) {
      throw new AppError("invalid_request", `logit_bias has the key ${JSON.stringify(key)}; keys must be token IDs.`, {
        param: "logit_bias",
      });
    }
    return [Number(key), bias];
  });
}

function extensionNumber(
  request: ChatRequest,
  name: string,
  range: { minimum: number; maximum: number; whole: boolean },
): number {
  const value = (request as Record<string, unknown>)[name] ?? 0;
  const { minimum, maximum, whole } = range;
  if (typeof value === "number" && value >= minimum && value <= maximum && (!whole || Number.isInteger(value)))
    return value;
  throw new AppError(
    "invalid_request",
    `${name} is ${JSON.stringify(value)}; it must be ${whole ? "a whole number" : "a number"} from ${minimum} to ${maximum}.`,
    { param: name },
  );
}

function samplingOf(request: ChatRequest): SamplingSettings {
  return {
    temperature: request.temperature ?? 1,
    topP: request.top_p ?? 1,
    topK: extensionNumber(request, "top_k", { minimum: 0, maximum: 1024, whole: true }),
    minP: extensionNumber(request, "min_p", { minimum: 0, maximum: 1, whole: false }),
    frequencyPenalty: request.frequency_penalty ?? 0,
    presencePenalty: request.presence_penalty ?? 0,
    bias: biasOf(request),
    seed: request.seed ?? undefined,
  };
}

function toolsOf(request: ChatRequest): { tools: GenerationTool[]; toolChoice: Generation["toolChoice"] } {
  const choice = request.tool_choice ?? "auto";
  const tools = (request.tools ?? []).map(({ function: { name, description, parameters, strict } }) => ({
    name,
    description,
    parameters: parameters as Record<string, unknown> | undefined,
    strict: strict === true,
  }));
  if (choice === "none") return { tools: [], toolChoice: "auto" };
  if (choice === "auto") return { tools, toolChoice: "auto" };
  const toolChoice = choice === "required" ? choice : { name: choice.function.name };
  if (tools.length === 0 || (typeof toolChoice === "object" && tools.every(({ name }) => name !== toolChoice.name))) {
    throw new AppError("invalid_request", "tool_choice names a tool that is not in tools.", {
      param: "tool_choice",
    });
  }
  return { tools, toolChoice };
}

function formatOf({ response_format: format }: ChatRequest): Generation["format"] {
  if (format == null || format.type === "text") return "text";
  if (format.type === "json_object" || format.json_schema.schema === undefined) return "json_object";
  return { schema: format.json_schema.schema as Record<string, unknown> };
}

function templateVariablesOf(request: ChatRequest): Record<string, unknown> {
  const value = (request as Record<string, unknown>)["chat_template_kwargs"] ?? {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new AppError("invalid_request", "chat_template_kwargs must be an object.", { param: "chat_template_kwargs" });
}

/** The smaller of the limit's two names. */
function maximumTokensOf({ max_completion_tokens: limit, max_tokens: olderLimit }: ChatRequest): number | undefined {
  const smaller = Math.min(limit ?? Infinity, olderLimit ?? Infinity);
  return smaller === Infinity ? undefined : smaller;
}

/**
 * The generation for a request.
 * @throws AppError unsupported_parameter or invalid_request, naming the parameter
 */
export function toGeneration(request: ChatRequest, group: string): Generation {
  refuseUnsupported(request);
  return {
    messages: request.messages.map(templateMessage),
    ...toolsOf(request),
    parallelToolCalls: request.parallel_tool_calls ?? true,
    format: formatOf(request),
    choices: request.n ?? 1,
    maximumTokens: maximumTokensOf(request),
    stop: [request.stop ?? []].flat().filter((sequence) => sequence !== ""),
    logprobs: request.logprobs ?? false,
    topLogprobs: request.top_logprobs ?? 0,
    promptLogprobs: request.prompt_logprobs ?? undefined,
    sampling: samplingOf(request),
    group,
    templateVariables: templateVariablesOf(request),
  };
}
