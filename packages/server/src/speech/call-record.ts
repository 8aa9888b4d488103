/** What is learnt of one speech call while it runs, and who is told when it is over. */
import type { SpeechRequest } from "../api/speech-request.ts";
import type { AppError, ErrorCode } from "../errors.ts";
import { callerOf, type Caller } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt } from "../engines/engine.ts";
import type { AudioObserver } from "./audio-output.ts";
import type { PreparedSpeech } from "./prepare.ts";

/** What was asked for. */
interface AskedSpeech extends Caller {
  readonly model: string;
  readonly voice: string;
  readonly format: string;
  readonly stream: boolean;
  readonly input: string;
  readonly characters: number;
  readonly startUnixMs: number;
  readonly durationMs: number;
}

/** A call that no model was asked for: it was malformed, or its model or its limits did not allow it. */
export interface RefusedSpeech extends AskedSpeech {
  readonly error: AppError;
}

/** What is known of a speech call when it is over. */
export interface FinishedSpeech extends AskedSpeech {
  readonly outcome: "ok" | ErrorCode;
  /** Absent when it went well. */
  readonly error: AppError | undefined;
  /** Until the first audio came from the engine; undefined when none did. */
  readonly firstAudioMs: number | undefined;
  readonly audioSeconds: number;
  readonly attempts: readonly Attempt[];
}

type CallInput = Pick<RouteInput<SpeechRequest>, "body" | "scope" | "headers" | "requestId" | "note">;

/** The record of a call as it came, which need not be sound. */
export function refusedSpeech(input: CallInput, startUnixMs: number, error: AppError): RefusedSpeech {
  const { model, voice, response_format: format, stream, input: text } = input.body;
  return {
    ...callerOf(input),
    model,
    voice,
    format: format ?? "wav",
    stream: stream === true,
    input: text,
    characters: text.length,
    startUnixMs,
    durationMs: Date.now() - startUnixMs,
    error,
  };
}

interface CallContext {
  readonly speech: PreparedSpeech;
  readonly inputTokens: number;
  readonly admission: Admission;
  readonly input: CallInput;
  observe(call: FinishedSpeech): void;
}

export class CallRecord implements AudioObserver {
  readonly attempts: Attempt[] = [];
  readonly #startUnixMs = Date.now();
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  #firstAudioMs: number | undefined;
  #audioSeconds = 0;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  onSpeech(seconds: number): void {
    this.#firstAudioMs ??= performance.now() - this.#startMs;
    this.#audioSeconds += seconds;
  }

  /** @param error what ended the call; absent when it went well */
  end(error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { speech, inputTokens, admission, input } = this.#context;
    // What failed at once cost nothing.
    admission.settle({ tokens: this.#firstAudioMs === undefined ? 0 : inputTokens });
    const stream = speech.delivery !== "whole";
    const { model, voice, format } = speech;
    const characters = speech.input.length;
    input.note({
      model,
      voice,
      format,
      stream,
      characters,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_audio_ms: this.#firstAudioMs === undefined ? undefined : rounded(this.#firstAudioMs),
      audio_seconds: rounded(this.#audioSeconds),
    });
    this.#context.observe({
      ...callerOf(input),
      model,
      voice,
      format,
      stream,
      input: speech.input,
      characters,
      startUnixMs: this.#startUnixMs,
      durationMs: performance.now() - this.#startMs,
      outcome: error?.code ?? "ok",
      error,
      firstAudioMs: this.#firstAudioMs,
      audioSeconds: this.#audioSeconds,
      attempts: this.attempts,
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
