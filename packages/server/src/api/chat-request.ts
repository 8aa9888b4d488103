/**
 * The chat completion request: OpenAI's parameters and those of docs/reference/interface.md. Other fields pass
 * through to the engine. https://platform.openai.com/docs/api-reference/chat/create
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

const text = (description: string) => Type.String({ description });

const open = { additionalProperties: true } as const;

const contentPart = Type.Union(
  [
    Type.Object({ type: Type.Literal("text", { description: "Text." }), text: text("The text.") }, open),
    Type.Object(
      {
        type: Type.Literal("image_url", { description: "An image." }),
        image_url: Type.Object(
          {
            url: text("Address of the image, or the image itself as a `data:` URL."),
            detail: Type.Optional(
              Type.Enum(["auto", "low", "high"], { description: "Resolution at which the model reads the image." }),
            ),
          },
          { ...open, description: "Where the image is." },
        ),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("input_audio", { description: "A recording." }),
        input_audio: Type.Object(
          {
            data: text("The recording in base64."),
            format: Type.Enum(["wav", "mp3"], { description: "Format of the recording." }),
          },
          { ...open, description: "The recording." },
        ),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("file", { description: "A document." }),
        file: Type.Object(
          {
            file_data: Type.Optional(text("The document as a `data:` URL.")),
            file_id: Type.Optional(text("Identifier of a document that the vendor stores.")),
            filename: Type.Optional(text("Name of the document.")),
          },
          { ...open, description: "The document." },
        ),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("refusal", { description: "A refusal of an earlier response." }),
        refusal: text("The text of the refusal."),
      },
      open,
    ),
    // Engines refuse what they do not support, in their own words: some accept more types and forms than OpenAI.
    Type.Object(
      {
        type: Type.Unsafe<string>({
          type: "string",
          not: { enum: ["text", "refusal"] },
          description: "Type of the part.",
        }),
      },
      {
        ...open,
        "x-omitted-from-client": true,
        description: "Any other part that the engine accepts; the client's types do not include it.",
      },
    ),
  ],
  { description: "One part of a message's content; its other members depend on `type`." },
);

const toolCall = Type.Object(
  {
    id: text("Identifier that the tool's result refers to."),
    type: Type.Optional(Type.Literal("function", { description: "Only functions are supported." })),
    function: Type.Object(
      { name: text("Name of the function."), arguments: text("Arguments, encoded as JSON.") },
      { description: "The function that the model called." },
    ),
  },
  { additionalProperties: true, description: "A tool call of an earlier response." },
);

const message = Type.Object(
  {
    role: Type.Enum(["developer", "system", "user", "assistant", "tool", "function"], {
      description: "Role of the message's author.",
    }),
    content: optional(
      Type.Union([
        Type.String({ description: "The text." }),
        Type.Array(contentPart, { description: "Text, images and audio in order.", maxItems: 2048 }),
      ]),
      "Content of the message. May be null or absent only in assistant messages with tool calls.",
    ),
    name: Type.Optional(text("Name of the participant, to distinguish participants with the same role.")),
    tool_calls: optional(Type.Array(toolCall, { maxItems: 1024 }), "Tool calls of an assistant message."),
    tool_call_id: Type.Optional(text("The tool call that a `tool` message responds to.")),
  },
  { additionalProperties: true, description: "One message of the conversation." },
);

const tool = Type.Object(
  {
    type: Type.Literal("function", { description: "Only functions are supported." }),
    function: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 64, description: "Name of the function." }),
        description: Type.Optional(text("Description of the function, for the model.")),
        parameters: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: "JSON Schema of the arguments." }),
        ),
        strict: optional(Type.Boolean(), "Whether the arguments must match the schema exactly."),
      },
      { additionalProperties: true, description: "The function." },
    ),
  },
  { additionalProperties: true, description: "A tool that the model may call." },
);

const responseFormat = Type.Union(
  [
    Type.Object(
      { type: Type.Literal("text", { description: "Free text (the default)." }) },
      { additionalProperties: true },
    ),
    Type.Object(
      { type: Type.Literal("json_object", { description: "Any JSON object." }) },
      { additionalProperties: true },
    ),
    Type.Object(
      {
        type: Type.Literal("json_schema", { description: "JSON that matches a schema." }),
        json_schema: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 64, description: "Name of the schema." }),
            description: Type.Optional(text("Description of the response format, for the model.")),
            schema: Type.Optional(Type.Object({}, { additionalProperties: true, description: "The JSON Schema." })),
            strict: optional(Type.Boolean(), "Whether the response must match the schema exactly."),
          },
          { additionalProperties: true, description: "The schema and its name." },
        ),
      },
      { additionalProperties: true },
    ),
  ],
  { description: "Format of the response: free text, any JSON object, or JSON that matches a schema." },
);

const toolChoice = Type.Union(
  [
    Type.Enum(["none", "auto", "required"], { description: "No tool, the model's choice, or at least one tool." }),
    Type.Object(
      {
        type: Type.Literal("function", { description: "Only functions are supported." }),
        function: Type.Object({ name: text("The function to call.") }, { description: "The function." }),
      },
      { additionalProperties: true },
    ),
  ],
  { description: "Which tool the model calls: `none`, `auto`, `required`, or one function by name." },
);

const stopSequence = Type.String({ description: "A sequence that ends generation." });

export const serviceTiers = ["auto", "default", "flex"] as const;

const members = {
  messages: Type.Array(message, { minItems: 1, maxItems: 100_000, description: "The conversation so far." }),
  model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
  audio: optional(
    Type.Object({}, { additionalProperties: true }),
    "Audio output parameters, for models that generate audio.",
  ),
  frequency_penalty: optional(
    Type.Number({ minimum: -2, maximum: 2 }),
    "Penalty on tokens in proportion to how often they have occurred, -2 to 2.",
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
    "Bias by token ID, -100 to 100.",
  ),
  logprobs: optional(Type.Boolean(), "Whether to return the log probabilities of the response's tokens."),
  max_completion_tokens: optional(
    Type.Integer({ minimum: 1 }),
    "Maximum number of tokens to generate, including reasoning.",
  ),
  max_tokens: optional(Type.Integer({ minimum: 1 }), "Deprecated form of `max_completion_tokens`."),
  modality: optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }), "Alternative name of `modalities`."),
  modalities: optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }),
    "Output types, such as `text` and `audio`.",
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: 128 }), "Number of choices to generate, 1 to 128."),
  parallel_tool_calls: optional(Type.Boolean(), "Whether the model may call several tools in one response."),
  presence_penalty: optional(
    Type.Number({ minimum: -2, maximum: 2 }),
    "Penalty on tokens that have already occurred, -2 to 2.",
  ),
  prompt_logprobs: optional(
    Type.Integer({ minimum: 0, maximum: 20 }),
    "Return log probabilities of the prompt tokens with this many alternatives each, as vLLM does.",
  ),
  response_format: optional(responseFormat, "Format of the response."),
  seed: optional(
    // Without bounds: those of int64 are no numbers of JavaScript, and would be shown rounded.
    Type.Integer({ format: "int64" }),
    "Seed for sampling. The same seed and parameters give the same response, if the engine supports it.",
  ),
  service_tier: optional(Type.Enum([...serviceTiers]), "Processing tier: `auto`, `default` or `flex`."),
  stop: optional(
    Type.Union([stopSequence, Type.Array(stopSequence, { maxItems: 4, description: "Up to four sequences." })]),
    "Up to four sequences that end generation.",
  ),
  store: optional(Type.Boolean(), "Whether the vendor may store the response."),
  stream: optional(Type.Boolean(), "Whether to stream the response as server-sent events."),
  stream_options: optional(
    Type.Object(
      { include_usage: optional(Type.Boolean(), "Whether to send the token counts in a final chunk.") },
      { additionalProperties: true },
    ),
    "Options for streaming; allowed only with `stream`.",
  ),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature, 0 to 2."),
  tool_choice: optional(toolChoice, "Which tool the model calls."),
  tools: optional(Type.Array(tool, { maxItems: 1024 }), "Functions that the model may call."),
  top_logprobs: optional(
    Type.Integer({ minimum: 0, maximum: 20 }),
    "Number of alternatives per token to return with their log probabilities, 0 to 20; requires `logprobs`.",
  ),
  top_p: optional(
    Type.Number({ minimum: 0, maximum: 1 }),
    "Nucleus sampling: sample only from the tokens within this probability mass, 0 to 1.",
  ),
  user: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user."),
  web_search_options: optional(Type.Object({}, { additionalProperties: true }), "Options of the vendor's web search."),
  organization_id: optional(
    Type.String({ maxLength: 256 }),
    "The key's own organization, by ID or name; any other is refused. Not sent to the engine.",
  ),
  extra_body: optional(
    Type.Object({}, { additionalProperties: true }),
    "Additional parameters. Its members are merged into the top level; top-level members take precedence.",
  ),
};

export const ChatRequest = schema(
  Type.Object(members, { additionalProperties: true, description: "A chat completion request." }),
);
export type ChatRequest = TypeOf<typeof ChatRequest>;
export const ChatMessage = schema(message);
export type ChatMessage = TypeOf<typeof ChatMessage>;
export const ChatContentPart = schema(contentPart);
export type ChatTool = NonNullable<ChatRequest["tools"]>[number];

/** Names of the parameters in this contract; all others are passed through. */
export const chatParameterNames: ReadonlySet<string> = new Set(Object.keys(members));

/**
 * Where a message or a tool of a translated request has Anthropic's `cache_control`. JSON has no such members, so that only
 * engines that know it see it: others would refuse what changes no answer.
 */
export const cacheHint = Symbol("cache_control");

export interface CacheHinted {
  readonly [cacheHint]?: unknown;
}
