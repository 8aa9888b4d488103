/**
 * What an engine is to the rest of the server. An engine is a folder beside this file that implements `Engine`;
 * a model is one of its models, ready to be called. Routing wraps models in a model, so callers see no difference.
 */
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { TargetTimeouts } from "../config/engines/timeouts.ts";
import type { ErrorCode } from "../errors.ts";

/** One chat completion call on its way to an engine. */
export interface ChatCall {
  /** The effective request: validated, `extra_body` merged, `modality` renamed to `modalities`. */
  readonly request: ChatRequest;
  /**
   * The request's JSON as the client sent it, and the top-level members in which `request` differs from it
   * (undefined: removed), so that an engine can forward the same bytes with few splices.
   */
  readonly bytes: Buffer;
  readonly changes: Readonly<Record<string, unknown>>;
  /** Aborted when the client goes away or the request's time is up; the engine stops its work at once. */
  readonly signal: AbortSignal;
  /** Sent to engines behind a network as `x-request-id`, so that both logs name the call alike. */
  readonly requestId?: string | undefined;
  /** Told of every attempt at a target, for the log line, the metrics and the traces. */
  onAttempt?(attempt: Attempt): void;
}

/** One try at one target of a route. */
export interface Attempt {
  readonly engine: string;
  readonly model: string;
  readonly outcome: "ok" | ErrorCode;
  readonly startUnixMs: number;
  /** Until the answer, or until the first chunk of a stream. */
  readonly durationMs: number;
}

/**
 * A model that answers chats.
 *
 * Failures are AppErrors: `invalid_request`, `unsupported_parameter` and `context_length_exceeded` for what the
 * caller must change; `rate_limited`, `overloaded`, `upstream_failed` and `upstream_timeout` for what another try
 * or target may heal; `client_closed` after an abort. A parameter that the engine cannot honour is refused by name.
 */
export interface ChatModel {
  complete(call: ChatCall): Promise<ChatCompletion>;
  /**
   * The chunks of an answer, each acceptable to a strict client. The first is yielded when the engine has begun to
   * answer; usage comes in a last chunk with `choices: []` whenever the engine knows it, asked for or not. The
   * iteration ends without an error only if the answer is whole. Leaving the loop cancels the engine's work.
   */
  stream(call: ChatCall): AsyncIterable<ChatCompletionChunk>;
}

/** What `GET /v1/models` tells of a model. */
export interface ModelDescription {
  readonly id: string;
  /** UNIX seconds; 0 when unknown. */
  readonly created: number;
  readonly ownedBy: string;
}

/** A configured source of models. */
export interface Engine {
  /** The engine's name in the configuration. */
  readonly name: string;
  /**
   * The chat model with this upstream name. The name may turn out unknown only when called.
   * `timeouts` stand in place of the engine's own time limits.
   */
  chat?(model: string, timeouts?: TargetTimeouts): ChatModel;
  /** The models that the engine says it has; fails like a call. */
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /** Stops taking calls, ends its processes and connections. */
  close(): Promise<void>;
}
