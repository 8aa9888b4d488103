/**
 * Defines what the engines of this folder need to know about a vendor. All requests, responses and streams go through the
 * AI SDK's language models (https://ai-sdk.dev/providers, specification v4). A vendor's own file creates such a model, and
 * says which parameters it honors and what the adapter omits.
 */
import type { ProviderV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { AppError } from "../../errors.ts";
import type { EmbeddingCall } from "../embedding-model.ts";
import type { ModelDescription } from "../engine.ts";
import type { ChatWire } from "../wire.ts";
import type { JsonObject } from "../../json-object.ts";
import type { ContentSupport } from "./content-part.ts";
import type { ParameterSupport } from "./parameter-support.ts";
import type { ReasoningFormat } from "./reasoning.ts";

/** Sends one HTTP request; the AI SDK's `fetch`. */
export type VendorFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Creates an adapter's models, whose requests go through `fetch`. */
export type ProviderFactory = (fetch: VendorFetch) => Pick<ProviderV4, "languageModel" | "embeddingModel">;

/** Reads JSON from an address of the vendor. */
export type JsonReader = (url: string, headers: Readonly<Record<string, string>>) => Promise<unknown>;

export interface Vendor {
  /** The vendor's name in messages. */
  readonly label: string;
  /** What must never appear in a message. */
  readonly secrets: readonly string[];
  readonly parameters: ParameterSupport;
  readonly content: ContentSupport;
  /** `max_tokens` of a request that sets none; undefined leaves it to the adapter or the vendor. */
  readonly defaultMaxTokens?: number | undefined;
  /** Whether reasoning must come back in the next turn, and in which form. */
  readonly reasoningFormat?: ReasoningFormat;
  /** Loads the adapter, which costs memory and time, when the vendor is first called. */
  load(): Promise<ProviderFactory>;
  /** The adapter's parameters under the vendor's own names. `passThrough`: unknown members of the request. */
  providerOptions(request: ChatRequest, passThrough: JsonObject): SharedV4ProviderOptions;
  /** Where unknown members of a request go: into the vendor's body, or `providerOptions` has put them. */
  readonly passThrough: "body" | "provider options";
  /** Adds to the vendor's body what the adapter omits. */
  completeBody?(body: JsonObject, request: ChatRequest): void;
  /** The error for a request that the vendor would not honor, as the prepared body shows. */
  refuseBody?(body: JsonObject, request: ChatRequest, model: string): AppError | undefined;
  /** Text that the adapter drops, from the raw body of an answer or a raw frame of a stream. */
  readDroppedText?(raw: unknown): string | undefined;
  /** Undefined if the vendor has no models that embed. */
  readonly embeddings?: VendorEmbeddings | undefined;
  /** The wire of ours that the vendor's own API is, for calls that are passed through. */
  readonly wire?: VendorWire | undefined;
  /** The vendor's own list of models; undefined if it offers none. */
  readonly listModels?: ((read: JsonReader) => Promise<readonly ModelDescription[]>) | undefined;
}

/** What a request for embeddings asks for, besides its texts. */
export type EmbeddingParameters = Pick<EmbeddingCall, "dimensions" | "others">;

export interface VendorEmbeddings {
  /** Most texts of one request. */
  mostInputs(model: string): number;
  /**
   * The request's parameters under the adapter's names.
   * @throws AppError unsupported_parameter for a parameter, or a value, that the model does not honor
   */
  providerOptions(model: string, parameters: EmbeddingParameters): SharedV4ProviderOptions;
}

export interface VendorWire {
  readonly name: ChatWire;
  /** Address of the API, including the version. */
  readonly baseUrl: string;
  /** Names and values in turn; credentials among them. */
  readonly headers: readonly string[];
  /** For calls that do not have these. */
  readonly defaultHeaders: Readonly<Record<string, string>>;
}
