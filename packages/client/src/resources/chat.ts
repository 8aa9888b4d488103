/** `POST /v1/chat/completions`. https://platform.openai.com/docs/api-reference/chat/create */
import type { ChatCompletion, ChatCompletionChunk, ChatRequest } from "../generated/types.ts";
import { createJsonEventDecoder } from "../json-events.ts";
import type { EventStream, Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters, OrUndefined } from "../request.ts";
import { readJson } from "../response.ts";

/** The request's parameters, each of which may also be undefined, and those that control the client. */
export interface ChatCompletionParams
  extends
    CallParameters,
    OrUndefined<Omit<ChatRequest, "extra_body" | "messages" | "model">>,
    Pick<ChatRequest, "messages" | "model"> {}

type Streaming = boolean | null | undefined;

/** What a call returns, depending on its parameter `stream`. */
export type ChatResult<M extends Mode, Stream extends Streaming> = Stream extends true
  ? EventStream<M, ChatCompletionChunk>
  : ChatCompletion;

export interface ChatCompletions<M extends Mode> {
  /**
   * Generates a response to a conversation: with `stream: true` as chunks while it is generated, otherwise as one
   * completion.
   */
  // Not overloads: for these, the compiler reports one mistake as three.
  create<Stream extends Streaming = undefined>(
    params: ChatCompletionParams & { stream?: Stream },
    options?: CallOptions,
  ): Out<M, ChatResult<M, Stream>>;
}

export interface Chat<M extends Mode> {
  readonly completions: ChatCompletions<M>;
}

export function createChat<M extends Mode>(transport: Transport<M>): Chat<M> {
  const post = { method: "POST", path: "/v1/chat/completions" } as const;

  function create(
    parameters: ChatCompletionParams,
    options?: CallOptions,
  ): Out<M, ChatCompletion> | Out<M, EventStream<M, ChatCompletionChunk>> {
    if (parameters.stream === true) {
      const request = { ...post, accept: "text/event-stream", parameters, options };
      return transport.stream(request, createJsonEventDecoder<ChatCompletionChunk>);
    }
    const request = { ...post, accept: "application/json", parameters, options };
    return transport.send(request, (answer) => readJson(answer) as ChatCompletion);
  }

  // The parameters determine the type of the result.
  return { completions: { create: create as ChatCompletions<M>["create"] } };
}
