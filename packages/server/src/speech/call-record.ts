/** What is learnt of one speech call while it runs: told once, when it is over. */
import { type ErrorCode } from "../errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { LogFields } from "../logger.ts";
import type { Attempt } from "../models/model.ts";
import type { AudioObserver } from "./audio-output.ts";
import type { PreparedSpeech } from "./prepare.ts";
import type { FinishedSpeech } from "./speak.ts";

interface CallContext {
  readonly speech: PreparedSpeech;
  readonly inputTokens: number;
  readonly admission: Admission;
  note(fields: LogFields): void;
  observe(call: FinishedSpeech): void;
}

export class CallRecord implements AudioObserver {
  readonly attempts: Attempt[] = [];
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

  end(outcome: "ok" | ErrorCode): void {
    if (this.#ended) return;
    this.#ended = true;
    const { speech, inputTokens, admission } = this.#context;
    // What failed at once cost nothing.
    admission.settle({ tokens: this.#firstAudioMs === undefined ? 0 : inputTokens });
    const stream = speech.delivery !== "whole";
    const { model, voice, format } = speech;
    const characters = speech.input.length;
    this.#context.note({
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
      model,
      voice,
      format,
      stream,
      outcome,
      characters,
      durationMs: performance.now() - this.#startMs,
      firstAudioMs: this.#firstAudioMs,
      audioSeconds: this.#audioSeconds,
      attempts: this.attempts,
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
