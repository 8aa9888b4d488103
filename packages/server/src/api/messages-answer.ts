/**
 * The message object of Anthropic's Messages API and the events of a streamed one. Responses are described and tested but
 * never filtered. https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { Type } from "typebox";
import { costMembers } from "./cost-members.ts";
import { schema } from "./schema.ts";

const open = { additionalProperties: true } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const text = (description: string) => Type.String({ description });

export const stopReasons = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
] as const;
export type StopReason = (typeof stopReasons)[number];

const usage = Type.Object(
  {
    input_tokens: count("Number of prompt tokens that no cache was used for."),
    cache_read_input_tokens: Type.Optional(
      Type.Union([count("Tokens."), Type.Null()], { description: "Prompt tokens read from the engine's cache." }),
    ),
    cache_creation_input_tokens: Type.Optional(
      Type.Union([count("Tokens."), Type.Null()], { description: "Prompt tokens written to the engine's cache." }),
    ),
    output_tokens: count("Number of generated tokens."),
    ...costMembers,
  },
  { ...open, description: "Token counts. The prompt has as many tokens as the three input counts together." },
);

const contentBlock = Type.Object(
  { type: text("`text`, `thinking`, `redacted_thinking`, `tool_use`, or another type of the upstream.") },
  { ...open, description: "A block of the message; its other members depend on `type`." },
);

const stopReason = Type.Union([Type.Enum([...stopReasons]), Type.Null()], { description: "Why generation stopped." });

const message = Type.Object(
  {
    id: text("Unique identifier of the message."),
    type: Type.Literal("message", { description: "Always `message`." }),
    role: Type.Literal("assistant", { description: "Always `assistant`." }),
    model: text("The model that generated the message."),
    content: Type.Array(contentBlock, { description: "The blocks of the message." }),
    stop_reason: stopReason,
    stop_sequence: Type.Union([Type.String(), Type.Null()], { description: "The stop sequence that was generated." }),
    usage,
  },
  { ...open, description: "A message." },
);

export const Message = schema(message);

const index = count("Index of the block.");

export const MessageEvent = schema(
  Type.Union(
    [
      Type.Object({ type: Type.Literal("message_start", { description: "The first event." }), message }, open),
      Type.Object(
        {
          type: Type.Literal("content_block_start", { description: "A block begins." }),
          index,
          content_block: contentBlock,
        },
        open,
      ),
      Type.Object(
        {
          type: Type.Literal("content_block_delta", { description: "The next piece of a block." }),
          index,
          delta: Type.Object(
            {
              type: text("`text_delta`, `thinking_delta`, `signature_delta`, `input_json_delta` or `citations_delta`."),
            },
            { ...open, description: "The piece." },
          ),
        },
        open,
      ),
      Type.Object({ type: Type.Literal("content_block_stop", { description: "A block ends." }), index }, open),
      Type.Object(
        {
          type: Type.Literal("message_delta", { description: "All blocks have ended." }),
          delta: Type.Object(
            {
              stop_reason: stopReason,
              stop_sequence: Type.Union([Type.String(), Type.Null()], {
                description: "The stop sequence that was generated.",
              }),
            },
            { ...open, description: "Why generation stopped." },
          ),
          usage: Type.Object({}, { ...open, description: "Token counts of the whole message." }),
        },
        open,
      ),
      Type.Object({ type: Type.Literal("message_stop", { description: "The last event." }) }, open),
      Type.Object({ type: Type.Literal("ping", { description: "Says nothing." }) }, open),
      Type.Object(
        {
          type: Type.Literal("error", { description: "The stream failed; this is its last event." }),
          error: Type.Object(
            { type: text("Type of the error."), message: text("What went wrong.") },
            { ...open, description: "The error." },
          ),
        },
        open,
      ),
    ],
    { description: "An event of a streamed message; its name is its `type`." },
  ),
);

export const TokenCount = schema(
  Type.Object(
    { input_tokens: count("Number of tokens of the messages, the instructions and the tools.") },
    { ...open, description: "A number of tokens." },
  ),
);
