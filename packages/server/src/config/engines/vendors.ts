/** Settings of engines for vendors with their own API: Anthropic, Google, Amazon Bedrock, Mistral and Cohere. */
import { Type, type Static } from "typebox";
import { secret } from "../setting-types.ts";
import { engineTimeouts, upstreamHeaders } from "./upstream.ts";

const baseUrl = (value: string) =>
  Type.String({ pattern: "^https?://", default: value, description: "Address of the API, including the version." });

const shared = {
  headers: Type.Optional(upstreamHeaders),
  models: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      description: "The models to offer. Absent: all models that the vendor lists.",
    }),
  ),
  max_choices: Type.Integer({
    minimum: 1,
    maximum: 128,
    default: 8,
    description: "Largest `n` of a request. The vendor returns one choice per call, so a request makes `n` calls.",
  }),
  max_connections: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
    description: "Maximum number of connections to the vendor; more calls wait.",
  }),
  ...engineTimeouts,
};

const apiKey = secret("Key of the vendor's API.");

export const anthropicEngine = Type.Object(
  {
    type: Type.Literal("anthropic", { description: "Anthropic's Messages API." }),
    api_key: apiKey,
    base_url: baseUrl("https://api.anthropic.com/v1"),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        description:
          "`max_tokens` for requests that do not set it; Anthropic requires one. Absent: the model's maximum, " +
          "or 4096 for an unknown model.",
      }),
    ),
    ...shared,
  },
  { description: "Anthropic's models." },
);
export type AnthropicSettings = Static<typeof anthropicEngine>;

export const googleEngine = Type.Object(
  {
    type: Type.Literal("google", { description: "Google's Gemini API." }),
    api_key: apiKey,
    base_url: baseUrl("https://generativelanguage.googleapis.com/v1beta"),
    ...shared,
  },
  { description: "Google's Gemini and Gemma models." },
);
export type GoogleSettings = Static<typeof googleEngine>;

export const amazonBedrockEngine = Type.Object(
  {
    type: Type.Literal("amazon_bedrock", { description: "Amazon Bedrock's Converse API." }),
    region: Type.String({ pattern: "^[a-z0-9-]+$", description: "AWS region, such as `us-east-1`." }),
    api_key: Type.Optional(secret("Bedrock API key, instead of an access key.")),
    access_key_id: Type.Optional(Type.String({ minLength: 1, description: "AWS access key ID." })),
    secret_access_key: Type.Optional(secret("AWS secret access key.")),
    session_token: Type.Optional(secret("Session token of temporary AWS credentials.")),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://",
        description: "Address of the runtime API. Absent: `https://bedrock-runtime.<region>.amazonaws.com`.",
      }),
    ),
    ...shared,
  },
  { description: "Models on Amazon Bedrock. Set `api_key`, or `access_key_id` and `secret_access_key`." },
);
export type AmazonBedrockSettings = Static<typeof amazonBedrockEngine>;

export const mistralEngine = Type.Object(
  {
    type: Type.Literal("mistral", { description: "Mistral's chat API." }),
    api_key: apiKey,
    base_url: baseUrl("https://api.mistral.ai/v1"),
    ...shared,
  },
  { description: "Mistral's models." },
);
export type MistralSettings = Static<typeof mistralEngine>;

export const cohereEngine = Type.Object(
  {
    type: Type.Literal("cohere", { description: "Cohere's chat API, version 2." }),
    api_key: apiKey,
    base_url: baseUrl("https://api.cohere.com/v2"),
    ...shared,
  },
  { description: "Cohere's models." },
);
export type CohereSettings = Static<typeof cohereEngine>;

export type VendorSettings =
  | AnthropicSettings
  | GoogleSettings
  | AmazonBedrockSettings
  | MistralSettings
  | CohereSettings;
