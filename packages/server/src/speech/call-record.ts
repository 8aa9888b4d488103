/** Collects the data of one speech call while it runs, and reports it when it ends. */
import type { SpeechRequest } from "../api/speech-request.ts";
import type { AppError } from "../errors.ts";
import type { CallStart, FinishedSpeech } from "../finished-call.ts";
import { callerOf, type CallerFields } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt } from "../engines/engine.ts";
import type { CallCost, CallCosts } from "../pricing/call-costs.ts";
import { lastModel } from "../pricing/priced-model.ts";
import type { AudioObserver } from "./audio-output.ts";
import type { PreparedSpeech } from "./prepare.ts";

type CallInput = Pick<RouteInput<SpeechRequest>, "body" | CallerFields | "note">;

/** The record of a call that was refused before it reached a model. */
export function refusedSpeech(input: CallInput, start: CallStart, error: AppError): FinishedSpeech {
  const { model, voice, response_format: format, stream, input: text } = input.body;
  return {
    ...callerOf(input),
    kind: "speech",
    model,
    voice,
    format: format ?? "wav",
    stream: stream === true,
    input: text,
    characters: text.length,
    startUnixMs: start.unixMs,
    durationMs: performance.now() - start.monotonicMs,
    error,
    refused: true,
    firstAudioMs: undefined,
    audioSeconds: 0,
    attempts: [],
    cost: undefined,
  };
}

interface CallContext {
  readonly speech: PreparedSpeech;
  readonly inputTokens: number;
  readonly admission: Admission;
  readonly input: CallInput;
  readonly costs: CallCosts;
  observe(call: FinishedSpeech): void;
}

export class CallRecord implements AudioObserver {
  readonly attempts: Attempt[] = [];
  readonly #startUnixMs = Date.now();
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  #firstAudioMs: number | undefined;
  #audioSeconds = 0;
  #cost: CallCost | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  onSpeech(seconds: number): void {
    this.#firstAudioMs ??= performance.now() - this.#startMs;
    this.#audioSeconds += seconds;
  }

  /** What the answer tells of the cost once the call has ended; undefined if it is not known or not to be told. */
  get toldCost(): CallCost | undefined {
    return this.#context.costs.areTold ? this.#cost : undefined;
  }

  /** @param error what ended the call; absent on success */
  end(error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { speech, inputTokens, admission, input, costs } = this.#context;
    // A call without audio costs nothing.
    const hasAudio = this.#firstAudioMs !== undefined;
    const used = { characters: speech.input.length, outputSeconds: this.#audioSeconds };
    if (hasAudio) this.#cost = costs.of(input.scope.key, lastModel(this.attempts, speech.model), used);
    admission.settle({ tokens: hasAudio ? inputTokens : 0, cost: this.#cost });
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
      cost: this.#cost?.total,
      price: this.#cost?.source,
    });
    this.#context.observe({
      ...callerOf(input),
      kind: "speech",
      model,
      voice,
      format,
      stream,
      input: speech.input,
      characters,
      startUnixMs: this.#startUnixMs,
      durationMs: performance.now() - this.#startMs,
      error,
      refused: false,
      firstAudioMs: this.#firstAudioMs,
      audioSeconds: this.#audioSeconds,
      attempts: this.attempts,
      cost: this.#cost,
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
