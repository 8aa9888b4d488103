/** Defines how a call goes to an upstream in the wire in which its client sent it. */
import type { AbortSource } from "../cancellation.ts";
import type { JsonObject } from "../json-object.ts";

/** The APIs besides chat completions in which clients chat: OpenAI's Responses and Anthropic's Messages. */
export type ChatWire = "responses" | "messages";

/** A server-sent event of a wire. */
export interface WireEvent {
  /** Undefined for the default type. */
  readonly name: string | undefined;
  /** JSON. */
  readonly data: string;
}

/** A call as its client sent it, for an upstream that speaks the same wire. */
export interface WireCall {
  /** The request's JSON as the client sent it, and the top-level members in which `request` differs from it. */
  readonly bytes: Buffer;
  readonly changes: Readonly<Record<string, unknown>>;
  /** As in `ChatCall`. */
  readonly signal: AbortSignal;
  readonly cancellation?: AbortSource | undefined;
  readonly requestId?: string | undefined;
  readonly fairnessKey?: string | undefined;
  /** The request with its changes; read, never sent. */
  readonly request: JsonObject;
  /** Sent upstream unchanged, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A chat model in a wire that its upstream speaks. Failures are those of a `ChatModel`. */
export interface WireModel {
  complete(call: WireCall): Promise<JsonObject>;
  /**
   * The upstream's events as they came. Leaving the loop cancels the upstream's work.
   * @param isLast whether the answer is complete with the event: its connection is kept for the next call
   */
  stream(call: WireCall, isLast: (event: WireEvent) => boolean): AsyncIterable<WireEvent>;
  /** Another operation on the same request, such as `count_tokens`. */
  ask(operation: string, call: WireCall): Promise<JsonObject>;
}
