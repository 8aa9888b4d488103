/**
 * The chat completion object and the chunks of a streamed one. https://platform.openai.com/docs/api-reference/chat/object
 * Described and tested, never filtered: what an engine adds stays.
 */
import { Type, type Static } from "typebox";
import { schema, type TypeOf } from "./schema.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const usage = Type.Object(
  {
    prompt_tokens: count("Tokens of the prompt."),
    completion_tokens: count("Tokens of the answer."),
    total_tokens: count("Both together."),
    prompt_tokens_details: Type.Optional(
      Type.Union(
        [
          Type.Object(
            { cached_tokens: Type.Optional(count("Tokens read from the engine's cache.")) },
            { additionalProperties: true },
          ),
          Type.Null(),
        ],
        { description: "Parts of the prompt's tokens." },
      ),
    ),
    completion_tokens_details: Type.Optional(
      Type.Union(
        [
          Type.Object(
            { reasoning_tokens: Type.Optional(count("Tokens spent on reasoning.")) },
            { additionalProperties: true },
          ),
          Type.Null(),
        ],
        { description: "Parts of the answer's tokens." },
      ),
    ),
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
  { description: "One token of the answer." },
);

const choiceLogprobs = Type.Union(
  [
    Type.Object(
      {
        content: Type.Optional(
          Type.Union([Type.Array(tokenLogprob), Type.Null()], { description: "The content's tokens." }),
        ),
      },
      { additionalProperties: true },
    ),
    Type.Null(),
  ],
  {
    description: "Log probabilities, where asked for.",
  },
);

const answeredToolCall = Type.Object(
  {
    id: Type.String({ description: "Identifier for the tool's answer." }),
    type: Type.Literal("function", { description: "Only functions are supported." }),
    function: Type.Object(
      {
        name: Type.String({ description: "The function." }),
        arguments: Type.String({ description: "Arguments as JSON text." }),
      },
      { description: "The call." },
    ),
  },
  { additionalProperties: true, description: "A tool call." },
);

const finishReason = Type.Union([Type.Enum([...finishReasons]), Type.Null()], {
  description: "Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter` or `function_call`.",
});

const head = {
  id: Type.String({ description: "Unique identifier of the completion." }),
  created: Type.Integer({ description: "UNIX time of creation, seconds." }),
  model: Type.String({ description: "The model that answered." }),
  service_tier: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "Processing tier, if the engine tells." }),
  ),
  system_fingerprint: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "Fingerprint of model and engine, if the engine tells." }),
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
            index: count("Number of the choice."),
            message: Type.Object(
              {
                role: Type.Literal("assistant", { description: "Always `assistant`." }),
                content: Type.Union([Type.String(), Type.Null()], { description: "The reply's text." }),
                refusal: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "Why the model refused, if it did." }),
                ),
                tool_calls: Type.Optional(Type.Array(answeredToolCall, { description: "Tools that the model calls." })),
              },
              { additionalProperties: true, description: "The reply." },
            ),
            logprobs: Type.Optional(choiceLogprobs),
            finish_reason: finishReason,
          },
          { additionalProperties: true, description: "One reply." },
        ),
        { description: "The replies." },
      ),
      usage: Type.Optional(usage),
      prompt_logprobs: Type.Optional(
        Type.Unknown({ description: "Log probabilities of the prompt's tokens, as vLLM has them, where asked for." }),
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
            index: count("Number of the choice."),
            delta: Type.Object(
              {
                role: Type.Optional(Type.Literal("assistant", { description: "In the first delta of a choice." })),
                content: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The next piece of text." }),
                ),
                refusal: Type.Optional(
                  Type.Union([Type.String(), Type.Null()], { description: "The next piece of a refusal." }),
                ),
                tool_calls: Type.Optional(
                  Type.Array(
                    Type.Object(
                      {
                        index: count("Number of the tool call."),
                        id: Type.Optional(Type.String({ description: "In the first piece of a tool call." })),
                        type: Type.Optional(
                          Type.Literal("function", { description: "In the first piece of a tool call." }),
                        ),
                        function: Type.Optional(
                          Type.Object(
                            {
                              name: Type.Optional(Type.String({ description: "In the first piece of a tool call." })),
                              arguments: Type.Optional(
                                Type.String({ description: "The next piece of the arguments." }),
                              ),
                            },
                            { description: "The next piece of the call." },
                          ),
                        ),
                      },
                      { additionalProperties: true, description: "A piece of a tool call." },
                    ),
                    { description: "Pieces of tool calls." },
                  ),
                ),
              },
              { additionalProperties: true, description: "What is new." },
            ),
            logprobs: Type.Optional(choiceLogprobs),
            finish_reason: finishReason,
          },
          { additionalProperties: true, description: "What is new of one reply." },
        ),
        { description: "The replies that have something new; empty in the usage chunk." },
      ),
      usage: Type.Optional(
        Type.Union([usage, Type.Null()], {
          description: "Token counts, in the last chunk when `include_usage` was set.",
        }),
      ),
    },
    { additionalProperties: true, description: "One chunk of a streamed chat completion." },
  ),
);
export type ChatCompletionChunk = TypeOf<typeof ChatCompletionChunk>;
export type ChatChunkChoice = ChatCompletionChunk["choices"][number];
export type ChatDelta = ChatChunkChoice["delta"];
