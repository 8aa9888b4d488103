/** Cohere's chat API, version 2. https://docs.cohere.com/reference/chat */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { CohereSettings } from "../../config/engines/vendors.ts";
import type { ModelDescription } from "../engine.ts";
import { cohereOptions, mostCohereInputs } from "./cohere-embeddings.ts";
import { member, readPages, textMember } from "./model-list.ts";
import type { JsonObject } from "../../json-object.ts";
import type { JsonReader, Vendor, VendorEmbeddings } from "./vendor.ts";

const label = "Cohere";

/** The texts of assistant messages that also call tools; the adapter drops them. */
function plansOf(request: ChatRequest): string[] {
  return request.messages
    .filter((message) => message.role === "assistant" && (message.tool_calls?.length ?? 0) > 0)
    .map(({ content }) => {
      if (typeof content === "string") return content;
      return (content ?? []).map((part) => textMember(part, "text") ?? "").join("");
    });
}

function completeBody(body: JsonObject, request: ChatRequest): void {
  const plans = plansOf(request);
  const callers = (body["messages"] as JsonObject[]).filter((message) => message["tool_calls"] !== undefined);
  for (const [index, message] of callers.entries()) {
    if (plans[index] !== undefined && plans[index] !== "") message["tool_plan"] = plans[index];
  }
  if (request.tools?.some((tool) => tool.function.strict === true) === true) body["strict_tools"] = true;
}

/** The plan that precedes tool calls, in an answer (`message`) or in a frame (`delta.message`). */
function readPlan(raw: unknown): string | undefined {
  return textMember(member(raw, "message") ?? member(member(raw, "delta"), "message"), "tool_plan");
}

const embeddings: VendorEmbeddings = {
  mostInputs: () => mostCohereInputs,
  providerOptions: (model, parameters) =>
    ({ cohere: cohereOptions(label, model, parameters) }) as SharedV4ProviderOptions,
};

async function listModels(settings: CohereSettings, read: JsonReader): Promise<ModelDescription[]> {
  const headers = { ...settings.headers, authorization: `Bearer ${settings.api_key}` };
  // The list of models exists in version 1 of the API only.
  const first = `${settings.base_url.replace(/\/v2$/, "/v1")}/models?page_size=1000`;
  const models = await readPages(first, async (url) => {
    const page = await read(url, headers);
    const token = textMember(page, "next_page_token");
    return {
      items: member(page, "models"),
      next: token === undefined ? undefined : `${first}&page_token=${encodeURIComponent(token)}`,
    };
  });
  return models
    .filter(({ endpoints }) => !Array.isArray(endpoints) || endpoints.includes("chat") || endpoints.includes("embed"))
    .map((model) => ({ id: String(model["name"]), created: 0, ownedBy: "cohere" }));
}

export function createCohere(settings: CohereSettings): Vendor {
  return {
    label,
    secrets: [settings.api_key],
    parameters: {
      frequency_penalty: "yes",
      presence_penalty: "yes",
      seed: "yes",
      temperature: "yes",
      top_p: "yes",
      top_k: "yes",
      reasoning_effort: "yes",
      "parallel_tool_calls=false": "no",
      "response_format=json_object": "yes",
      "service_tier=flex": "no",
      user: "no",
      safety_identifier: "no",
      metadata: "no",
      prompt_cache_key: "no",
      prediction: "no",
    },
    content: {
      laterSystemMessages: true,
      imageUrl: (url) => url.protocol === "https:" || url.protocol === "http:",
      imageDetail: true,
      audio: false,
      cacheControl: false,
    },
    async load() {
      const adapter = await import("@ai-sdk/cohere");
      const { api_key: apiKey, base_url: baseURL, headers = {} } = settings;
      return (fetch) => adapter.createCohere({ apiKey, baseURL, headers, fetch });
    },
    passThrough: "body",
    providerOptions: () => ({}),
    completeBody,
    readDroppedText: readPlan,
    embeddings,
    listModels: (read) => listModels(settings, read),
  };
}
