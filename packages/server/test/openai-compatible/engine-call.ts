/** Opens an engine as the configuration would, and calls it as routing does. */
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { ChatRequest } from "../../src/api/chat-request.ts";
import {
  azureOpenAiEngine,
  openAiCompatibleEngine,
  type AzureOpenAiSettings,
  type OpenAiCompatibleSettings,
} from "../../src/config/engines/openai-compatible.ts";
import type { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import type { ChatCall, ChatModel, ChatEngine } from "../../src/engines/engine.ts";
import {
  createAzureOpenAiEngine,
  createOpenAiCompatibleEngine,
} from "../../src/engines/openai-compatible/openai-compatible-engine.ts";

export const modelName = "upstream-model";

export function openEngine(
  url: string,
  settings: Partial<OpenAiCompatibleSettings> = {},
  logger = silentLogger,
): ChatEngine {
  const whole = { type: "openai_compatible", base_url: `${url}/v1`, api_key: "upstream-secret", ...settings };
  return createOpenAiCompatibleEngine("engine", withDefaults(openAiCompatibleEngine, whole), { logger });
}

export function openAzureEngine(url: string, settings: Partial<AzureOpenAiSettings> = {}): ChatEngine {
  const whole = { type: "azure_openai", base_url: url, api_key: "azure-secret", ...settings };
  return createAzureOpenAiEngine("azure", withDefaults(azureOpenAiEngine, whole), { logger: silentLogger });
}

function withDefaults<S extends TSchema>(schema: S, settings: unknown): Static<S> {
  const whole = Value.Default(schema, settings);
  Value.Assert(schema, whole);
  return whole;
}

export function toCall(
  request: Partial<ChatRequest> & Record<string, unknown> = {},
  { signal = new AbortController().signal, ...more }: Partial<ChatCall> = {},
): ChatCall {
  const whole = { model: "client-model", messages: [{ role: "user" as const, content: "Hello" }], ...request };
  return { request: whole, bytes: Buffer.from(JSON.stringify(whole)), changes: {}, signal, ...more };
}

export function chatModel(engine: ChatEngine): ChatModel {
  const model = engine.chat?.(modelName);
  if (model === undefined) throw new Error("the engine has no chat models");
  return model;
}

/** What a stream returned before it ended, and the error that ended it. */
export interface Collected {
  readonly chunks: readonly ChatCompletionChunk[];
  readonly error: AppError | undefined;
}

export async function collect(stream: AsyncIterable<ChatCompletionChunk>): Promise<Collected> {
  const chunks: ChatCompletionChunk[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
    return { chunks, error: undefined };
  } catch (error) {
    return { chunks, error: error as AppError };
  }
}

/** All content of the choice with this index. */
export function contentOf(chunks: readonly ChatCompletionChunk[], index = 0): string {
  return chunks
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ delta }) => delta.content ?? "")
    .join("");
}

export const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: modelName,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hello", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

/** A chunk with this delta. */
export function chunk(delta: unknown, finishReason: string | null = null): Record<string, unknown> {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: modelName,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}
