/** The operation that embeds texts. https://platform.openai.com/docs/api-reference/embeddings */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { costMembers } from "./cost-members.ts";
import { operation } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";
import { tokenList } from "./texts-or-tokens.ts";

const mostInputs = inputLimit({
  area: "Embeddings",
  bounds: "Inputs of a request",
  value: 2_048,
  error: "invalid_request",
});

const tokens = tokenList("A text as tokens of the model.");
const listSize = { minItems: 1, maxItems: mostInputs };

export const EmbeddingRequest = schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
      input: Type.Union(
        [
          Type.String({ minLength: 1, description: "A text." }),
          Type.Array(Type.String({ minLength: 1, description: "A text." }), { ...listSize, description: "Texts." }),
          tokens,
          Type.Array(tokens, { ...listSize, description: "Texts as tokens." }),
        ],
        { description: "What to embed: a text, up to 2,048 texts, or the same as tokens of the model." },
      ),
      dimensions: optional(
        Type.Integer({ minimum: 1, maximum: 65_536 }),
        "Length of the vectors, for models that can shorten them.",
      ),
      encoding_format: optional(
        Type.Enum(["float", "base64"]),
        "`float` (the default): numbers; `base64`: 32-bit floats, little-endian, in base64.",
      ),
      user: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user."),
    },
    {
      additionalProperties: true,
      description:
        "A request for embeddings. Fields that are not described here are passed to OpenAI-compatible engines; others take those that they know and refuse the rest.",
    },
  ),
);
export type EmbeddingRequest = TypeOf<typeof EmbeddingRequest>;

const usage = Type.Object(
  {
    prompt_tokens: Type.Integer({ minimum: 0, description: "Number of tokens; an estimate if the engine tells none." }),
    total_tokens: Type.Integer({ minimum: 0, description: "The same number." }),
    ...costMembers,
  },
  { description: "Token counts." },
);

export const EmbeddingList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(
        Type.Object(
          {
            object: Type.Literal("embedding", { description: "Always `embedding`." }),
            index: Type.Integer({ minimum: 0, description: "Index of the input." }),
            embedding: Type.Union([
              Type.Array(Type.Number({ description: "A component." }), { description: "The vector." }),
              Type.String({ description: "The vector in base64." }),
            ]),
          },
          { description: "The vector of an input." },
        ),
        { description: "The vectors, in the order of the inputs." },
      ),
      model: Type.String({ description: "The model that made the vectors." }),
      usage,
    },
    { description: "Vectors of texts." },
  ),
);
export type EmbeddingList = TypeOf<typeof EmbeddingList>;

export const createEmbeddings = operation({
  id: "createEmbeddings",
  method: "POST",
  path: "/v1/embeddings",
  tag: "Embeddings",
  summary: "Turn texts into vectors",
  description:
    "OpenAI's embeddings. Long lists are sent to the engine in pieces, and the vectors are returned in the order of the inputs.",
  permission: "inference",
  body: EmbeddingRequest,
  answer: { type: "application/json", schema: EmbeddingList, description: "The vectors." },
});
