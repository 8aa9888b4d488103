/**
 * Converts a model's reasoning, and the signatures that a vendor requires in the next turn. Reasoning is returned as
 * `reasoning_content`. What must come back unchanged travels in `reasoning_details`, as in OpenRouter's API
 * (https://openrouter.ai/docs/use-cases/reasoning-tokens), and, for Gemini's function calls, in `extra_content`
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../json-object.ts";

/** One piece of reasoning in a message. */
export interface ReasoningDetail {
  readonly type: "reasoning.text" | "reasoning.encrypted";
  readonly text?: string;
  readonly signature?: string;
  readonly data?: string;
  /** Whose it is; another vendor gets no foreign reasoning. */
  readonly format: ReasoningFormat;
}

/** Vendors whose reasoning must come back: under which name the adapter keeps it, and its sealed form. */
const keepers = {
  anthropic: { key: "anthropic", sealed: "redactedData" },
  amazon_bedrock: { key: "amazonBedrock", sealed: "redactedContent" },
} as const;
export type ReasoningFormat = keyof typeof keepers;

/** The detail that must come back for one block of reasoning; undefined when nothing must. */
export function toReasoningDetail(
  text: string,
  metadata: SharedV4ProviderMetadata | undefined,
): ReasoningDetail | undefined {
  for (const format of Object.keys(keepers) as ReasoningFormat[]) {
    const { key, sealed } = keepers[format];
    const own = metadata?.[key];
    if (typeof own?.["signature"] === "string") {
      return { type: "reasoning.text", text, signature: own["signature"], format };
    }
    if (typeof own?.[sealed] === "string") return { type: "reasoning.encrypted", data: own[sealed], format };
  }
  return undefined;
}

function readDetail(detail: unknown, format: ReasoningFormat): LanguageModelV4ReasoningPart[] {
  if (!isObject(detail) || detail["format"] !== format) return [];
  const { key, sealed } = keepers[format];
  const { signature, data, text } = detail;
  if (detail["type"] === "reasoning.text" && typeof text === "string" && typeof signature === "string") {
    return [{ type: "reasoning", text, providerOptions: { [key]: { signature } } }];
  }
  if (detail["type"] === "reasoning.encrypted" && typeof data === "string") {
    return [{ type: "reasoning", text: "", providerOptions: { [key]: { [sealed]: data } } }];
  }
  return [];
}

/** The reasoning of an earlier answer that the vendor with this format expects in later requests. */
export function readReasoning(
  message: JsonObject,
  format: ReasoningFormat | undefined,
): LanguageModelV4ReasoningPart[] {
  const details = message["reasoning_details"];
  if (format === undefined || !Array.isArray(details)) return [];
  return details.flatMap((detail) => readDetail(detail, format));
}

/** The data that a later request must return with a function call, in the wire format. */
export function toToolCallExtra(metadata: SharedV4ProviderMetadata | undefined): JsonObject {
  const signature = metadata?.["google"]?.["thoughtSignature"];
  return typeof signature === "string" ? { extra_content: { google: { thought_signature: signature } } } : {};
}

/** The same, from an earlier answer's call. */
export function readToolCallExtra(call: JsonObject): { providerOptions?: SharedV4ProviderOptions } {
  const extra = call["extra_content"];
  const own = isObject(extra) ? extra["google"] : undefined;
  const signature = isObject(own) ? own["thought_signature"] : undefined;
  return typeof signature === "string" ? { providerOptions: { google: { thoughtSignature: signature } } } : {};
}
