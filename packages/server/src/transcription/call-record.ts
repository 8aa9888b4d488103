/** What is learnt of one transcription while it runs: told once, when it is over. */
import type { ErrorCode } from "../errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { LogFields } from "../logger.ts";
import type { Attempt } from "../models/model.ts";
import type { PreparedTranscription } from "./prepare.ts";

/** What is known of a transcription when it is over. */
export interface FinishedTranscription {
  readonly model: string;
  readonly language: string;
  readonly stream: boolean;
  readonly outcome: "ok" | ErrorCode;
  readonly durationMs: number;
  /** Until the first text came from the engine; undefined when none did. */
  readonly firstTextMs: number | undefined;
  /** How much of the recording was heard. */
  readonly audioSeconds: number;
  /** Time from the engine's start to the end over the seconds heard; undefined when nothing was. */
  readonly realTimeFactor: number | undefined;
  /** Mean of the words' confidence, where the engine tells it. */
  readonly confidence: number | undefined;
  readonly characters: number;
  readonly attempts: readonly Attempt[];
}

interface CallContext {
  readonly admission: Admission;
  note(fields: LogFields): void;
  observe(call: FinishedTranscription): void;
}

/** What was learnt by the end. */
interface Outcome {
  readonly audioSeconds: number;
  readonly characters: number;
  readonly confidence: number | undefined;
}

/** For limits that count tokens: a guess for text, and for sound what OpenAI counts (https://platform.openai.com/docs/guides/realtime-costs). */
const charactersPerToken = 4;
const tokensPerSecond = 10;

export class CallRecord {
  readonly attempts: Attempt[] = [];
  prepared: PreparedTranscription | undefined;
  /** Of the recording, for the log. */
  encoding: string | undefined;
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  #engineStartMs: number | undefined;
  #firstTextMs: number | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  onEngineStart(): void {
    this.#engineStartMs = performance.now();
  }

  onText(): void {
    this.#firstTextMs ??= performance.now() - this.#startMs;
  }

  end(outcome: "ok" | ErrorCode, { audioSeconds, characters, confidence }: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    const { admission, note, observe } = this.#context;
    const tokens = Math.ceil(characters / charactersPerToken) + Math.ceil(audioSeconds * tokensPerSecond);
    admission.settle({ tokens });
    const nowMs = performance.now();
    const engineMs = this.#engineStartMs === undefined ? undefined : nowMs - this.#engineStartMs;
    const realTimeFactor = engineMs === undefined || audioSeconds === 0 ? undefined : engineMs / 1_000 / audioSeconds;
    note({
      model: this.prepared?.model,
      language: this.prepared?.language,
      stream: this.prepared?.stream,
      encoding: this.encoding,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_text_ms: rounded(this.#firstTextMs, 1),
      audio_seconds: rounded(audioSeconds, 1),
      real_time_factor: rounded(realTimeFactor, 3),
      confidence: rounded(confidence, 3),
      characters,
    });
    // A request that named no model, or whose fields were wrong, was no transcription.
    if (this.prepared === undefined) return;
    const { model, language, stream } = this.prepared;
    observe({
      model,
      language,
      stream,
      outcome,
      durationMs: nowMs - this.#startMs,
      firstTextMs: this.#firstTextMs,
      audioSeconds,
      realTimeFactor,
      confidence,
      characters,
      attempts: this.attempts,
    });
  }
}

function rounded(value: number | undefined, decimals: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10 ** decimals) / 10 ** decimals;
}
