/** The operation that classifies content. https://platform.openai.com/docs/api-reference/moderations */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { operation } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

const open = { additionalProperties: true } as const;

const mostInputs = inputLimit({
  area: "Chat completions",
  bounds: "Inputs of a request to `/v1/moderations`",
  value: 2_048,
  error: "invalid_request",
});

export const ModerationRequest = schema(
  Type.Object(
    {
      input: Type.Union(
        [
          Type.String({ minLength: 1, description: "A text." }),
          Type.Array(
            Type.Union([
              Type.String({ minLength: 1, description: "A text." }),
              Type.Object(
                { type: Type.String({ description: "`text` or `image_url`." }) },
                { ...open, description: "A part of one input of several kinds." },
              ),
            ]),
            { minItems: 1, maxItems: mostInputs, description: "Texts, or parts of one input." },
          ),
        ],
        { description: "What to classify." },
      ),
      model: optional(
        Type.String({ minLength: 1, maxLength: 512 }),
        "Name of a guardrail of type `moderation`, or its model. Absent: the first one that applies to the caller.",
      ),
    },
    { description: "A request to classify content." },
  ),
);
export type ModerationRequest = TypeOf<typeof ModerationRequest>;

export const ModerationAnswer = schema(
  Type.Object(
    {
      id: Type.String({ description: "Identifier of the answer." }),
      model: Type.String({ description: "The model that classified." }),
      results: Type.Array(
        Type.Object(
          {
            flagged: Type.Boolean({ description: "Whether any category is flagged." }),
            categories: Type.Optional(
              Type.Object({}, { ...open, description: "Whether each category is flagged, by its name." }),
            ),
            category_scores: Type.Optional(Type.Object({}, { ...open, description: "Scores by category, 0 to 1." })),
          },
          { ...open, description: "The result of one input." },
        ),
        { description: "One result for each input." },
      ),
    },
    { ...open, description: "Classified content." },
  ),
);

export const createModeration = operation({
  id: "createModeration",
  method: "POST",
  path: "/v1/moderations",
  tag: "Chat",
  summary: "Classify content with a configured moderation endpoint",
  description:
    "OpenAI's moderations. They are answered by the endpoint of a guardrail of type `moderation` that applies to the caller's organization and project.",
  permission: "inference",
  body: ModerationRequest,
  answer: { type: "application/json", schema: ModerationAnswer, description: "The results." },
});
