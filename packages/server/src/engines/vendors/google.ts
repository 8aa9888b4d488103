/** Google's Gemini API. https://ai.google.dev/api/generate-content */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { GoogleSettings } from "../../config/engines/vendors.ts";
import type { ModelDescription } from "../engine.ts";
import { member, readPages, textMember } from "./model-list.ts";
import { refuseUnknownParameters } from "./embedding-parameters.ts";
import { effectiveValue } from "./parameter-support.ts";
import type { JsonReader, Vendor, VendorEmbeddings } from "./vendor.ts";

const label = "Google";
const taskTypes = [
  "SEMANTIC_SIMILARITY",
  "CLASSIFICATION",
  "CLUSTERING",
  "RETRIEVAL_DOCUMENT",
  "RETRIEVAL_QUERY",
  "QUESTION_ANSWERING",
  "FACT_VERIFICATION",
  "CODE_RETRIEVAL_QUERY",
];
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

/** https://ai.google.dev/api/embeddings */
const embeddings: VendorEmbeddings = {
  mostInputs: () => 100,
  providerOptions(_model, parameters) {
    refuseUnknownParameters(label, parameters, { taskType: taskTypes });
    return { google: { ...parameters.others, outputDimensionality: parameters.dimensions } };
  },
};

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
      return !Array.isArray(methods) || methods.includes("generateContent") || methods.includes("embedContent");
    })
    .map((model) => ({ id: String(model["name"]).replace(/^models\//, ""), created: 0, ownedBy: "google" }));
}

export function createGoogle(settings: GoogleSettings): Vendor {
  return {
    label,
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
      return (fetch) => adapter.createGoogle({ apiKey, baseURL, headers, fetch });
    },
    passThrough: "body",
    providerOptions,
    embeddings,
    listModels: (read) => listModels(settings, read),
  };
}
