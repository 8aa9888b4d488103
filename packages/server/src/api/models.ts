/** The operations that list models. https://platform.openai.com/docs/api-reference/models */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

export const capabilities = ["chat", "speech", "transcription", "embeddings"] as const;
export type Capability = (typeof capabilities)[number];

export const modelStates = ["ready", "not_loaded", "unavailable"] as const;
export type ModelState = (typeof modelStates)[number];

const modelObject = Type.Object(
  {
    id: Type.String({ description: "Model ID, to be sent as `model`." }),
    object: Type.Literal("model", { description: "Always `model`." }),
    created: Type.Integer({ description: "UNIX time of creation, seconds; 0 when unknown." }),
    owned_by: Type.String({ description: "The model's owner, or the engine that runs it." }),
    root: Type.String({ description: "For an alias, the model behind it; otherwise the model's own ID." }),
    parent: Type.Union([Type.String(), Type.Null()], {
      description: "The model that this one was derived from; null when unknown.",
    }),
    permission: Type.Array(Type.Unknown(), { description: "Always empty; kept for older clients." }),
    capabilities: Type.Array(Type.Enum([...capabilities]), {
      description:
        "What the model is for. OpenAI-compatible servers do not report it: then the setting `capabilities` of the engine says it, else the model's name.",
    }),
    engine: Type.String({ description: "The engine that runs the model; of several, the first." }),
    state: Type.Enum([...modelStates], {
      description:
        "`ready`; `not_loaded` for a model of this machine that its next call loads into memory; `unavailable` if its latest calls failed.",
    }),
    state_reason: Type.Union([Type.String(), Type.Null()], {
      description: "Why the model is unavailable; otherwise null.",
    }),
  },
  { description: "A model." },
);

export const ModelObject = schema(modelObject);
export type ModelObject = TypeOf<typeof ModelObject>;

export const ModelList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(modelObject, { description: "The models: chat models first, each group sorted by ID." }),
    },
    { description: "Models." },
  ),
);

export const listModels = operation({
  id: "listModels",
  method: "GET",
  path: "/v1/models",
  tag: "Models",
  summary: "List the models that the key's organization may call",
  description:
    "In OpenAI's form. Clients that send the header `anthropic-version` get the chat models in Anthropic's form, in pages of `limit` models after `after_id` or before `before_id`.",
  permission: "models_read",
  queryParameters: {
    capability:
      "Only models with this capability (`chat`, `speech`, `transcription` or `embeddings`); models without other capabilities come first.",
    limit: "Models of one page, 1 to 1000, in Anthropic's form.",
    after_id: "The page begins after this model, in Anthropic's form.",
    before_id: "The page ends before this model, in Anthropic's form.",
  },
  answer: { type: "application/json", schema: ModelList, description: "The models." },
});

export const getModel = operation({
  id: "getModel",
  method: "GET",
  path: "/v1/models/{+id}",
  tag: "Models",
  summary: "Describe one model",
  description: "In OpenAI's form; in Anthropic's for clients that send the header `anthropic-version`.",
  permission: "models_read",
  pathParameters: { id: "Model ID; slashes may be sent as they are or as `%2F`." },
  answer: { type: "application/json", schema: ModelObject, description: "The model." },
});
