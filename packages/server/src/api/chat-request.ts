/**
 * The chat completion request: OpenAI's object of today and the parameters of the interface. Fields that are not
 * named here pass through to the engine. https://platform.openai.com/docs/api-reference/chat/create
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

const text = (description: string) => Type.String({ description });

const contentPart = Type.Object(
  { type: text("Kind of part: `text`, `image_url`, `input_audio`, `file` or `refusal`.") },
  { additionalProperties: true, description: "One part of a message's content; the other members depend on `type`." },
);

const toolCall = Type.Object(
  {
    id: text("Identifier that the tool's answer refers to."),
    type: Type.Optional(Type.Literal("function", { description: "Only functions are supported." })),
    function: Type.Object(
      { name: text("Name of the function."), arguments: text("Arguments as JSON text.") },
      { description: "The call that the model made." },
    ),
  },
  { additionalProperties: true, description: "A tool call of an earlier answer." },
);

const message = Type.Object(
  {
    role: Type.Enum(["developer", "system", "user", "assistant", "tool", "function"], { description: "Who speaks." }),
    content: optional(
      Type.Union([
        Type.String({ description: "The text." }),
        Type.Array(contentPart, { description: "Text, images and audio in order.", maxItems: 2048 }),
      ]),
      "What is said. Null or absent only for an assistant message that has tool calls.",
    ),
    name: Type.Optional(text("Name of the participant, to tell participants of one role apart.")),
    tool_calls: optional(Type.Array(toolCall, { maxItems: 1024 }), "Tool calls of an assistant message."),
    tool_call_id: Type.Optional(text("The tool call that a message of role `tool` answers.")),
  },
  { additionalProperties: true, description: "One message of the conversation." },
);

const tool = Type.Object(
  {
    type: Type.Literal("function", { description: "Only functions are supported." }),
    function: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 64, description: "Name of the function." }),
        description: Type.Optional(text("What the function does, for the model.")),
        parameters: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: "JSON Schema of the arguments." }),
        ),
        strict: optional(Type.Boolean(), "Whether the arguments must follow the schema exactly."),
      },
      { additionalProperties: true, description: "The function." },
    ),
  },
  { additionalProperties: true, description: "A tool that the model may call." },
);

const responseFormat = Type.Union(
  [
    Type.Object(
      { type: Type.Literal("text", { description: "Free text, the default." }) },
      { additionalProperties: true },
    ),
    Type.Object(
      { type: Type.Literal("json_object", { description: "Any JSON object." }) },
      { additionalProperties: true },
    ),
    Type.Object(
      {
        type: Type.Literal("json_schema", { description: "JSON that follows a schema." }),
        json_schema: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 64, description: "Name of the schema." }),
            description: Type.Optional(text("What the answer is for, for the model.")),
            schema: Type.Optional(Type.Object({}, { additionalProperties: true, description: "The JSON Schema." })),
            strict: optional(Type.Boolean(), "Whether the answer must follow the schema exactly."),
          },
          { additionalProperties: true, description: "The schema and its name." },
        ),
      },
      { additionalProperties: true },
    ),
  ],
  { description: "Form of the answer: free text, any JSON object, or JSON that follows a schema." },
);

const toolChoice = Type.Union(
  [
    Type.Enum(["none", "auto", "required"], { description: "No tool, the model's choice, or at least one tool." }),
    Type.Object(
      {
        type: Type.Literal("function", { description: "Only functions are supported." }),
        function: Type.Object({ name: text("The function that must be called.") }, { description: "Which function." }),
      },
      { additionalProperties: true },
    ),
  ],
  { description: "Which tool the model calls: `none`, `auto`, `required`, or one function by name." },
);

const stopSequence = Type.String({ description: "A sequence at which the answer ends." });

export const serviceTiers = ["auto", "default", "flex"] as const;

const members = {
  messages: Type.Array(message, { minItems: 1, maxItems: 100_000, description: "The conversation so far." }),
  model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
  audio: optional(
    Type.Object({}, { additionalProperties: true }),
    "Parameters of audio output, for models that speak.",
  ),
  frequency_penalty: optional(
    Type.Number({ minimum: -2, maximum: 2 }),
    "Penalty on tokens by how often they occurred, -2 to 2.",
  ),
  function_call: optional(
    Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })]),
    "Deprecated form of `tool_choice`.",
  ),
  functions: optional(
    Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: 1024 }),
    "Deprecated form of `tools`.",
  ),
  logit_bias: optional(
    Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 })),
    "Bias per token ID, -100 to 100.",
  ),
  logprobs: optional(Type.Boolean(), "Whether the log probabilities of the answer's tokens are returned."),
  max_completion_tokens: optional(
    Type.Integer({ minimum: 1 }),
    "Most tokens that the answer may have, reasoning included.",
  ),
  max_tokens: optional(Type.Integer({ minimum: 1 }), "Older name of `max_completion_tokens`."),
  modality: optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }),
    "Output types; the interface's name of `modalities`.",
  ),
  modalities: optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }),
    "Output types, such as `text` and `audio`.",
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: 128 }), "How many choices to generate, 1 to 128."),
  parallel_tool_calls: optional(Type.Boolean(), "Whether the model may call several tools at once."),
  presence_penalty: optional(
    Type.Number({ minimum: -2, maximum: 2 }),
    "Penalty on tokens that occurred at all, -2 to 2.",
  ),
  prompt_logprobs: optional(
    Type.Integer({ minimum: 0, maximum: 20 }),
    "Log probabilities of the prompt's tokens with this many alternatives each, as vLLM has it.",
  ),
  response_format: optional(responseFormat, "Form of the answer."),
  seed: optional(
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    "Same seed and parameters: same answer, as far as the engine can.",
  ),
  service_tier: optional(Type.Enum([...serviceTiers]), "Processing tier: `auto`, `default` or `flex`."),
  stop: optional(
    Type.Union([stopSequence, Type.Array(stopSequence, { maxItems: 4, description: "Up to four sequences." })]),
    "Up to 4 sequences at which the answer ends.",
  ),
  store: optional(Type.Boolean(), "Whether the vendor may store the answer."),
  stream: optional(Type.Boolean(), "Whether the answer comes as server-sent events."),
  stream_options: optional(
    Type.Object(
      { include_usage: optional(Type.Boolean(), "Whether a last chunk carries the usage.") },
      { additionalProperties: true },
    ),
    "Options of a streamed answer; only with `stream`.",
  ),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature, 0 to 2."),
  tool_choice: optional(toolChoice, "Which tool the model calls."),
  tools: optional(Type.Array(tool, { maxItems: 1024 }), "Functions that the model may call."),
  top_logprobs: optional(
    Type.Integer({ minimum: 0, maximum: 20 }),
    "Alternatives per token with their log probabilities, 0 to 20; needs `logprobs`.",
  ),
  top_p: optional(
    Type.Number({ minimum: 0, maximum: 1 }),
    "Nucleus sampling: only tokens within this probability mass, 0 to 1.",
  ),
  user: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user."),
  web_search_options: optional(Type.Object({}, { additionalProperties: true }), "Options of the vendor's web search."),
  organization_id: optional(
    Type.String({ maxLength: 256 }),
    "The key's own organization, ID or name; another one is refused. Not passed on to the engine.",
  ),
  extra_body: optional(
    Type.Object({}, { additionalProperties: true }),
    "More parameters; its members are merged into the top level, where the top level wins.",
  ),
};

export const ChatRequest = schema(
  Type.Object(members, { additionalProperties: true, description: "A chat completion request." }),
);
export type ChatRequest = TypeOf<typeof ChatRequest>;
export type ChatMessage = ChatRequest["messages"][number];
export type ChatTool = NonNullable<ChatRequest["tools"]>[number];

/** Names of the parameters that this contract knows; any other passes through. */
export const chatParameterNames: ReadonlySet<string> = new Set(Object.keys(members));
