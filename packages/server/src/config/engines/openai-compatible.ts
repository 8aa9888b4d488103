/** Settings of engines with an OpenAI-compatible API, and of Azure OpenAI. */
import { Type, type Static } from "typebox";
import { capabilities } from "../../api/models.ts";
import { limitsInput } from "../../input-limits.ts";
import { httpUrl, sendableKey, bytes, milliseconds, secret } from "../setting-types.ts";
import { engineTimeouts, upstreamHeaders } from "./upstream.ts";

const address = (description: string, example: string) =>
  Type.String({
    pattern: httpUrl,
    description: `${description}, such as \`${example}\`.`,
  });

const headerValue = (description: string) => Type.String({ minLength: 1, pattern: "^[\\x20-\\x7e]*$", description });

export const transcriptionForms = ["verbose_json", "json", "diarized_json"] as const;
export type TranscriptionForm = (typeof transcriptionForms)[number];

const atAnyEngine = {
  headers: upstreamHeaders,
  models: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 512, description: "Name of a model at the engine." }), {
      maxItems: 10_000,
      description: "The models to offer. Absent: all models that the engine lists.",
    }),
  ),
  unsupported_parameters: Type.Array(
    Type.String({ minLength: 1, description: "A parameter of chat completions, such as `logit_bias`." }),
    {
      maxItems: 1_000,
      default: [],
      description:
        "Parameters that the engine would ignore silently. A request that sets one is refused with `unsupported_parameter`.",
    },
  ),
  transcription_forms: Type.Record(
    Type.String({ minLength: 1 }),
    Type.Enum([...transcriptionForms], { description: "The response format to request." }),
    {
      default: {},
      description:
        "Response format to request for each transcription model: `verbose_json` has times; `json` has only text, but can be streamed; `diarized_json` has speakers. For other models the name decides: `…-transcribe-diarize` uses `diarized_json`, `…-transcribe` and Voxtral use `json`, all others `verbose_json`.",
    },
  ),
  stream_usage: Type.Boolean({
    default: true,
    description:
      "Request token counts for every stream (`stream_options.include_usage`). Turn this off for an engine that rejects it.",
  }),
  capabilities: Type.Record(
    Type.String({ minLength: 1, maxLength: 512 }),
    Type.Array(Type.Enum([...capabilities], { description: "A capability." }), {
      uniqueItems: true,
      maxItems: capabilities.length,
      description: "What the model is for.",
    }),
    {
      default: {},
      description:
        "What models are listed for, by the model's name at the engine. For other models the name decides: names like `text-embedding-3-small` embed, `whisper-1` and `…-transcribe` transcribe, `tts-1` speak, all others chat. Calls of any kind reach a model that the list shows for another one.",
    },
  ),
  wires: Type.Optional(
    Type.Array(Type.Enum(["responses", "messages"], { description: "OpenAI's Responses or Anthropic's Messages." }), {
      maxItems: 2,
      uniqueItems: true,
      description:
        "APIs besides chat completions that the engine serves for all its models. Their calls are passed through as they are; calls of other APIs are translated to chat completions. Absent: `[responses]` for OpenAI and for Azure without `api_version`, else none.",
    }),
  ),
  max_connections: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1_024,
    description: "Maximum number of connections to the engine, and therefore of calls in flight; more calls wait.",
  }),
  max_queued: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 1_024,
    description: "Maximum number of calls that wait for a connection; more fail with 503.",
    ...limitsInput("Chat completions", "overloaded"),
  }),
  queue_timeout_ms: milliseconds(30_000, "Longest wait for a connection; then the call fails with 503."),
  max_answer_bytes: bytes(33_554_432, "Largest batch response; a larger one is a 502."),
  max_event_bytes: bytes(8_388_608, "Largest event of a streamed response; a larger one is a 502."),
  ...engineTimeouts,
};

export const openAiCompatibleEngine = Type.Object(
  {
    type: Type.Literal("openai_compatible", {
      description: "Any OpenAI-compatible API: vLLM, llama.cpp's server, Ollama, OpenAI, OpenRouter, …",
    }),
    base_url: address("Address of the API, including the version", "http://127.0.0.1:8000/v1"),
    api_key: Type.Optional(
      secret("Key of the API, sent as `Authorization: Bearer`. Absent: none is sent.", { pattern: sendableKey }),
    ),
    organization: Type.Optional(headerValue("OpenAI organization that the calls belong to.")),
    project: Type.Optional(headerValue("OpenAI project that the calls belong to.")),
    ...atAnyEngine,
  },
  { description: "Models behind an OpenAI-compatible API." },
);
export type OpenAiCompatibleSettings = Static<typeof openAiCompatibleEngine>;

export const azureOpenAiEngine = Type.Object(
  {
    type: Type.Literal("azure_openai", { description: "Azure OpenAI." }),
    base_url: address("Address of the Azure OpenAI resource", "https://example.openai.azure.com"),
    api_key: secret("Key of the resource, sent as `api-key`.", { pattern: sendableKey }),
    api_version: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9.-]+$",
        description:
          "API version, such as `2024-10-21`; each model is then a deployment in the path. Absent: Azure's v1 API, which has no version parameter.",
      }),
    ),
    deployments: Type.Record(
      Type.String({ minLength: 1 }),
      Type.String({ minLength: 1, maxLength: 512, description: "The deployment's name." }),
      {
        default: {},
        description: "Deployment of each model. A model that is not listed uses the deployment of the same name.",
      },
    ),
    ...atAnyEngine,
  },
  { description: "Models deployed on Azure OpenAI." },
);
export type AzureOpenAiSettings = Static<typeof azureOpenAiEngine>;
