/** The record of an inference call that has ended: written by the use cases, read by telemetry and metrics. */
import type { ChatUsage, FinishReason } from "./api/chat-answer.ts";
import type { ChatRequest } from "./api/chat-request.ts";
import type { Attempt } from "./engines/engine.ts";
import type { AppError, ErrorCode } from "./errors.ts";
import type { GuardReport } from "./guardrails/chat-guard.ts";
import type { Caller } from "./http/caller.ts";
import type { CallCost } from "./pricing/call-costs.ts";

/** When a call started, by the calendar and by the clock that measures durations. */
export interface CallStart {
  readonly unixMs: number;
  /** Of `performance.now()`. */
  readonly monotonicMs: number;
}

interface CallResult extends Caller {
  /** As requested. */
  readonly model: string;
  readonly stream: boolean;
  readonly startUnixMs: number;
  readonly durationMs: number;
  /** Undefined if the call succeeded. */
  readonly error: AppError | undefined;
  /** Whether it failed before it reached a model: it was malformed, or model access or limits did not allow it. */
  readonly refused: boolean;
  readonly attempts: readonly Attempt[];
  /** Of all attempts together; undefined if it is not known. */
  readonly cost: CallCost | undefined;
}

export interface AnsweredToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The content of one choice. */
export interface AnsweredChoice {
  readonly text: string;
  readonly toolCalls: readonly AnsweredToolCall[];
}

/** A chat answer, or the part that arrived. */
export interface RecordedAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly finishReasons: readonly FinishReason[];
  /** By the choice's index; undefined if the project does not record content. */
  readonly choices: readonly AnsweredChoice[] | undefined;
}

/** Names of OpenTelemetry's `gen_ai.operation.name`. */
export type ChatOperation = "chat" | "text_completion";

export interface FinishedChat extends CallResult {
  readonly kind: "chat";
  readonly operation: ChatOperation;
  readonly request: ChatRequest;
  readonly firstChunkMs: number | undefined;
  readonly usage: ChatUsage | undefined;
  /** Whether a part of the usage is an estimate, because the engine did not report it. */
  readonly isUsageEstimated: boolean;
  /** Undefined if the call was refused. */
  readonly answer: RecordedAnswer | undefined;
  /** Undefined if no guardrail applies to the call. */
  readonly guard: GuardReport | undefined;
}

export interface FinishedSpeech extends CallResult {
  readonly kind: "speech";
  readonly voice: string;
  readonly format: string;
  /** UTF-16 code units of the input. */
  readonly characters: number;
  /** Content: recorded only if the project's settings say so; undefined if it was not kept. */
  readonly input: string | undefined;
  readonly firstAudioMs: number | undefined;
  readonly audioSeconds: number;
}

export interface FinishedTranscription extends CallResult {
  readonly kind: "transcription";
  /** BCP 47 with its region, as requested or as the model found it. */
  readonly language: string;
  readonly firstTextMs: number | undefined;
  /** How much of the recording was read. */
  readonly audioSeconds: number;
  /** Seconds of work per second of audio; undefined if no audio was read. */
  readonly realTimeFactor: number | undefined;
  /** Mean confidence of the words, 0 to 1, if the engine reports it. */
  readonly confidence: number | undefined;
  /** Content: recorded only if the project's settings say so; undefined if it was not kept. */
  readonly text: string | undefined;
}

export interface FinishedEmbeddings extends CallResult {
  readonly kind: "embeddings";
  /** How many texts. */
  readonly inputs: number;
  /** Length of the vectors, if the request names one. */
  readonly dimensions: number | undefined;
  /** Undefined if the engine reports none. */
  readonly tokens: number | undefined;
}

export type FinishedCall = FinishedChat | FinishedSpeech | FinishedTranscription | FinishedEmbeddings;

export function outcomeOf({ error }: Pick<FinishedCall, "error">): "ok" | ErrorCode {
  return error?.code ?? "ok";
}
