/** Defines the messages between the server and a model's process, as JSON over Node's IPC channel. */
import type { ErrorCode } from "../../errors.ts";
import type { Pooling } from "../../model-files/gguf-purpose.ts";
import type { PromptLimit } from "./prompt-limit.ts";

/** A chat call with every parameter checked and spelled out. */
export interface Generation {
  readonly messages: readonly TemplateMessage[];
  /** Instead of the messages: what the model continues, without its template. */
  readonly rawPrompt?: string;
  /** Tools that the model may call; empty when it must not. */
  readonly tools: readonly GenerationTool[];
  /** `required`: at least one call; a name: that function. */
  readonly toolChoice: "auto" | "required" | { readonly name: string };
  readonly parallelToolCalls: boolean;
  readonly format: "text" | "json_object" | { readonly schema: Record<string, unknown> };
  readonly choices: number;
  readonly maximumTokens: number | undefined;
  readonly stop: readonly string[];
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly promptLogprobs: number | undefined;
  readonly sampling: SamplingSettings;
  /** Whose call it is: groups take turns. See `fairnessKey` of a call. */
  readonly group: string;
  /** Further variables for the chat template (`chat_template_kwargs`). */
  readonly templateVariables: Readonly<Record<string, unknown>>;
}

/** A message in the form that chat templates expect. */
export interface TemplateMessage {
  readonly role: string;
  readonly content: string;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export interface GenerationTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: Record<string, unknown> | undefined;
  /** Whether arguments must follow the schema in every keyword. */
  readonly strict: boolean;
}

export interface SamplingSettings {
  /** 0: always the likeliest token. */
  readonly temperature: number;
  readonly topP: number;
  /** 0: no limit. */
  readonly topK: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** Token and what is added to its logit. */
  readonly bias: readonly (readonly [token: number, logit: number])[];
  readonly seed: number | undefined;
}

export interface AlternativeLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: number[];
}

export interface TokenLogprob extends AlternativeLogprob {
  readonly top_logprobs: AlternativeLogprob[];
}

/** vLLM's form: by token ID; null for the first token, which nothing predicts. */
export type PromptLogprobs = (Record<
  string,
  { readonly logprob: number; readonly rank: number | null; readonly decoded_token: string }
> | null)[];

export type GenerationEvent =
  | {
      readonly kind: "started";
      readonly promptTokens: number;
      readonly promptLogprobs?: PromptLogprobs;
    }
  | { readonly kind: "text"; readonly choice: number; readonly text: string; readonly logprobs?: TokenLogprob[] }
  | {
      readonly kind: "tool_call";
      readonly choice: number;
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | { readonly kind: "arguments"; readonly choice: number; readonly index: number; readonly text: string }
  | {
      readonly kind: "finished";
      readonly choice: number;
      readonly reason: "stop" | "length" | "tool_calls";
      readonly completionTokens: number;
      readonly cachedTokens: number;
    };

/** A text on its way to a model that embeds. */
export interface EmbeddingInput {
  /** A text, or its tokens. */
  readonly text: string | readonly number[];
  /** What errors call it: `input`, or `input[3]`. */
  readonly param: string;
  readonly dimensions: number | undefined;
  /** As in `Generation`. */
  readonly group: string;
}

/** The answer to an `EmbeddingInput`. */
export interface EmbeddedInput {
  readonly kind: "embedded";
  /** 32-bit floats in base64, in the byte order of this machine. */
  readonly vector: string;
  /** With those that the model adds. */
  readonly tokens: number;
}

/** What a model does, as its file or the configuration says. */
export type ModelPurpose = "chat" | "embeddings";

/** Used if the file does not contain the training context size, and as the maximum default. */
export const defaultContextSize = 8192;

/** The same for a model that embeds: llama.cpp may keep 4 bytes per token of the text and entry of the vocabulary. */
export const defaultEmbeddingTokens = 2048;

/** How to load a model. */
export interface LoadSettings {
  readonly path: string;
  readonly contextSize: number | undefined;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: false | "auto" | "cuda" | "vulkan" | "metal";
  readonly gpuLayers: number | undefined;
  readonly chatTemplate: string | undefined;
  /** Undefined: the model embeds if its file says so. */
  readonly embeddings: EmbeddingSettings | undefined;
}

export interface EmbeddingSettings {
  /** Undefined: as the file says. */
  readonly pooling: Pooling | undefined;
  /** Whether vectors are scaled to length 1. */
  readonly normalize: boolean;
  /** Smallest number of components to which vectors may be cut; undefined: they may not. */
  readonly minimumDimensions: number | undefined;
}

export type ToModel =
  | { readonly type: "load"; readonly settings: LoadSettings }
  | { readonly type: "generate"; readonly call: number; readonly generation: Generation }
  | { readonly type: "embed"; readonly call: number; readonly input: EmbeddingInput }
  /** The reader has taken this many events of the call. */
  | { readonly type: "taken"; readonly call: number; readonly count: number }
  | { readonly type: "cancel"; readonly call: number };

export type FromModel =
  | {
      readonly type: "ready";
      readonly purpose: ModelPurpose;
      readonly promptLimit: PromptLimit;
      readonly device: string;
    }
  | { readonly type: "event"; readonly call: number; readonly event: ModelEvent }
  | { readonly type: "ended"; readonly call: number }
  | { readonly type: "failed"; readonly call: number; readonly error: WireError }
  /** The model cannot be loaded; the process ends. */
  | { readonly type: "unusable"; readonly error: WireError }
  | { readonly type: "log"; readonly level: "warn" | "error"; readonly message: string };

export type ModelEvent = GenerationEvent | EmbeddedInput;

export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param?: string | undefined;
  /** As in `AppError`. */
  readonly lasting?: boolean;
}

/** How many events of a call may be on their way before the model waits for its reader. */
export const eventWindow = 64;
