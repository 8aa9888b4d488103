/**
 * Which of OpenAI's parameters a vendor honors. A parameter that a vendor cannot honor is refused by name before
 * any call, unless its value has no effect. https://platform.openai.com/docs/api-reference/chat/create
 */
import { chatParameterNames, type ChatRequest } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** `model`: some models of the vendor do; the adapter knows which. */
type Support = "yes" | "no" | "model";

/** Parameters whose support differs between vendors, some of them by value. */
export const variedParameters = [
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "temperature",
  "top_p",
  "top_k",
  "reasoning_effort",
  "parallel_tool_calls=false",
  "response_format=json_object",
  "service_tier=flex",
  "user",
  "safety_identifier",
  "metadata",
  "prompt_cache_key",
  "prediction",
] as const;
export type ParameterSupport = Readonly<Record<(typeof variedParameters)[number], Support>>;

/** The facts about a vendor that a refusal mentions. */
interface RefusingVendor {
  /** The vendor's name in messages. */
  readonly label: string;
  readonly parameters: ParameterSupport;
}

/** Parameters that no vendor of this folder honors. */
export const refusedParameters = [
  "audio",
  "function_call",
  "functions",
  "logit_bias",
  "logprobs",
  "modalities",
  "moderation",
  "prompt_cache_options",
  "prompt_cache_retention",
  "prompt_logprobs",
  "store",
  "top_logprobs",
  "verbosity",
  "web_search_options",
] as const;

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

/** Values without effect, or that request what a vendor does anyway. */
const harmless: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  function_call: (value) => value === "none" || value === "auto",
  functions: isEmpty,
  logit_bias: isEmpty,
  logprobs: (value) => value === false,
  metadata: isEmpty,
  modalities: (value) => Array.isArray(value) && value.every((each) => each === "text"),
  presence_penalty: (value) => value === 0,
  store: (value) => value === false,
  top_logprobs: (value) => value === 0,
  verbosity: (value) => value === "medium",
};

/** The member of a request; undefined if it is absent, null or without effect. */
export function effectiveValue(request: ChatRequest, name: string): unknown {
  const value: unknown = (request as JsonObject)[name];
  return value === null || harmless[name]?.(value) === true ? undefined : value;
}

/** A value in a message, cut if it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The error for a parameter that a vendor cannot honor. */
export function unsupported(label: string, param: string, reason: string): AppError {
  return new AppError("unsupported_parameter", `${label} does not support ${param}: ${reason}`, { param });
}

function refuse(vendor: RefusingVendor, request: ChatRequest, name: string): never {
  const value = shown((request as JsonObject)[name]);
  throw unsupported(vendor.label, name, `its value is ${value}. Omit the parameter, or use another model.`);
}

/** Throws `unsupported_parameter` for the first parameter that the vendor never honors. */
export function refuseUnsupportedParameters(request: ChatRequest, vendor: RefusingVendor): void {
  for (const name of refusedParameters) {
    if (effectiveValue(request, name) !== undefined) refuse(vendor, request, name);
  }
  for (const entry of variedParameters) {
    if (vendor.parameters[entry] !== "no") continue;
    const [name, refusedValue] = entry.split("=") as [string, string?];
    const value = effectiveValue(request, name);
    if (value === undefined) continue;
    const asked = isObject(value) ? value["type"] : value;
    if (refusedValue === undefined || refusedValue === String(asked)) {
      refuse(vendor, request, name);
    }
  }
  const streamOptions: JsonObject = request.stream_options ?? {};
  for (const [name, value] of Object.entries(streamOptions)) {
    if (name === "include_usage" || value === null || value === false) continue;
    throw unsupported(vendor.label, `stream_options.${name}`, "only include_usage is supported.");
  }
}

const translatedParameters = new Set<string>([
  ...chatParameterNames,
  ...refusedParameters,
  ...variedParameters.map((entry) => entry.split("=")[0]!),
]);

/** The members of a request that this server does not know; they go to the vendor as they are. */
export function passThroughMembers(request: ChatRequest): JsonObject {
  return Object.fromEntries(
    Object.entries(request).filter(([name, value]) => value !== null && !translatedParameters.has(name)),
  );
}
