/**
 * The request of Anthropic's Messages API. Known members are checked; all others pass, so that an upstream which speaks
 * the API gets what is newer than this file. https://platform.claude.com/docs/en/api/messages
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

const text = (description: string) => Type.String({ description });
const open = { additionalProperties: true } as const;
const openObject = (description: string) => Type.Object({}, { ...open, description });
/** A block of which only the type is checked. */
const anyBlock = (description: string) => Type.Object({ type: text("Type of the block.") }, { ...open, description });

const source = Type.Object(
  {
    type: text(
      "`base64` with `data` and `media_type`, `url` with `url`, `text` with `data`, or `content` with `content`.",
    ),
    media_type: Type.Optional(text("Media type of the data.")),
    data: Type.Optional(text("The data: base64, or the text of a source with type `text`.")),
    url: Type.Optional(text("Address of the data.")),
  },
  { ...open, description: "Where the data are." },
);

const contentBlock = Type.Union(
  [
    Type.Object({ type: Type.Literal("text", { description: "Text." }), text: text("The text.") }, open),
    Type.Object({ type: Type.Literal("image", { description: "An image." }), source }, open),
    Type.Object(
      {
        type: Type.Literal("document", { description: "A document." }),
        source,
        title: optional(Type.String(), "Title of the document."),
        context: optional(Type.String(), "What the model should know about the document."),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("tool_use", { description: "A tool call of an earlier response." }),
        id: text("Identifier that the tool's result refers to."),
        name: text("Name of the tool."),
        input: Type.Unknown({ description: "Arguments of the call." }),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("tool_result", { description: "The result of a tool call." }),
        tool_use_id: text("The tool call that this is the result of."),
        content: optional(
          Type.Union([
            Type.String({ description: "The text." }),
            Type.Array(anyBlock("A block of the result."), {
              maxItems: 2048,
              description: "Text and images in order.",
            }),
          ]),
          "The result.",
        ),
        is_error: optional(Type.Boolean(), "Whether the call failed."),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("thinking", { description: "Thinking of an earlier response, unchanged." }),
        thinking: text("The text."),
        signature: text("The signature that came with it."),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Literal("redacted_thinking", {
          description: "Encrypted thinking of an earlier response, unchanged.",
        }),
        data: text("The encrypted thinking."),
      },
      open,
    ),
    Type.Object(
      {
        type: Type.Unsafe<string>({
          type: "string",
          not: { enum: ["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"] },
          description: "Type of the block.",
        }),
      },
      { ...open, description: "Any other block that the upstream accepts." },
    ),
  ],
  { description: "One block of a message's content; its other members depend on `type`." },
);

const message = Type.Object(
  {
    role: Type.Enum(["user", "assistant", "system"], { description: "Role of the message's author." }),
    content: Type.Union(
      [
        Type.String({ description: "The text." }),
        Type.Array(contentBlock, { maxItems: 2048, description: "Blocks in order." }),
      ],
      { description: "Content of the message." },
    ),
  },
  { ...open, description: "One message of the conversation." },
);

const tool = Type.Object(
  {
    type: optional(Type.String(), "`custom` (the default) for a tool of the client; others are tools of the vendor."),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "Name of the tool." })),
    description: Type.Optional(text("Description of the tool, for the model.")),
    input_schema: Type.Optional(openObject("JSON Schema of the arguments.")),
    strict: optional(Type.Boolean(), "Whether the arguments must match the schema exactly."),
  },
  { ...open, description: "A tool that the model may call." },
);

const toolChoice = Type.Object(
  {
    type: Type.Enum(["auto", "any", "tool", "none"], {
      description: "The model's choice, at least one tool, the tool `name`, or no tool.",
    }),
    name: Type.Optional(text("The tool to call, with type `tool`.")),
    disable_parallel_tool_use: optional(Type.Boolean(), "Whether the model may call at most one tool in one response."),
  },
  { ...open },
);

const thinking = Type.Object(
  {
    type: text("`enabled` with `budget_tokens`, `adaptive`, or `disabled`."),
    budget_tokens: optional(Type.Integer({ minimum: 0 }), "Most tokens of thinking, with type `enabled`."),
  },
  { ...open },
);

const outputConfig = Type.Object(
  {
    effort: optional(Type.String(), "How much effort to spend: `low`, `medium`, `high`, `xhigh` or `max`."),
    format: optional(
      Type.Object({ type: text("`json_schema`."), schema: Type.Optional(openObject("The JSON Schema.")) }, { ...open }),
      "A JSON Schema that the response must match.",
    ),
  },
  { ...open },
);

/** What counting tokens takes as well. */
const prompt = {
  model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
  messages: Type.Array(message, { minItems: 1, maxItems: 100_000, description: "The conversation so far." }),
  system: optional(
    Type.Union([
      Type.String({ description: "The text." }),
      Type.Array(
        Type.Object({ type: Type.Literal("text", { description: "Only text." }), text: text("The text.") }, open),
        {
          maxItems: 2048,
          description: "Text in blocks.",
        },
      ),
    ]),
    "Instructions for the model.",
  ),
  tools: optional(Type.Array(tool, { maxItems: 1024 }), "Tools that the model may call."),
  tool_choice: optional(toolChoice, "Which tool the model calls."),
  thinking: optional(thinking, "Whether, and how much, the model thinks before it responds."),
  output_config: optional(outputConfig, "Effort and format of the response."),
};

export const MessageRequest = schema(
  Type.Object(
    {
      ...prompt,
      max_tokens: Type.Integer({
        minimum: 0,
        description: "Maximum number of tokens to generate, including thinking.",
      }),
      metadata: optional(
        Type.Object(
          { user_id: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user.") },
          open,
        ),
        "About the request.",
      ),
      stop_sequences: optional(
        Type.Array(Type.String({ description: "A sequence that ends generation." }), { maxItems: 1024 }),
        "Sequences that end generation. Models that do not speak the Messages API take up to four.",
      ),
      stream: optional(Type.Boolean(), "Whether to stream the response as server-sent events."),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature."),
      top_k: optional(Type.Integer({ minimum: 0 }), "Sample only from this number of tokens."),
      top_p: optional(Type.Number({ minimum: 0, maximum: 1 }), "Sample only from tokens within this probability mass."),
      service_tier: optional(Type.String({ maxLength: 64 }), "Processing tier: `auto` or `standard_only`."),
    },
    { ...open, description: "A request of the Messages API." },
  ),
);
export type MessageRequest = TypeOf<typeof MessageRequest>;
export type MessageParam = MessageRequest["messages"][number];
export type MessageTool = NonNullable<MessageRequest["tools"]>[number];

export const TokenCountRequest = schema(
  Type.Object(prompt, { ...open, description: "A request whose tokens to count." }),
);
export type TokenCountRequest = TypeOf<typeof TokenCountRequest>;
