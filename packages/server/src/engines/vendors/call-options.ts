/** A chat request as the call options of the AI SDK's language models. */
import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from "@ai-sdk/provider";
import type { ChatRequest, ChatTool } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import { cacheOptions, refuseUnknownMembers } from "./content-part.ts";
import { effectiveValue, passThroughMembers, unsupported } from "./parameter-support.ts";
import { toPrompt } from "./prompt.ts";
import type { JsonObject } from "../../json-object.ts";
import type { Vendor } from "./vendor.ts";

type ReasoningEffort = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

const reasoningEfforts: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function invalid(param: string, problem: string): AppError {
  return new AppError("invalid_request", `${param} ${problem}`, { param });
}

function toTool(tool: ChatTool, vendor: Vendor, path: string): LanguageModelV4FunctionTool {
  const context = { label: vendor.label, support: vendor.content, path };
  refuseUnknownMembers(tool, ["type", "function"], context);
  refuseUnknownMembers(tool.function, ["name", "description", "parameters", "strict"], {
    ...context,
    path: `${path}.function`,
  });
  const { name, description, parameters, strict } = tool.function;
  return {
    type: "function",
    name,
    inputSchema: (parameters ?? { type: "object", properties: {} }) as JSONSchema7,
    ...(description === undefined ? {} : { description }),
    // Without strict the vendors do as with false, and some adapters complain of any value.
    ...(strict === true ? { strict } : {}),
    ...cacheOptions(tool),
  };
}

function toToolChoice(request: ChatRequest): LanguageModelV4ToolChoice | undefined {
  const choice = request.tool_choice;
  if (choice === null || choice === undefined) return undefined;
  const names = new Set((request.tools ?? []).map((tool) => tool.function.name));
  if (typeof choice === "string") {
    if (names.size > 0) return { type: choice };
    if (choice === "required") throw invalid("tool_choice", "is required, but tools is empty.");
    return undefined;
  }
  const { name } = choice.function;
  if (!names.has(name)) throw invalid("tool_choice.function.name", `is "${name}", which is not in tools.`);
  return { type: "tool", toolName: name };
}

function toResponseFormat(request: ChatRequest, vendor: Vendor): LanguageModelV4CallOptions["responseFormat"] {
  const format = request.response_format;
  if (format === null || format === undefined || format.type === "text") return undefined;
  const context = { label: vendor.label, support: vendor.content, path: "response_format" };
  refuseUnknownMembers(format, ["type", "json_schema"], context);
  if (format.type === "json_object") return { type: "json" };
  const path = "response_format.json_schema";
  refuseUnknownMembers(format.json_schema, ["name", "description", "schema", "strict"], { ...context, path });
  const { name, description, schema } = format.json_schema;
  if (schema === undefined) throw invalid(`${path}.schema`, "is missing.");
  if (description === undefined) return { type: "json", name, schema: schema as JSONSchema7 };
  // Most adapters have no place for the description but the schema.
  return { type: "json", name, description, schema: { description, ...schema } as JSONSchema7 };
}

function maxOutputTokens(request: ChatRequest, vendor: Vendor): number | undefined {
  const { max_completion_tokens: current, max_tokens: older } = request;
  if (typeof current === "number" && typeof older === "number" && current !== older) {
    throw invalid("max_tokens", `is ${older}, but max_completion_tokens is ${current}; send only one of them.`);
  }
  return current ?? older ?? vendor.defaultMaxTokens;
}

function toReasoning(request: ChatRequest): ReasoningEffort | undefined {
  const effort = effectiveValue(request, "reasoning_effort");
  if (effort === undefined) return undefined;
  if (typeof effort === "string" && reasoningEfforts.includes(effort)) return effort as ReasoningEffort;
  throw invalid("reasoning_effort", `must be one of ${reasoningEfforts.join(", ")}.`);
}

function topK(request: ChatRequest): number | undefined {
  const value = effectiveValue(request, "top_k");
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= 1)) return value;
  throw invalid("top_k", "must be an integer of at least 1.");
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Larger ones were rounded when the request was read. */
function exactSeed({ seed }: ChatRequest, { label }: Vendor): number | null | undefined {
  if (seed == null || Number.isSafeInteger(seed)) return seed;
  throw unsupported(label, "seed", "it must be between -(2^53 - 1) and 2^53 - 1.");
}

/**
 * The call options of a request, without signal. Throws `invalid_request` and `unsupported_parameter` for what
 * the vendor's API cannot express.
 */
export function toCallOptions(request: ChatRequest, vendor: Vendor): LanguageModelV4CallOptions {
  const { stop } = request;
  const tools = (request.tools ?? []).map((tool, index) => toTool(tool, vendor, `tools[${index}]`));
  const passThrough: JsonObject = vendor.passThrough === "body" ? {} : passThroughMembers(request);
  return {
    prompt: toPrompt(request, vendor),
    ...withoutUndefined({
      maxOutputTokens: maxOutputTokens(request, vendor),
      temperature: request.temperature,
      topP: request.top_p,
      topK: topK(request),
      stopSequences: typeof stop === "string" ? [stop] : stop?.length === 0 ? undefined : stop,
      frequencyPenalty: effectiveValue(request, "frequency_penalty") as number | undefined,
      presencePenalty: effectiveValue(request, "presence_penalty") as number | undefined,
      seed: exactSeed(request, vendor),
      responseFormat: toResponseFormat(request, vendor),
      reasoning: toReasoning(request),
      tools: tools.length === 0 ? undefined : tools,
      toolChoice: toToolChoice(request),
    }),
    providerOptions: vendor.providerOptions(request, passThrough),
    includeRawChunks: vendor.readDroppedText !== undefined,
  };
}
