/**
 * Amazon Bedrock's Converse API.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { AmazonBedrockSettings } from "../../config/engines/vendors.ts";
import { AppError } from "../../errors.ts";
import { bedrockEmbeddings } from "./bedrock-embeddings.ts";
import { effectiveValue, unsupported } from "./parameter-support.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { ProviderFactory, Vendor } from "./vendor.ts";

const label = "Amazon Bedrock";

function providerOptions(request: ChatRequest, passThrough: JsonObject): SharedV4ProviderOptions {
  const { user, service_tier: serviceTier } = request;
  const metadata = {
    ...(effectiveValue(request, "metadata") as JsonObject | undefined),
    ...(typeof user === "string" ? { user } : {}),
  };
  return {
    amazonBedrock: {
      ...(serviceTier === "flex" || serviceTier === "default" ? { serviceTier } : {}),
      ...(Object.keys(metadata).length === 0 ? {} : { requestMetadata: metadata }),
      ...(Object.keys(passThrough).length === 0 ? {} : { additionalModelRequestFields: passThrough }),
    },
    ...(request.parallel_tool_calls === false ? { anthropic: { disableParallelToolUse: true } } : {}),
  } as SharedV4ProviderOptions;
}

/** Whether the adapter requests JSON through an additional tool that the model must call. */
function asksByTool(body: JsonObject, request: ChatRequest): boolean {
  const tools = isObject(body["toolConfig"]) ? body["toolConfig"]["tools"] : [];
  return Array.isArray(tools) && tools.length > (request.tools?.length ?? 0);
}

function refuseFormat(body: JsonObject, request: ChatRequest): AppError | undefined {
  const format = request.response_format;
  if (format?.type !== "json_schema") return undefined;
  const additional = body["additionalModelRequestFields"];
  const native = isObject(additional) && isObject(additional["output_config"]);
  if (format.json_schema.strict === true && !native) {
    const reason = "this model does not support strict. Omit strict.";
    return unsupported(label, "response_format.json_schema.strict", reason);
  }
  const choice = request.tool_choice;
  if (choice !== undefined && choice !== null && choice !== "auto" && asksByTool(body, request)) {
    return unsupported(label, "tool_choice", "with this model, response_format requires tool_choice auto.");
  }
  return undefined;
}

function refuseBody(body: JsonObject, request: ChatRequest, model: string): AppError | undefined {
  if (request.parallel_tool_calls === false && (request.tools?.length ?? 0) > 0 && !model.includes("anthropic.")) {
    return unsupported(label, "parallel_tool_calls", "only Anthropic's models support this.");
  }
  return refuseFormat(body, request);
}

/** Bedrock accepts earlier tool calls only together with the tools. */
function checkTools(request: ChatRequest): void {
  const called = request.messages.some((message) => message.role === "tool" || (message.tool_calls?.length ?? 0) > 0);
  const given = (request.tools?.length ?? 0) > 0;
  if (called && (!given || request.tool_choice === "none")) {
    const param = given ? "tool_choice" : "tools";
    throw unsupported(label, param, "messages with tool calls require the tools in the same request.");
  }
}

async function load(settings: AmazonBedrockSettings): Promise<ProviderFactory> {
  const adapter = await import("@ai-sdk/amazon-bedrock");
  const { region, headers = {} } = settings;
  const options = {
    region,
    headers,
    baseURL: settings.base_url ?? `https://bedrock-runtime.${region}.amazonaws.com`,
    // An empty key keeps the adapter from looking for one in the environment.
    apiKey: settings.api_key ?? "",
    ...(settings.access_key_id === undefined ? {} : { accessKeyId: settings.access_key_id }),
    ...(settings.secret_access_key === undefined ? {} : { secretAccessKey: settings.secret_access_key }),
    ...(settings.session_token === undefined ? {} : { sessionToken: settings.session_token }),
  };
  return (fetch) => adapter.createAmazonBedrock({ ...options, fetch });
}

function checkCredentials(settings: AmazonBedrockSettings): void {
  const { api_key: key, access_key_id: id, secret_access_key: secretKey } = settings;
  if (key !== undefined || (id !== undefined && secretKey !== undefined)) return;
  const text = `An engine of type amazon_bedrock needs api_key, or access_key_id and secret_access_key.`;
  throw new AppError("invalid_request", text, { param: id === undefined ? "access_key_id" : "secret_access_key" });
}

export function createAmazonBedrock(settings: AmazonBedrockSettings): Vendor {
  checkCredentials(settings);
  const { api_key: key, secret_access_key: secretKey, session_token: token } = settings;
  return {
    label,
    secrets: [key, secretKey, token].filter((each) => each !== undefined),
    parameters: {
      frequency_penalty: "no",
      presence_penalty: "no",
      seed: "no",
      temperature: "model",
      top_p: "model",
      top_k: "model",
      reasoning_effort: "model",
      "parallel_tool_calls=false": "model",
      "response_format=json_object": "no",
      "service_tier=flex": "yes",
      user: "yes",
      safety_identifier: "no",
      metadata: "yes",
      prompt_cache_key: "no",
      prediction: "no",
    },
    content: {
      laterSystemMessages: false,
      imageUrl: () => false,
      imageDetail: false,
      audio: false,
      fileType: /^(application\/(pdf|msword|vnd\.[\w.-]+)|text\/(plain|csv|html|markdown))$/,
      cacheControl: false,
    },
    reasoningFormat: "amazon_bedrock",
    load: () => load(settings),
    passThrough: "provider options",
    providerOptions(request, passThrough) {
      checkTools(request);
      return providerOptions(request, passThrough);
    },
    refuseBody,
    embeddings: bedrockEmbeddings(label),
  };
}
