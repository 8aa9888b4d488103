/** Defines models that continue a raw prompt, and text completions in terms of chat completions. */
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { JsonObject } from "../json-object.ts";
import type { WireCall } from "./wire.ts";

/** Failures are those of a `ChatModel`. */
export interface TextCompletionModel {
  complete(call: WireCall): Promise<JsonObject>;
  /** The chunks of a completion, as OpenAI has them. The iteration ends without an error only if it is complete. */
  stream(call: WireCall): AsyncIterable<JsonObject>;
}

export function toTextCompletion({ choices, ...answer }: ChatCompletion): JsonObject {
  return {
    ...answer,
    object: "text_completion",
    choices: choices.map(({ index, message, finish_reason }) => textChoice(index, message.content, finish_reason)),
  };
}

export function toTextChunk({ choices, ...chunk }: ChatCompletionChunk): JsonObject {
  return {
    ...chunk,
    object: "text_completion",
    choices: choices.map(({ index, delta, finish_reason }) => textChoice(index, delta.content, finish_reason)),
  };
}

function textChoice(index: number, text: string | null | undefined, reason: string | null): JsonObject {
  return { index, text: text ?? "", logprobs: null, finish_reason: reason };
}
