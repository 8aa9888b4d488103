/** Settings of the engines that speak OpenAI's chat completions API, and of Azure OpenAI. */
import { Type, type Static } from "typebox";
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
    Type.Array(Type.String({ minLength: 1, maxLength: 512, description: "A model's name at the engine." }), {
      maxItems: 10_000,
      description: "The models to offer. Absent: those that the engine lists.",
    }),
  ),
  unsupported_parameters: Type.Array(
    Type.String({ minLength: 1, description: "A parameter of chat completions, such as `logit_bias`." }),
    {
      maxItems: 1_000,
      default: [],
      description:
        "Parameters that the engine would drop silently; a request that sets one is refused with `unsupported_parameter`.",
    },
  ),
  transcription_forms: Type.Record(
    Type.String({ minLength: 1 }),
    Type.Enum([...transcriptionForms], { description: "What the model is asked for." }),
    {
      default: {},
      description:
        "Response formats by the names of models that transcribe: `verbose_json` has times, `json` only text but streams, `diarized_json` has speakers. Without an entry the name decides: `…-transcribe-diarize` has speakers, `…-transcribe` and Voxtral only text, others times.",
    },
  ),
  stream_usage: Type.Boolean({
    default: true,
    description:
      "Ask for the token counts of every stream (`stream_options.include_usage`). Turn off for an engine that rejects it.",
  }),
  max_connections: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1_024,
    description: "Connections to the engine, which is calls in flight; a further call waits.",
  }),
  max_queued: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 1_024,
    description: "Calls that wait for a connection; a further one is a 503.",
    ...limitsInput("Chat completions", "overloaded"),
  }),
  queue_timeout_ms: milliseconds(30_000, "Longest wait of such a call; then a 503."),
  max_answer_bytes: bytes(33_554_432, "Largest batch answer; more is a 502."),
  max_event_bytes: bytes(8_388_608, "Largest event of a streamed answer; more is a 502."),
  ...engineTimeouts,
};

export const openAiCompatibleEngine = Type.Object(
  {
    type: Type.Literal("openai_compatible", {
      description: "Any API like OpenAI's: vLLM, llama.cpp's server, Ollama, OpenAI, OpenRouter, …",
    }),
    base_url: address("Address of the API, version included", "http://127.0.0.1:8000/v1"),
    api_key: Type.Optional(
      secret("Key of the API, sent as `Authorization: Bearer`. Absent: none is sent.", { pattern: sendableKey }),
    ),
    organization: Type.Optional(headerValue("OpenAI organization that calls are counted to.")),
    project: Type.Optional(headerValue("OpenAI project that calls are counted to.")),
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
          "Version of the API, such as `2024-10-21`; models are then deployments in the path. Absent: Azure's v1 API, which has no versions.",
      }),
    ),
    deployments: Type.Record(
      Type.String({ minLength: 1 }),
      Type.String({ minLength: 1, maxLength: 512, description: "The deployment's name." }),
      {
        default: {},
        description: "Deployments by model name. A model that is not here is the deployment of the same name.",
      },
    ),
    ...atAnyEngine,
  },
  { description: "Models deployed on Azure OpenAI." },
);
export type AzureOpenAiSettings = Static<typeof azureOpenAiEngine>;
