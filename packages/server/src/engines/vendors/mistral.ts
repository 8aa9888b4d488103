/** Mistral's chat API. https://docs.mistral.ai/api/endpoint/chat */
import { hash } from "node:crypto";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { MistralSettings } from "../../config/engines/vendors.ts";
import type { ModelDescription } from "../engine.ts";
import { refuseDimensions, refuseUnknownParameters } from "./embedding-parameters.ts";
import { member } from "./model-list.ts";
import { isEmbeddingName } from "./model-names.ts";
import { effectiveValue } from "./parameter-support.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { JsonReader, Vendor, VendorEmbeddings } from "./vendor.ts";

const label = "Mistral";

function providerOptions(request: ChatRequest): SharedV4ProviderOptions {
  const format = request.response_format;
  const promptCacheKey = effectiveValue(request, "prompt_cache_key") as string | undefined;
  return {
    mistral: {
      ...(request.parallel_tool_calls === false ? { parallelToolCalls: false } : {}),
      ...(format?.type === "json_schema" ? { strictJsonSchema: format.json_schema.strict === true } : {}),
      ...(promptCacheKey === undefined ? {} : { promptCacheKey }),
    },
  };
}

const acceptedCallId = /^[A-Za-z0-9]{9}$/;

/** Mistral accepts only IDs of nine letters and digits; those of other engines are replaced by derived ones. */
function toCallId(id: unknown): unknown {
  if (typeof id !== "string" || acceptedCallId.test(id)) return id;
  return hash("sha256", id, "hex").slice(0, 9);
}

function acceptCallIds(messages: readonly JsonObject[]): void {
  for (const message of messages) {
    if (message["tool_call_id"] !== undefined) message["tool_call_id"] = toCallId(message["tool_call_id"]);
    const calls = message["tool_calls"];
    for (const call of Array.isArray(calls) ? calls.filter(isObject) : []) call["id"] = toCallId(call["id"]);
  }
}

/** Mistral has these under OpenAI's names, the adapter has not. */
function completeBody(body: JsonObject, request: ChatRequest): void {
  acceptCallIds(body["messages"] as JsonObject[]);
  for (const name of ["metadata", "prediction"]) {
    const value = effectiveValue(request, name);
    if (value !== undefined) body[name] = value;
  }
}

/** https://docs.mistral.ai/api/endpoint/embeddings */
const embeddings: VendorEmbeddings = {
  // Of the adapter.
  mostInputs: () => 32,
  providerOptions(model, parameters) {
    refuseUnknownParameters(label, parameters, { metadata: isObject });
    if (!model.includes("codestral-embed")) refuseDimensions(label, parameters, undefined);
    return { mistral: { ...parameters.others, outputDimension: parameters.dimensions } };
  },
};

async function listModels(settings: MistralSettings, read: JsonReader): Promise<ModelDescription[]> {
  const headers = { ...settings.headers, authorization: `Bearer ${settings.api_key}` };
  const list = member(await read(`${settings.base_url}/models`, headers), "data");
  return (Array.isArray(list) ? list : [])
    .filter(isObject)
    .filter(
      (model) => member(model["capabilities"], "completion_chat") !== false || isEmbeddingName(String(model["id"])),
    )
    .map((model) => ({
      id: String(model["id"]),
      created: typeof model["created"] === "number" ? model["created"] : 0,
      ownedBy: typeof model["owned_by"] === "string" ? model["owned_by"] : "mistral",
    }));
}

export function createMistral(settings: MistralSettings): Vendor {
  return {
    label,
    secrets: [settings.api_key],
    parameters: {
      frequency_penalty: "yes",
      presence_penalty: "yes",
      seed: "yes",
      temperature: "yes",
      top_p: "yes",
      top_k: "no",
      reasoning_effort: "model",
      "parallel_tool_calls=false": "yes",
      "response_format=json_object": "yes",
      "service_tier=flex": "no",
      user: "no",
      safety_identifier: "no",
      metadata: "yes",
      prompt_cache_key: "yes",
      prediction: "yes",
    },
    content: {
      laterSystemMessages: true,
      imageUrl: (url) => url.protocol === "https:" || url.protocol === "http:",
      imageDetail: false,
      audio: false,
      fileType: /^application\/pdf$/,
      cacheControl: false,
    },
    async load() {
      const adapter = await import("@ai-sdk/mistral");
      const { api_key: apiKey, base_url: baseURL, headers = {} } = settings;
      return (fetch) => adapter.createMistral({ apiKey, baseURL, headers, fetch });
    },
    passThrough: "body",
    providerOptions,
    completeBody,
    embeddings,
    listModels: (read) => listModels(settings, read),
  };
}
