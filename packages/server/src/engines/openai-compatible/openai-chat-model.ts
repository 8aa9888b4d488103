/** Calls a chat model of an OpenAI-compatible API. https://platform.openai.com/docs/api-reference/chat */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../../api/chat-answer.ts";
import type { ChatCall, ChatModel } from "../engine.ts";
import type { ChatWire, WireModel } from "../wire.ts";
import { ChunkStream } from "./chunk-stream.ts";
import { createWireModel } from "../upstream-http/wire-model.ts";
import { requestJson } from "../upstream-http/request-json.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OutgoingRequest } from "../upstream-http/upstream-request.ts";
import { spliceJson } from "../upstream-http/json-splice.ts";
import { isObject } from "../../json-object.ts";
import { createOpenAiTextModel } from "./openai-text-model.ts";
import { normalizeCompletion } from "./normalize-completion.ts";
import { takeUsage } from "./normalize-parts.ts";
import { bodyChanges, isForwarded, refuseUnsupported } from "./request-body.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";

export interface OpenAiChatModelOptions {
  /** The name under which routing knows the model. */
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  readonly limits: TimeLimits;
  readonly unsupportedParameters: readonly string[];
  readonly asksUsage: boolean;
  /** What the upstream speaks besides chat completions. */
  readonly wires: readonly ChatWire[];
  readonly maxAnswerBytes: number;
  readonly maxEventBytes: number;
}

export function createOpenAiChatModel(options: OpenAiChatModelOptions): ChatModel {
  const { endpoint, pool, model, limits } = options;
  const path = endpoint.chatPath(model);
  const wireModel = endpoint.wireModel(model);
  const headers = ["content-type", "application/json", ...endpoint.headers];
  const batchHeaders = [...headers, "accept", "application/json"];
  const streamHeaders = [...headers, "accept", "text/event-stream"];

  const toRequest = (call: ChatCall, isStream: boolean): OutgoingRequest => {
    const own = isStream ? streamHeaders : batchHeaders;
    const changes = bodyChanges(call, { model: wireModel, isStream, asksUsage: options.asksUsage });
    return {
      method: "POST",
      path,
      headers: call.requestId === undefined ? own : [...own, "x-request-id", call.requestId],
      body: spliceJson(call.bytes, changes),
      signal: call.cancellation ?? call.signal,
      limits,
      isStream,
    };
  };

  const readCompletion = (answer: unknown, call: ChatCall): ChatCompletion => {
    try {
      return normalizeCompletion(answer, wireModel);
    } catch (error) {
      const usage = isObject(answer) ? takeUsage(answer) : undefined;
      if (usage !== undefined) call.onUnused?.(usage as unknown as ChatUsage);
      throw error;
    }
  };

  return {
    wires: createWires(options, wireModel),
    forwards: isForwarded,
    completions: createOpenAiTextModel({
      ...options,
      model: wireModel,
      headers: endpoint.headers,
      pathOf: () => endpoint.completionPath(model),
    }),
    async complete(call: ChatCall): Promise<ChatCompletion> {
      refuseUnsupported(call, options.unsupportedParameters);
      const read = (answer: unknown): ChatCompletion => readCompletion(answer, call);
      return requestJson(pool, toRequest(call, false), options.maxAnswerBytes, read);
    },
    stream(call: ChatCall): AsyncIterable<ChatCompletionChunk> {
      refuseUnsupported(call, options.unsupportedParameters);
      return new ChunkStream((reader) => pool.open(toRequest(call, true), reader), wireModel, options);
    },
  };
}

function createWires(
  options: OpenAiChatModelOptions,
  wireModel: string,
): Readonly<Partial<Record<ChatWire, WireModel>>> {
  const { endpoint, model } = options;
  return Object.fromEntries(
    options.wires.map((wire) => [
      wire,
      createWireModel({
        ...options,
        model: wireModel,
        headers: endpoint.headers,
        pathOf: (operation) => endpoint.wirePath(wire, model, operation),
      }),
    ]),
  );
}
