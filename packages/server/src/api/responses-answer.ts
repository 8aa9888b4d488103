/**
 * The response object of OpenAI's Responses API and the events of a streamed one. Responses are described and tested but
 * never filtered. https://platform.openai.com/docs/api-reference/responses/object
 */
import { Type } from "typebox";
import { costMembers } from "./cost-members.ts";
import { schema } from "./schema.ts";

const open = { additionalProperties: true } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const text = (description: string) => Type.String({ description });
const nullable = (type: ReturnType<typeof Type.Object>, description: string) =>
  Type.Union([type, Type.Null()], { description });

export const responseStatuses = ["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"] as const;

const usage = Type.Object(
  {
    input_tokens: count("Number of prompt tokens, cached ones included."),
    input_tokens_details: Type.Object(
      { cached_tokens: count("Tokens read from the engine's prompt cache.") },
      { ...open, description: "Breakdown of the prompt tokens." },
    ),
    output_tokens: count("Number of generated tokens."),
    output_tokens_details: Type.Object(
      { reasoning_tokens: count("Tokens used for reasoning.") },
      { ...open, description: "Breakdown of the generated tokens." },
    ),
    total_tokens: count("Prompt and generated tokens together."),
    ...costMembers,
  },
  { ...open, description: "Token counts." },
);

const item = Type.Object(
  { type: text("`message`, `function_call`, `custom_tool_call`, `reasoning`, or another type of the upstream.") },
  { ...open, description: "An item; its other members depend on `type`." },
);

const response = Type.Object(
  {
    id: text("Unique identifier of the response."),
    object: Type.Literal("response", { description: "Always `response`." }),
    created_at: Type.Number({ description: "UNIX time of creation, in seconds." }),
    status: Type.Enum([...responseStatuses], { description: "State of the response." }),
    error: nullable(Type.Object({ code: text("Code."), message: text("Message.") }, open), "Why it failed."),
    incomplete_details: nullable(
      Type.Object({ reason: Type.Optional(text("`max_output_tokens` or `content_filter`.")) }, open),
      "Why it is incomplete.",
    ),
    model: text("The model that generated the response."),
    output: Type.Array(item, { description: "What the model generated, in order." }),
    usage: Type.Optional(Type.Union([usage, Type.Null()], { description: "Token counts, once it is complete." })),
  },
  { ...open, description: "A response." },
);

export const ResponseObject = schema(response);

export const ResponseEvent = schema(
  Type.Object(
    {
      type: text("Such as `response.output_text.delta`; the events end with `response.completed` or one like it."),
      sequence_number: count("Number of the event, from 0."),
    },
    { ...open, description: "An event of a streamed response." },
  ),
);

export const ResponseDeleted = schema(
  Type.Object(
    {
      id: text("Identifier of the response."),
      object: Type.Literal("response", { description: "Always `response`." }),
      deleted: Type.Boolean({ description: "Always true." }),
    },
    { description: "A deleted response." },
  ),
);

export const ResponseItems = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(item, { description: "The items." }),
      first_id: Type.Union([Type.String(), Type.Null()], { description: "Identifier of the first item." }),
      last_id: Type.Union([Type.String(), Type.Null()], { description: "Identifier of the last item." }),
      has_more: Type.Boolean({ description: "Whether there are more items after the last one of the list." }),
    },
    { description: "The items that a response was generated from." },
  ),
);

export const ResponseTokenCount = schema(
  Type.Object({ input_tokens: count("Number of prompt tokens.") }, { ...open, description: "The number of tokens." }),
);
