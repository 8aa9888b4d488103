/** Presents a route as one chat model. Retries and fallbacks end once a chunk was sent to the caller. */
import { randomUUID } from "node:crypto";
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import { AppError } from "../errors.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import type { Target } from "./target.ts";
import type { RoutedCall } from "./try-route.ts";
import { routeAnswer, routeStream, type RoutingOptions } from "./try-routes.ts";

/** A route as one chat model, for calls in any wire. */
export interface RoutedChat extends ChatModel {
  /** The answer of the first model that gives one, and the ID of its route. */
  answer<T>(
    call: RoutedCall,
    ask: (model: ChatModel, engine: string) => Promise<T>,
  ): Promise<{ value: T; modelId: string }>;
  /** The items of the first model that gives one. @param begin gets the ID of the model's route */
  items<T>(
    call: RoutedCall,
    begin: (model: ChatModel, target: { readonly engine: string; readonly modelId: string }) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined>;
}

/** @returns a model whose answers carry, as `model`, the ID of the route that answered */
export function createRouteModel(options: RoutingOptions): RoutedChat {
  return {
    answer: (call, ask) => routeAnswer(options, call, (target) => ask(chatOf(target), target.engine)),
    items: (call, begin) =>
      routeStream(options, call, (target, modelId) => begin(chatOf(target), { engine: target.engine, modelId })),
    async complete(call) {
      const { value, modelId } = await routeAnswer(options, call, (target) => complete(chatOf(target), call));
      value.id = uniqueId(value.id);
      value.model = modelId;
      return value;
    },
    stream: (call) => stream(options, call),
  };
}

async function* stream(options: RoutingOptions, call: ChatCall): AsyncGenerator<ChatCompletionChunk, void> {
  let id: string | undefined;
  let model = "";
  const chunks = routeStream(options, call, (target, modelId) => {
    model = modelId;
    return begin(chatOf(target), call);
  });
  for await (const chunk of chunks) {
    chunk.id = id ??= uniqueId(chunk.id);
    chunk.model = model;
    yield chunk;
  }
}

function complete(model: ChatModel, call: ChatCall): Promise<ChatCompletion> {
  return needsTexts(model, call) ? call.restoreTexts().then(() => model.complete(call)) : model.complete(call);
}

function begin(model: ChatModel, call: ChatCall): AsyncIterable<ChatCompletionChunk> {
  return needsTexts(model, call) ? streamWithTexts(model, call) : model.stream(call);
}

async function* streamWithTexts(model: ChatModel, call: CutCall): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  await call.restoreTexts();
  yield* model.stream(call);
}

type CutCall = ChatCall & { readonly restoreTexts: () => Promise<void> };

function needsTexts(model: ChatModel, call: ChatCall): call is CutCall {
  return call.restoreTexts !== undefined && model.forwards?.(call) !== true;
}

/** Shorter IDs are not unique: Ollama numbers its responses at random, up to 999. */
const shortestUniqueId = 20;

/** The engine's ID, extended if it does not identify the response: telemetry recognizes a call by it. */
function uniqueId(id: string): string {
  return id.length < shortestUniqueId ? `${id}-${randomUUID().replaceAll("-", "")}` : id;
}

/** Routes that chat have only targets that do; a fallback may be of another kind. */
function chatOf({ chat, model }: Target): ChatModel {
  if (chat !== undefined) return chat;
  throw new AppError("invalid_request", `The model ${JSON.stringify(model)} does not support chat completions.`, {
    param: "model",
  });
}
