/**
 * The request of OpenAI's Responses API. Known members are checked; all others pass, so that an upstream which speaks the
 * API gets what is newer than this file. https://platform.openai.com/docs/api-reference/responses/create
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

const text = (description: string) => Type.String({ description });
const open = { additionalProperties: true } as const;
const openObject = (description: string) => Type.Object({}, { ...open, description });

const item = Type.Object(
  {
    type: Type.Optional(
      text(
        "`message` (the default), `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, `item_reference`, or another type of the upstream.",
      ),
    ),
  },
  { ...open, description: "An item of the conversation; its other members depend on `type`." },
);

const tool = Type.Object(
  {
    type: text("`function`, `custom`, or a tool of the vendor, such as `web_search`."),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "Name of the tool." })),
    description: optional(Type.String(), "Description of the tool, for the model."),
    parameters: optional(openObject("A schema."), "JSON Schema of the arguments of a function."),
    strict: optional(Type.Boolean(), "Whether the arguments must match the schema exactly."),
  },
  { ...open, description: "A tool that the model may call." },
);

const toolChoice = Type.Union(
  [
    Type.Enum(["none", "auto", "required"], { description: "No tool, the model's choice, or at least one tool." }),
    Type.Object({ type: text("`function`, `custom` or `allowed_tools`.") }, { ...open, description: "Certain tools." }),
  ],
  { description: "Which tool the model calls." },
);

const format = Type.Object(
  {
    type: Type.Enum(["text", "json_object", "json_schema"], {
      description: "Free text, any JSON object, or JSON that matches `schema`.",
    }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "Name of the schema." })),
    schema: Type.Optional(openObject("The JSON Schema.")),
    strict: optional(Type.Boolean(), "Whether the response must match the schema exactly."),
    description: optional(Type.String(), "Description of the format, for the model."),
  },
  { ...open, description: "Format of the response." },
);

/** What counting tokens and compacting take as well. */
const prompt = {
  model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
  input: optional(
    Type.Union([
      Type.String({ description: "A message of the user." }),
      Type.Array(item, { maxItems: 100_000, description: "Items in order." }),
    ]),
    "The conversation so far, or what is new after `previous_response_id`.",
  ),
  instructions: optional(Type.String(), "Instructions for the model, for this response only."),
  previous_response_id: optional(
    Type.String({ minLength: 1, maxLength: 512 }),
    "A stored response of the project that this one continues.",
  ),
  tools: optional(Type.Array(tool, { maxItems: 1024 }), "Tools that the model may call."),
  tool_choice: optional(toolChoice, "Which tool the model calls."),
  parallel_tool_calls: optional(Type.Boolean(), "Whether the model may call several tools in one response."),
  reasoning: optional(
    Type.Object({ effort: optional(Type.String(), "How much effort to spend, such as `low`.") }, { ...open }),
    "How the model reasons.",
  ),
  text: optional(
    Type.Object(
      {
        format: optional(format, "Format of the response."),
        verbosity: optional(Type.String(), "`low`, `medium` or `high`."),
      },
      { ...open },
    ),
    "The text of the response.",
  ),
  truncation: optional(Type.String(), "`disabled` (the default) or `auto`, where the upstream has it."),
  conversation: optional(
    Type.Union([Type.String(), openObject("The conversation.")]),
    "Not supported: use `previous_response_id`.",
  ),
};

export const ResponseRequest = schema(
  Type.Object(
    {
      ...prompt,
      background: optional(
        Type.Boolean(),
        "Whether to answer at once and to generate the response in the background. It must be stored.",
      ),
      include: optional(
        Type.Array(Type.String({ description: "Such as `reasoning.encrypted_content`." }), { maxItems: 64 }),
        "What the response should contain in addition.",
      ),
      max_output_tokens: optional(
        Type.Integer({ minimum: 1 }),
        "Maximum number of tokens to generate, including reasoning.",
      ),
      max_tool_calls: optional(Type.Integer({ minimum: 1 }), "Most calls of the vendor's own tools."),
      metadata: optional(openObject("Pairs of names and texts."), "About the request, returned with the response."),
      prompt_cache_key: optional(Type.String(), "Requests with the same key share the vendor's cache of prompts."),
      safety_identifier: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user."),
      service_tier: optional(Type.String({ maxLength: 64 }), "Processing tier."),
      store: optional(Type.Boolean(), "Whether to keep the response for `previous_response_id` (the default)."),
      stream: optional(Type.Boolean(), "Whether to stream the response as server-sent events."),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature, 0 to 2."),
      top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 }), "Number of alternatives per token."),
      top_p: optional(Type.Number({ minimum: 0, maximum: 1 }), "Sample only from tokens within this probability mass."),
      user: optional(Type.String({ maxLength: 4096 }), "Deprecated form of `safety_identifier`."),
    },
    { ...open, description: "A request of the Responses API." },
  ),
);
export type ResponseRequest = TypeOf<typeof ResponseRequest>;
export type ResponseTool = NonNullable<ResponseRequest["tools"]>[number];

export const ResponsePrompt = schema(
  Type.Object(prompt, { ...open, description: "A request whose tokens to count, or whose conversation to compact." }),
);
export type ResponsePrompt = TypeOf<typeof ResponsePrompt>;
