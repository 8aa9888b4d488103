/**
 * The chat completion object and the chunks of a streamed one. Responses are described and tested but never filtered:
 * members that an engine adds are kept.
 * https://platform.openai.com/docs/api-reference/chat/object
 */
import { Type, type Static } from "typebox";
import { costMembers } from "./cost-members.ts";
import { schema, type TypeOf } from "./schema.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const usage = Type.Object(
  {
    prompt_tokens: count("Number of prompt tokens."),
    completion_tokens: count("Number of completion tokens."),
    total_tokens: count("Prompt and completion tokens together."),
    prompt_tokens_details: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              cached_tokens: Type.Optional(count("Tokens read from the engine's prompt cache.")),
              cache_write_tokens: Type.Optional(count("Tokens written to the engine's prompt cache.")),
              cache_write_1h_tokens: Type.Optional(count("Of those written: tokens that the cache keeps for an hour.")),
              audio_tokens: Type.Optional(count("Audio tokens.")),
            },
            { additionalProperties: true },
          ),
          Type.Null(),
        ],
        { description: "Breakdown of the prompt tokens." },
      ),
    ),
    completion_tokens_details: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              reasoning_tokens: Type.Optional(count("Tokens used for reasoning.")),
              audio_tokens: Type.Optional(count("Audio tokens.")),
              image_tokens: Type.Optional(count("Tokens of images.")),
              citation_tokens: Type.Optional(count("Tokens of pages that the model found and read.")),
            },
            { additionalProperties: true },
          ),
          Type.Null(),
        ],
        { description: "Breakdown of the completion tokens." },
      ),
    ),
    ...costMembers,
  },
  { additionalProperties: true, description: "Token counts." },
);

export type ChatUsage = Static<typeof usage>;

export const finishReasons = ["stop", "length", "tool_calls", "content_filter", "function_call"] as const;
export type FinishReason = (typeof finishReasons)[number];

const tokenLogprob = Type.Object(
  {
    token: Type.String({ description: "The token's text." }),
    logprob: Type.Number({ description: "Natural logarithm of its probability." }),
    bytes: Type.Union([Type.Array(Type.Integer({ minimum: 0, maximum: 255 })), Type.Null()], {
      description: "The token's UTF-8 bytes.",
    }),
    top_logprobs: Type.Array(
      Type.Object({
        token: Type.String({ description: "The alternative's text." }),
        logprob: Type.Number({ description: "Natural logarithm of its probability." }),
        bytes: Type.Union([Type.Array(Type.Integer({ minimum: 0, maximum: 255 })), Type.Null()], {
          description: "The alternative's UTF-8 bytes.",
        }),
      }),
      { description: "The most probable alternatives." },
    ),
  },
  { description: "One token of the response." },
);

const choiceLogprobs = Type.Union(
  [
    Type.Object(
      {
        content: Type.Optional(
          Type.Union([Type.Array(tokenLogprob), Type.Null()], { description: "The tokens of the content." }),
        ),
      },
      { additionalProperties: true },
    ),
    Type.Null(),
  ],
  {
    description: "Log probabilities, if requested.",
  },
);

const answeredToolCall = Type.Object(
  {
    id: Type.String({ description: "Identifier that the tool's result refers to." }),
    type: Type.Literal("function", { description: "Only functions are supported." }),
    function: Type.Object(
      {
        name: Type.String({ description: "The function." }),
        arguments: Type.String({ description: "Arguments, encoded as JSON." }),
      },
      { description: "The function call." },
    ),
  },
  { additionalProperties: true, description: "A tool call." },
);

const finishReason = Type.Union([Type.Enum([...finishReasons]), Type.Null()], {
  description: "Why generation stopped: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`.",
});

const head = {
  id: Type.String({ description: "Unique identifier of the completion." }),
  created: Type.Integer({ description: "UNIX time of creation, in seconds." }),
  model: Type.String({ description: "The model that generated the response." }),
  service_tier: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "Processing tier, if the engine reports one." }),
  ),
  system_fingerprint: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: "Fingerprint of the model and engine, if the engine reports one.",
    }),
  ),
};

export const ChatCompletion = schema(
  Type.Object(
    {
      ...head,
      object: Type.Literal("chat.completion", { description: "Always `chat.completion`." }),
      choices: Type.Array(
        Type.Object(
          {
            index: count("Index of the choice."),
            message: Type.Object(
              {
                role: Type.Literal("assistant", { description: "Always `assistant`." }),
                content: Type.Union([Type.String(), Type.Null()], { description: "Text of the message." }),
                refusal: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The model's refusal, if it refused." }),
                ),
                reasoning_content: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], {
                    description: "The model's reasoning, if the engine returns it.",
                  }),
                ),
                tool_calls: Type.Optional(Type.Array(answeredToolCall, { description: "Tools that the model calls." })),
              },
              { additionalProperties: true, description: "The generated message." },
            ),
            logprobs: Type.Optional(choiceLogprobs),
            finish_reason: finishReason,
          },
          { additionalProperties: true, description: "One generated choice." },
        ),
        { description: "The generated choices." },
      ),
      usage: Type.Optional(usage),
      prompt_logprobs: Type.Optional(
        Type.Unknown({ description: "Log probabilities of the prompt tokens in vLLM's format, if requested." }),
      ),
    },
    { additionalProperties: true, description: "A chat completion." },
  ),
);
export type ChatCompletion = TypeOf<typeof ChatCompletion>;
export type ChatChoice = ChatCompletion["choices"][number];

export const ChatCompletionChunk = schema(
  Type.Object(
    {
      ...head,
      object: Type.Literal("chat.completion.chunk", { description: "Always `chat.completion.chunk`." }),
      choices: Type.Array(
        Type.Object(
          {
            index: count("Index of the choice."),
            delta: Type.Object(
              {
                role: Type.Optional(Type.Literal("assistant", { description: "Sent in the first delta of a choice." })),
                content: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The next piece of text." }),
                ),
                refusal: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The next piece of the refusal." }),
                ),
                reasoning_content: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The next piece of the reasoning." }),
                ),
                tool_calls: Type.Optional(
                  Type.Array(
                    Type.Object(
                      {
                        index: count("Index of the tool call."),
                        id: Type.Optional(Type.String({ description: "Sent in the first piece of a tool call." })),
                        type: Type.Optional(
                          Type.Literal("function", { description: "Sent in the first piece of a tool call." }),
                        ),
                        function: Type.Optional(
                          Type.Object(
                            {
                              name: Type.Optional(
                                Type.String({ description: "Sent in the first piece of a tool call." }),
                              ),
                              arguments: Type.Optional(
                                Type.String({ description: "The next piece of the arguments." }),
                              ),
                            },
                            { description: "The next piece of the function call." },
                          ),
                        ),
                      },
                      { additionalProperties: true, description: "A piece of a tool call." },
                    ),
                    { description: "Pieces of tool calls." },
                  ),
                ),
              },
              { additionalProperties: true, description: "What this chunk adds to the message." },
            ),
            logprobs: Type.Optional(choiceLogprobs),
            finish_reason: finishReason,
          },
          { additionalProperties: true, description: "What this chunk adds to one choice." },
        ),
        { description: "The choices that this chunk adds to; empty in the usage chunk." },
      ),
      usage: Type.Optional(
        Type.Union([usage, Type.Null()], {
          description: "Token counts, in the last chunk if `include_usage` was set.",
        }),
      ),
    },
    { additionalProperties: true, description: "One chunk of a streamed chat completion." },
  ),
);
export type ChatCompletionChunk = TypeOf<typeof ChatCompletionChunk>;
export type ChatChunkChoice = ChatCompletionChunk["choices"][number];
export type ChatDelta = ChatChunkChoice["delta"];
