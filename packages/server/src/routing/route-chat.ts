/** Presents a route as one chat model. Retries and fallbacks end once a chunk was sent to the caller. */
import type { ChatCompletionChunk } from "../api/chat-answer.ts";
import { AppError } from "../errors.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import type { Target } from "./target.ts";
import { routeAnswer, routeStream, type RoutingOptions } from "./try-routes.ts";

/** @returns a model whose answers carry, as `model`, the ID of the route that answered */
export function createRouteModel(options: RoutingOptions): ChatModel {
  return {
    async complete(call) {
      const { value, modelId } = await routeAnswer(options, call, async (target) => chatOf(target).complete(call));
      value.model = modelId;
      return value;
    },
    stream: (call) => stream(options, call),
  };
}

async function* stream(options: RoutingOptions, call: ChatCall): AsyncGenerator<ChatCompletionChunk, void> {
  for await (const { item, modelId } of routeStream(options, call, (target) => chatOf(target).stream(call))) {
    item.model = modelId;
    yield item;
  }
}

/** Routes that chat have only targets that do; a fallback may be of another kind. */
function chatOf({ chat, model }: Target): ChatModel {
  if (chat !== undefined) return chat;
  throw new AppError("invalid_request", `The model ${JSON.stringify(model)} does not support chat completions.`, {
    param: "model",
  });
}
