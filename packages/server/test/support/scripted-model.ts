/** A scripted chat model that records its calls. */
import type { ChatCompletion, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { ChatCall, ChatModel } from "../../src/engines/engine.ts";

const head = { id: "chatcmpl-engine", created: 1_795_000_000, model: "engine-name" };
export const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };

export function chunk(
  choices: ChatCompletionChunk["choices"],
  more: Partial<ChatCompletionChunk> = {},
): ChatCompletionChunk {
  return { ...head, object: "chat.completion.chunk", choices, ...more };
}

/** The chunks of an answer with these words, one per chunk, that ends with its usage. */
export function saying(...words: string[]): ChatCompletionChunk[] {
  return [
    ...words.map((content) => chunk([{ index: 0, delta: { content }, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    chunk([], { usage }),
  ];
}

export function completion(content: string, more: Partial<ChatCompletion> = {}): ChatCompletion {
  const message = { role: "assistant" as const, content };
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
    ...more,
  };
}

export interface ScriptedModel extends ChatModel {
  readonly calls: ChatCall[];
}

interface Script {
  complete?(call: ChatCall): Promise<ChatCompletion> | ChatCompletion;
  stream?(call: ChatCall): AsyncIterable<ChatCompletionChunk>;
}

export function scriptedModel(script: Script): ScriptedModel {
  const calls: ChatCall[] = [];
  return {
    calls,
    async complete(call) {
      calls.push(call);
      return (await script.complete?.(call)) ?? completion("Hello.");
    },
    async *stream(call) {
      calls.push(call);
      yield* script.stream?.(call) ?? saying("Hel", "lo.");
    },
  };
}
