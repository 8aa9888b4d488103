/** Defines what another API for chats has to say about its requests, answers and events. Implementations are pure. */
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { ChatWire, WireEvent } from "../engines/wire.ts";
import type { AppError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import type { CallCost } from "../pricing/call-costs.ts";
import type { ChunkTranslation, TranslationOutput } from "./translate-chunks.ts";

/** What every wire's request has. */
export interface WireRequest {
  readonly model: string;
  readonly stream?: boolean | null;
}

export interface WireFormat<Request extends WireRequest> {
  readonly wire: ChatWire;
  /** Headers of the client that upstreams of the wire get unchanged; in lower case. */
  readonly forwardedHeaders: readonly string[];
  /**
   * The chat request that means the same, for models whose upstream does not speak the wire.
   * @throws AppError unsupported_parameter or invalid_request for what a chat request cannot say
   */
  toChatRequest(request: Request): ChatRequest;
  /** What a chat request can say of it, for limits and telemetry. Must not throw. */
  describe(request: Request): ChatRequest;
  fromCompletion(completion: ChatCompletion, request: Request): JsonObject;
  /** Begins the translation of an answer that is streamed. */
  fromChunks(request: Request, output: TranslationOutput): ChunkTranslation;
  /** What an upstream's answer says, for limits and telemetry. */
  readAnswer(answer: JsonObject): ChatCompletion;
  /** Reads the events of one upstream's stream for the same; undefined for events that say nothing of that. */
  createReader(): (event: WireEvent) => ChatCompletionChunk | undefined;
  /** The event with the model's ID as clients know it, if it names the model. */
  withModel(event: WireEvent, modelId: string): WireEvent;
  /** Whether the event tells the usage of the whole answer. */
  hasFinalUsage(event: WireEvent): boolean;
  /** The same event with the cost in its usage, if it is known. */
  withCost(event: WireEvent, cost: CallCost | undefined): WireEvent;
  /** Whether a stream is complete with this event. */
  isLast(event: WireEvent): boolean;
  /** The failure that an event tells. */
  errorIn(event: WireEvent): AppError | undefined;
  /** Tells a failure to the client in the middle of a stream. @param sequence the number of events before it */
  errorEvent(error: AppError, sequence: number): WireEvent;
}
