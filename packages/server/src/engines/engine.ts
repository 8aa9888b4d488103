/**
 * Defines the interfaces between engines and the rest of the server. Each folder next to this file implements `Engine`.
 * Routing wraps models in a model, so callers see no difference.
 */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { Capability } from "../api/models.ts";
import type { AbortSource } from "../cancellation.ts";
import type { TargetTimeouts } from "../config/engines/upstream.ts";
import type { AppError, ErrorCode } from "../errors.ts";
import type { EmbeddingModel } from "./embedding-model.ts";
import type { TextCompletionModel } from "./text-completion.ts";
import type { ChatWire, WireModel } from "./wire.ts";

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
  /** Aborted when the client disconnects or the request times out; the engine stops its work at once. */
  readonly signal: AbortSignal;
  /** The source of `signal`, for engines that can do without an `AbortSignal`; absent: the signal itself. */
  readonly cancellation?: AbortSource | undefined;
  /** Sent to remote engines as `x-request-id`, so that both logs have the same ID. */
  readonly requestId?: string | undefined;
  /** Calls with the same key share one turn in the queues of local engines: the organization's ID. Never sent anywhere. */
  readonly fairnessKey?: string | undefined;
  /** Puts the request's long texts in place, of which it has only the beginnings until then; absent: it has them. */
  readonly restoreTexts?: (() => Promise<void>) | undefined;
  /** Called for every attempt at a target, for the log line, the metrics and the traces. */
  onAttempt?(attempt: Attempt): void;
  /** Called with the usage of an answer, or of one of its choices, that fails or is not used: vendors charge for it. */
  onUnused?(usage: ChatUsage): void;
}

/** One try at one target of a route. */
export interface Attempt {
  readonly engine: string;
  readonly model: string;
  /** The model ID that answers carry: of an alias its model, of a fallback its own. */
  readonly modelId: string;
  readonly outcome: "ok" | ErrorCode;
  /** Why it failed. */
  readonly error: AppError | undefined;
  readonly startUnixMs: number;
  /** Until the answer, or until the first chunk of a stream. */
  readonly durationMs: number;
}

/**
 * A model that answers chats.
 *
 * Failures are AppErrors: `invalid_request`, `unsupported_parameter` and `context_length_exceeded` for what the
 * caller must change; `rate_limited`, `overloaded`, `upstream_failed` and `upstream_timeout` for what another try
 * or target may heal; `client_closed` after an abort. A parameter that the engine cannot honor is refused by name.
 */
export interface ChatModel {
  complete(call: ChatCall): Promise<ChatCompletion>;
  /**
   * The chunks of an answer, each acceptable to a strict client. The first is yielded when the engine has started to
   * answer; usage comes in a last chunk with `choices: []` whenever the engine knows it, requested or not. The
   * iteration ends without an error only if the answer is complete. Leaving the loop cancels the engine's work.
   */
  stream(call: ChatCall): AsyncIterable<ChatCompletionChunk>;
  /** Whether the call's bytes are sent as they are, so that its texts need not be in place. Absent: no. */
  forwards?(call: ChatCall): boolean;
  /** The other wires that the upstream speaks. */
  readonly wires?: Readonly<Partial<Record<ChatWire, WireModel>>>;
  /** Absent: the model cannot continue a raw prompt. */
  readonly completions?: TextCompletionModel;
}

/** A voice of a speech model. */
export interface Voice {
  readonly name: string;
  /** BCP 47, the voice's own language first; `*` for a voice that speaks every language. */
  readonly languages: readonly string[];
  readonly gender?: "female" | "male" | "neutral" | undefined;
  readonly description?: string | undefined;
}

/** One speech synthesis on its way to an engine. */
export interface SpeechCall {
  /** As the client wrote it: control characters, lone surrogates and markup included, which an engine must handle safely. */
  readonly input: string;
  /** The name of one of the model's voices, or any name where the model does not know its voices. */
  readonly voice: string;
  /** BCP 47; undefined: the voice's own. */
  readonly language: string | undefined;
  /** How to speak, as free text; refused by models that do not support it. */
  readonly instructions: string | undefined;
  /** 1 is the voice's own pace; the pitch stays. */
  readonly speed: number;
  /** Whether marks and sentences are requested. */
  readonly marks: boolean;
  /** Aborted when the client disconnects or the request times out; the engine stops its work at once. */
  readonly signal: AbortSignal;
  readonly requestId?: string | undefined;
  /** As in `ChatCall`. */
  readonly fairnessKey?: string | undefined;
  onAttempt?(attempt: Attempt): void;
}

/** A position in the input and the time at which it is spoken. Offsets count UTF-16 code units of the input. */
export interface SpeechMark {
  readonly kind: "word" | "punctuation";
  readonly offset: number;
  readonly length: number;
  /** From the first sample of the piece. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** A piece of speech, in the order of the input. */
export interface SpeechPiece {
  /** Hertz; the same in every piece of a call. */
  readonly sampleRate: number;
  /** Mono, −1 to 1. */
  readonly samples: Float32Array<ArrayBuffer>;
  /** The words and signs that begin in this piece, in the order of time. */
  readonly marks: readonly SpeechMark[];
  /** The sentence that begins with this piece. */
  readonly sentence: { readonly offset: number; readonly length: number } | undefined;
}

/** A model that synthesizes speech. Failures are those of a `ChatModel`. */
export interface SpeechModel {
  /** The voices, the default one first; undefined where the engine takes names that are not known here. */
  voices(signal: AbortSignal): Promise<readonly Voice[] | undefined>;
  /** BCP 47, of all voices together, where they are known at once; `*` for any. */
  readonly languages?: readonly string[];
  /** Whether the pieces carry marks; a call that requests them is refused otherwise. */
  readonly givesMarks: boolean;
  /**
   * At least one piece. The iteration ends without an error only if everything was spoken. Leaving the loop cancels
   * the engine's work.
   */
  speak(call: SpeechCall): AsyncIterable<SpeechPiece>;
}

/** A recording, as engines read it. */
export interface RecordedAudio {
  /** Hertz, of the recording itself. */
  readonly sampleRate: number;
  /**
   * Mono samples, −1 to 1, from the beginning and while the upload runs, resampled to `sampleRate` hertz if given. May
   * be opened again for another try as long as not more was read than is kept; fails with `upstream_failed` after that.
   */
  open(sampleRate?: number): AsyncIterable<Float32Array<ArrayBuffer>>;
}

/** One transcription on its way to an engine. */
export interface TranscriptionCall {
  readonly audio: RecordedAudio;
  /**
   * BCP 47 with its region, such as `en-US` (also where the caller wrote `en`); refused by models that do not know it.
   * Undefined: the only language that the model knows; a model that knows several detects it.
   */
  readonly language: string | undefined;
  /** Words or a sentence that the speaker may have used; ignored by engines that do not support it. */
  readonly prompt: string | undefined;
  /** Sampling temperature, 0 to 1; ignored by engines that do not support it. */
  readonly temperature: number | undefined;
  /** How much silence before speech belongs to it, and how much ends it; undefined: the engine's default. */
  readonly chunking: { readonly prefixPaddingMs: number; readonly silenceDurationMs: number } | undefined;
  /** Whether word times are requested, only of models that return them. Engines that know them anyway always return them. */
  readonly words: boolean;
  /** Whether to translate into English, only of models that can; absent: false. */
  readonly translates?: boolean;
  /** Whether to send text as soon as it is stable, before its segment ends. */
  readonly partials: boolean;
  /** Aborted when the client disconnects or the request times out; the engine stops its work at once. */
  readonly signal: AbortSignal;
  readonly requestId?: string | undefined;
  /** As in `ChatCall`. */
  readonly fairnessKey?: string | undefined;
  onAttempt?(attempt: Attempt): void;
  /** Called with what the engine says that it charges for, if it says so. */
  onUsage?(usage: TranscriptionUsage): void;
}

/** Either the tokens or the length of the recording. */
export interface TranscriptionUsage {
  readonly seconds?: number | undefined;
  readonly tokens?: { readonly input: number; readonly audioInput: number; readonly output: number } | undefined;
}

export interface TranscribedWord {
  readonly text: string;
  /** Milliseconds from the start of the recording. */
  readonly startMs: number;
  readonly endMs: number;
  /** 0 to 1. */
  readonly confidence: number | undefined;
}

/** A segment of speech with its final text. */
export interface TranscribedSegment {
  readonly kind: "segment";
  readonly text: string;
  /** Milliseconds from the start of the recording. */
  readonly startMs: number;
  readonly endMs: number;
  /** Undefined where the engine knows none. */
  readonly words: readonly TranscribedWord[] | undefined;
  /** Mean natural logarithm of the words' probabilities, if the engine returns it separately from the words' confidence. */
  readonly avgLogprob: number | undefined;
  /** From 0 in order of first appearance; "unknown" if not identified; undefined if the model does not identify speakers. */
  readonly speaker: number | "unknown" | undefined;
  /** BCP 47, if the engine detected it or knows no other. */
  readonly language: string | undefined;
}

/**
 * Text that is stable before its segment ends. The deltas before a segment, joined, are the beginning of the
 * segment's text; segments are joined by a space where neither side has one.
 */
export interface TranscribedDelta {
  readonly kind: "delta";
  readonly text: string;
}

/** A model that transcribes speech. Failures are those of a `ChatModel`. */
export interface TranscriptionModel {
  /** BCP 47, where they are known at once; `*` for any. */
  readonly languages?: readonly string[];
  /** Whether segments carry words with their times; a call that requests them is refused otherwise. */
  readonly givesWords: boolean;
  /** Whether it can translate into English; absent: it cannot. */
  readonly translates?: boolean;
  /** Segments in order of time; none if there is no speech. Leaving the loop cancels the engine's work. */
  transcribe(call: TranscriptionCall): AsyncIterable<TranscribedDelta | TranscribedSegment>;
}

/** The description of a model in `GET /v1/models`. */
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
   * The chat model with this upstream name; undefined for a model of another kind. An unknown name may be detected only when
   * the model is called. `timeouts` override the engine's own.
   */
  chat?(model: string, timeouts?: TargetTimeouts): ChatModel | undefined;
  /** The same for a speech model. */
  speech?(model: string, timeouts?: TargetTimeouts): SpeechModel | undefined;
  /** The same for a transcription model. */
  transcription?(model: string, timeouts?: TargetTimeouts): TranscriptionModel | undefined;
  /** The same for a model that embeds texts. */
  embeddings?(model: string, timeouts?: TargetTimeouts): EmbeddingModel | undefined;
  /** What a model is listed for, if it is less than what it may be called for. */
  listedFor?(model: string): readonly Capability[];
  /** The models that the engine lists; fails like a call. */
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /** Whether a model of this machine is in memory; absent where no model has to be loaded. */
  isLoaded?(model: string): boolean;
  /** Why a listed model cannot be used as it is configured; its calls fail with this error. */
  problemOf?(model: string): AppError | undefined;
  /** Stops taking calls, ends its processes and connections. */
  close(): Promise<void>;
}

/** An engine that may be called for a chat with every model. */
export interface ChatEngine extends Engine {
  chat(model: string, timeouts?: TargetTimeouts): ChatModel;
}
