/** What is learnt of one transcription while it runs, and who is told when it is over. */
import type { AppError, ErrorCode } from "../errors.ts";
import { callerOf, type Caller } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt } from "../engines/engine.ts";
import type { PreparedTranscription } from "./prepare.ts";

/** What was asked for. */
interface AskedTranscription extends Caller {
  readonly model: string;
  readonly language: string | undefined;
  readonly stream: boolean;
  readonly startUnixMs: number;
  readonly durationMs: number;
}

/** A call that no model was asked for: its fields were wrong, or its model or its recording could not be used. */
export interface RefusedTranscription extends AskedTranscription {
  readonly error: AppError;
}

/** What is known of a transcription when it is over. */
export interface FinishedTranscription extends AskedTranscription {
  readonly outcome: "ok" | ErrorCode;
  /** Absent when it went well. */
  readonly error: AppError | undefined;
  /** Until the first text came from the engine; undefined when none did. */
  readonly firstTextMs: number | undefined;
  /** How much of the recording was heard. */
  readonly audioSeconds: number;
  /** Time from the engine's start to the end over the seconds heard; undefined when nothing was. */
  readonly realTimeFactor: number | undefined;
  /** Mean of the words' confidence, where the engine tells it. */
  readonly confidence: number | undefined;
  readonly text: string;
  readonly attempts: readonly Attempt[];
}

interface CallContext {
  readonly input: Pick<RouteInput<unknown>, "scope" | "headers" | "requestId" | "note">;
  readonly admission: Admission;
  observe(call: FinishedTranscription): void;
  observeRefusal(call: RefusedTranscription): void;
}

/** What was understood by the end. */
interface Understood {
  readonly audioSeconds: number;
  readonly text: string;
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
  readonly #startUnixMs = Date.now();
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

  /** @param error what ended the call; absent when it went well */
  end(understood: Understood, error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { input, admission, observe, observeRefusal } = this.#context;
    const { audioSeconds, text, confidence } = understood;
    const tokens = Math.ceil(text.length / charactersPerToken) + Math.ceil(audioSeconds * tokensPerSecond);
    admission.settle({ tokens });
    const nowMs = performance.now();
    const engineMs = this.#engineStartMs === undefined ? undefined : nowMs - this.#engineStartMs;
    const realTimeFactor = engineMs === undefined || audioSeconds === 0 ? undefined : engineMs / 1_000 / audioSeconds;
    const { model, language, stream } = this.prepared ?? {};
    input.note({
      model,
      language,
      stream,
      encoding: this.encoding,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_text_ms: rounded(this.#firstTextMs, 1),
      audio_seconds: rounded(audioSeconds, 1),
      realtime_factor: rounded(realTimeFactor, 3),
      confidence: rounded(confidence, 3),
      characters: text.length,
    });
    // Fields that are wrong name no model that could be told of.
    if (model === undefined || stream === undefined) return;
    const { attempts } = this;
    const asked = {
      ...callerOf(input),
      model,
      language,
      stream,
      startUnixMs: this.#startUnixMs,
      durationMs: nowMs - this.#startMs,
    };
    if (engineMs === undefined && error !== undefined) return observeRefusal({ ...asked, error });
    const firstTextMs = this.#firstTextMs;
    const outcome = error?.code ?? "ok";
    observe({ ...asked, outcome, error, firstTextMs, audioSeconds, realTimeFactor, confidence, text, attempts });
  }
}

function rounded(value: number | undefined, decimals: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10 ** decimals) / 10 ** decimals;
}
