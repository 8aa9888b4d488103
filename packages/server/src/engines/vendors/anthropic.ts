/** Anthropic's Messages API. https://platform.claude.com/docs/en/api/messages */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { AnthropicSettings } from "../../config/engines/vendors.ts";
import type { AppError } from "../../errors.ts";
import type { ModelDescription } from "../engine.ts";
import { member, readPages, textMember } from "./model-list.ts";
import { effectiveValue, unsupported } from "./parameter-support.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { JsonReader, Vendor } from "./vendor.ts";

const label = "Anthropic";
const version = "2023-06-01";

function providerOptions(request: ChatRequest): SharedV4ProviderOptions {
  const userId = request.user ?? (effectiveValue(request, "safety_identifier") as string | undefined);
  return {
    anthropic: {
      ...(typeof userId === "string" ? { metadata: { userId } } : {}),
      ...(request.parallel_tool_calls === false ? { disableParallelToolUse: true } : {}),
      ...(request.service_tier === "default" ? { serviceTier: "standard_only" } : {}),
    },
  };
}

/** A strict schema needs the model's own structured output; without it the adapter requests a tool call instead. */
function refuseBody(body: JsonObject, request: ChatRequest): AppError | undefined {
  const format = request.response_format;
  if (format?.type !== "json_schema" || format.json_schema.strict !== true) return undefined;
  if (isObject(body["output_config"]) && isObject(body["output_config"]["format"])) return undefined;
  const reason = "this model, or this schema, does not support strict. Omit strict.";
  return unsupported(label, "response_format.json_schema.strict", reason);
}

async function listModels(settings: AnthropicSettings, read: JsonReader): Promise<ModelDescription[]> {
  const headers = { ...settings.headers, "x-api-key": settings.api_key, "anthropic-version": version };
  const first = `${settings.base_url}/models?limit=1000`;
  const models = await readPages(first, async (url) => {
    const page = await read(url, headers);
    const last = member(page, "has_more") === true ? textMember(page, "last_id") : undefined;
    return {
      items: member(page, "data"),
      next: last === undefined ? undefined : `${first}&after_id=${encodeURIComponent(last)}`,
    };
  });
  return models.map((model) => ({
    id: String(model["id"]),
    created: Math.floor((Date.parse(String(model["created_at"])) || 0) / 1000),
    ownedBy: "anthropic",
  }));
}

export function createAnthropic(settings: AnthropicSettings): Vendor {
  return {
    label,
    secrets: [settings.api_key],
    parameters: {
      frequency_penalty: "no",
      presence_penalty: "no",
      seed: "no",
      temperature: "model",
      top_p: "model",
      top_k: "model",
      reasoning_effort: "model",
      "parallel_tool_calls=false": "yes",
      "response_format=json_object": "no",
      "service_tier=flex": "no",
      user: "yes",
      safety_identifier: "yes",
      metadata: "no",
      prompt_cache_key: "no",
      prediction: "no",
    },
    content: {
      laterSystemMessages: true,
      imageUrl: (url) => url.protocol === "https:" || url.protocol === "http:",
      imageDetail: false,
      audio: false,
      fileType: /^(application\/pdf|text\/plain)$/,
      cacheControl: true,
    },
    defaultMaxTokens: settings.max_tokens,
    reasoningFormat: "anthropic",
    async load() {
      const adapter = await import("@ai-sdk/anthropic");
      const { api_key: apiKey, base_url: baseURL, headers = {} } = settings;
      return (fetch) => adapter.createAnthropic({ apiKey, baseURL, headers, fetch });
    },
    wire: {
      name: "messages",
      baseUrl: settings.base_url,
      headers: [
        "user-agent",
        "sounding",
        "x-api-key",
        settings.api_key,
        ...Object.entries(settings.headers ?? {}).flat(),
      ],
      defaultHeaders: { "anthropic-version": version },
    },
    passThrough: "body",
    providerOptions,
    refuseBody,
    listModels: (read) => listModels(settings, read),
  };
}
