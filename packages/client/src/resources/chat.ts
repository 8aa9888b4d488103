/** `POST /v1/chat/completions`. https://platform.openai.com/docs/api-reference/chat/create */
import type { ChatCompletion, ChatCompletionChunk, ChatRequest } from "../generated/types.ts";
import { createJsonEventDecoder } from "../json-events.ts";
import type { EventStream, Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters } from "../request.ts";
import { readJson } from "../response.ts";

/** The request's parameters, each of which may also be undefined, and those that control the client. */
export type ChatCompletionParams = CallParameters & {
  [Name in keyof Omit<ChatRequest, "extra_body" | "messages" | "model">]: ChatRequest[Name] | undefined;
} & Pick<ChatRequest, "messages" | "model">;

/** One message of the conversation. */
export type ChatMessage = ChatRequest["messages"][number];

export interface ChatCompletions<M extends Mode> {
  /**
   * Generates a response to a conversation: with `stream: true` as chunks while it is generated, otherwise as one
   * completion.
   */
  create(
    params: ChatCompletionParams & { stream: true },
    options?: CallOptions,
  ): Out<M, EventStream<M, ChatCompletionChunk>>;
  create(
    params: ChatCompletionParams & { stream?: false | null | undefined },
    options?: CallOptions,
  ): Out<M, ChatCompletion>;
  create(
    params: ChatCompletionParams,
    options?: CallOptions,
  ): Out<M, ChatCompletion> | Out<M, EventStream<M, ChatCompletionChunk>>;
}

export interface Chat<M extends Mode> {
  readonly completions: ChatCompletions<M>;
}

export function createChat<M extends Mode>(transport: Transport<M>): Chat<M> {
  const post = { method: "POST", path: "/v1/chat/completions" } as const;

  function create(
    params: ChatCompletionParams & { stream: true },
    options?: CallOptions,
  ): Out<M, EventStream<M, ChatCompletionChunk>>;
  function create(
    params: ChatCompletionParams & { stream?: false | null | undefined },
    options?: CallOptions,
  ): Out<M, ChatCompletion>;
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

  return { completions: { create } };
}
