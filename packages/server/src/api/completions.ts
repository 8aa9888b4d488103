/** OpenAI's older operation that continues a raw prompt. https://platform.openai.com/docs/api-reference/completions */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { costMembers } from "./cost-members.ts";
import { operation } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";
import { tokenList } from "./texts-or-tokens.ts";

const mostPrompts = inputLimit({
  area: "Chat completions",
  bounds: "Prompts of a request to `POST /v1/completions`",
  value: 2_048,
  error: "invalid_request",
});

const tokens = tokenList("A prompt as tokens of the model.");
const listSize = { minItems: 1, maxItems: mostPrompts };
const stopSequence = Type.String({ description: "A text before which generation stops." });

export const CompletionRequest = schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID, as `GET /v1/models` lists it." }),
      prompt: Type.Union(
        [
          Type.String({ description: "A prompt." }),
          Type.Array(Type.String({ description: "A prompt." }), { ...listSize, description: "Prompts." }),
          tokens,
          Type.Array(tokens, { ...listSize, description: "Prompts as tokens." }),
        ],
        { description: "What to continue, without any template: a text, several texts, or the same as tokens." },
      ),
      best_of: optional(
        Type.Integer({ minimum: 1, maximum: 128 }),
        "Completions to generate for each prompt, of which the best are returned.",
      ),
      echo: optional(Type.Boolean(), "Whether to return the prompt before the completion."),
      frequency_penalty: optional(
        Type.Number({ minimum: -2, maximum: 2 }),
        "Penalty on tokens in proportion to how often they have occurred, -2 to 2.",
      ),
      logit_bias: optional(
        Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 })),
        "Token IDs and what is added to their logits.",
      ),
      logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 }), "Number of alternatives per token to return."),
      max_tokens: optional(Type.Integer({ minimum: 0 }), "Maximum number of tokens to generate for each prompt."),
      n: optional(Type.Integer({ minimum: 1, maximum: 128 }), "Number of completions for each prompt."),
      presence_penalty: optional(
        Type.Number({ minimum: -2, maximum: 2 }),
        "Penalty on tokens that have occurred at all, -2 to 2.",
      ),
      seed: optional(Type.Integer(), "Seed for sampling."),
      stop: optional(
        Type.Union([stopSequence, Type.Array(stopSequence, { maxItems: 16, description: "Several sequences." })]),
        "Sequences that end generation.",
      ),
      stream: optional(Type.Boolean(), "Whether to stream the completion as server-sent events."),
      stream_options: optional(
        Type.Object(
          { include_usage: optional(Type.Boolean(), "Whether to send the token counts in a final chunk.") },
          { additionalProperties: true },
        ),
        "Options for streaming; allowed only with `stream`.",
      ),
      suffix: optional(Type.String(), "The text after the completion."),
      temperature: optional(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature, 0 to 2."),
      top_p: optional(Type.Number({ minimum: 0, maximum: 1 }), "Sample only from tokens within this probability mass."),
      user: optional(Type.String({ maxLength: 4096 }), "Stable identifier of the end user."),
    },
    {
      additionalProperties: true,
      description:
        "A raw prompt to continue. Fields that are not described here are passed to OpenAI-compatible engines.",
    },
  ),
);
export type CompletionRequest = TypeOf<typeof CompletionRequest>;

const open = { additionalProperties: true } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });

const completion = Type.Object(
  {
    id: Type.String({ description: "Unique identifier of the completion." }),
    object: Type.Literal("text_completion", { description: "Always `text_completion`." }),
    created: Type.Integer({ description: "UNIX time of creation, in seconds." }),
    model: Type.String({ description: "The model that generated the text." }),
    choices: Type.Array(
      Type.Object(
        {
          index: count("Index of the choice: those of the first prompt come first."),
          text: Type.String({ description: "The generated text, or in a stream a piece of it." }),
          finish_reason: Type.Optional(
            Type.Union([Type.String(), Type.Null()], { description: "Why generation stopped: `stop` or `length`." }),
          ),
        },
        { ...open, description: "A choice." },
      ),
      { description: "The choices." },
    ),
    usage: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              prompt_tokens: count("Number of prompt tokens."),
              completion_tokens: count("Number of generated tokens."),
              total_tokens: count("Both together."),
              ...costMembers,
            },
            { ...open, description: "Token counts." },
          ),
          Type.Null(),
        ],
        { description: "Token counts, if the engine reports them." },
      ),
    ),
  },
  { ...open, description: "A text completion, or a chunk of a streamed one." },
);
export const TextCompletion = schema(completion);

export const createCompletion = operation({
  id: "createCompletion",
  method: "POST",
  path: "/v1/completions",
  tag: "Chat",
  summary: "Continue a raw prompt",
  description:
    "OpenAI's older completions: the model continues a text as it is, without a chat template. OpenAI-compatible engines get the request unchanged except for the model's name; models of llama.cpp continue one text. For other models the call is refused. With `stream`, the response is a stream of server-sent events that ends with `data: [DONE]`.",
  permission: "inference",
  body: CompletionRequest,
  answer: { type: "application/json", schema: TextCompletion, description: "The completion." },
  stream: {
    type: "text/event-stream",
    schema: TextCompletion,
    description: "The completion as a stream, if `stream` is true.",
  },
  example: { model: "sounding-trial", prompt: "Once upon a time", max_tokens: 5 },
});
