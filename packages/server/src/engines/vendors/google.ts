/** Google's Gemini API. https://ai.google.dev/api/generate-content */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { GoogleSettings } from "../../config/engines/vendors.ts";
import type { ModelDescription } from "../engine.ts";
import { member, readPages, textMember } from "./model-list.ts";
import { effectiveValue } from "./parameter-support.ts";
import type { JsonReader, Vendor } from "./vendor.ts";

const serviceTiers: Readonly<Record<string, string>> = { default: "standard", flex: "flex" };

function providerOptions(request: ChatRequest): SharedV4ProviderOptions {
  const serviceTier = serviceTiers[request.service_tier ?? ""];
  const reasons = effectiveValue(request, "reasoning_effort");
  return {
    google: {
      ...(serviceTier === undefined ? {} : { serviceTier }),
      // Google returns thoughts only on request; they are requested if the caller requested reasoning.
      ...(reasons === undefined || reasons === "none" ? {} : { thinkingConfig: { includeThoughts: true } }),
    },
  };
}

async function listModels(settings: GoogleSettings, read: JsonReader): Promise<ModelDescription[]> {
  const headers = { ...settings.headers, "x-goog-api-key": settings.api_key };
  const first = `${settings.base_url}/models?pageSize=1000`;
  const models = await readPages(first, async (url) => {
    const page = await read(url, headers);
    const token = textMember(page, "nextPageToken");
    return {
      items: member(page, "models"),
      next: token === undefined ? undefined : `${first}&pageToken=${encodeURIComponent(token)}`,
    };
  });
  return models
    .filter((model) => {
      const methods = model["supportedGenerationMethods"];
      return !Array.isArray(methods) || methods.includes("generateContent");
    })
    .map((model) => ({ id: String(model["name"]).replace(/^models\//, ""), created: 0, ownedBy: "google" }));
}

export function createGoogle(settings: GoogleSettings): Vendor {
  return {
    label: "Google",
    secrets: [settings.api_key],
    parameters: {
      frequency_penalty: "model",
      presence_penalty: "model",
      seed: "yes",
      temperature: "yes",
      top_p: "yes",
      top_k: "yes",
      reasoning_effort: "model",
      "parallel_tool_calls=false": "no",
      "response_format=json_object": "yes",
      "service_tier=flex": "yes",
      user: "no",
      safety_identifier: "no",
      metadata: "no",
      prompt_cache_key: "no",
      prediction: "no",
    },
    content: {
      laterSystemMessages: false,
      imageUrl: () => false,
      imageDetail: false,
      audio: true,
      fileType: /^[\w.+-]+\/[\w.+-]+$/,
      cacheControl: false,
    },
    async load() {
      const adapter = await import("@ai-sdk/google");
      const { api_key: apiKey, base_url: baseURL, headers = {} } = settings;
      return (model, fetch) => adapter.createGoogle({ apiKey, baseURL, headers, fetch })(model);
    },
    passThrough: "body",
    providerOptions,
    listModels: (read) => listModels(settings, read),
  };
}
