/** Collects the data of one transcription while it runs, and reports it when it ends. */
import type { AppError } from "../errors.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import type { FinishedTranscription } from "../finished-call.ts";
import { callerOf, type CallerFields } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Attempt, TranscriptionUsage } from "../engines/engine.ts";
import type { CallCost, CallCosts } from "../pricing/call-costs.ts";
import { lastModel } from "../pricing/priced-model.ts";
import { noTokens } from "../pricing/token-usage.ts";
import { reportedLanguage, type PreparedTranscription } from "./prepare.ts";

interface CallContext {
  readonly input: Pick<RouteInput<unknown>, CallerFields | "note">;
  readonly costs: CallCosts;
  observe(call: FinishedTranscription): void;
}

/** The transcript at the end of the call. */
interface TranscriptSummary {
  readonly audioSeconds: number;
  readonly text: string;
  readonly confidence: number | undefined;
  /** As the model found it, if it did. */
  readonly language: string | undefined;
}

/** For limits that count tokens: OpenAI's rate for audio (https://platform.openai.com/docs/guides/realtime-costs). */
const tokensPerSecond = 10;

export interface TranscriptionCost {
  readonly cost: CallCost;
  /** What it was computed of. */
  readonly usage: TranscriptionUsage;
}

export class CallRecord {
  readonly attempts: Attempt[] = [];
  /** Undefined until the limits have admitted the call. */
  admission: Admission | undefined;
  /** Undefined until the form's fields make a valid request. */
  prepared: PreparedTranscription | undefined;
  /** The recording's encoding, for the log. */
  encoding: string | undefined;
  readonly #startUnixMs = Date.now();
  readonly #startMs = performance.now();
  readonly #context: CallContext;
  #engineStartMs: number | undefined;
  #firstTextMs: number | undefined;
  #usage: TranscriptionUsage | undefined;
  #ended = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** The model that answered. */
  get answeredBy(): string | undefined {
    return this.attempts.at(-1)?.modelId;
  }

  onEngineStart(): void {
    this.#engineStartMs = performance.now();
  }

  onText(): void {
    this.#firstTextMs ??= performance.now() - this.#startMs;
  }

  onUsage(usage: TranscriptionUsage): void {
    this.#usage = usage;
  }

  /** What the answer tells of its usage, with the cost; undefined if that is not known or not to be told. */
  toldUsage(audioSeconds: number): TranscriptionCost | undefined {
    const { costs } = this.#context;
    const cost = costs.areTold ? this.#costOf(audioSeconds) : undefined;
    return cost === undefined ? undefined : { cost, usage: this.#usage ?? { seconds: audioSeconds } };
  }

  /** Of what an engine answered. */
  #costOf(audioSeconds: number): CallCost | undefined {
    const model = this.prepared?.model;
    if (model === undefined || this.attempts.at(-1)?.outcome !== "ok") return undefined;
    const { seconds: inputSeconds = audioSeconds, tokens } = this.#usage ?? {};
    const used = tokens && {
      ...noTokens,
      inputTokens: tokens.input,
      audioInputTokens: tokens.audioInput,
      outputTokens: tokens.output,
    };
    const { costs, input } = this.#context;
    return costs.of(input.scope.key, lastModel(this.attempts, model), { tokens: used, inputSeconds });
  }

  /** @param error what ended the call; absent on success */
  end(summary: TranscriptSummary, error?: AppError): void {
    if (this.#ended) return;
    this.#ended = true;
    const { input, observe } = this.#context;
    const { audioSeconds, text, confidence } = summary;
    const tokens = estimateTokens(text.length) + Math.ceil(audioSeconds * tokensPerSecond);
    const cost = this.#costOf(audioSeconds);
    this.admission?.settle({ tokens, cost });
    const nowMs = performance.now();
    const engineMs = this.#engineStartMs === undefined ? undefined : nowMs - this.#engineStartMs;
    const realTimeFactor = engineMs === undefined || audioSeconds === 0 ? undefined : engineMs / 1_000 / audioSeconds;
    const { model, stream } = this.prepared ?? {};
    const language = reportedLanguage(this.prepared?.language, summary.language);
    input.note({
      model,
      language: this.prepared === undefined ? undefined : language,
      stream,
      encoding: this.encoding,
      engine: this.attempts.at(-1)?.engine,
      attempts: this.attempts.length,
      first_text_ms: rounded(this.#firstTextMs, 1),
      audio_seconds: rounded(audioSeconds, 1),
      realtime_factor: rounded(realTimeFactor, 3),
      confidence: rounded(confidence, 3),
      characters: text.length,
      cost: cost?.total,
      price: cost?.source,
    });
    // Without a valid request there is no model to report.
    if (model === undefined || stream === undefined) return;
    observe({
      ...callerOf(input),
      kind: "transcription",
      model,
      language,
      stream,
      startUnixMs: this.#startUnixMs,
      durationMs: nowMs - this.#startMs,
      error,
      refused: engineMs === undefined && error !== undefined,
      firstTextMs: this.#firstTextMs,
      audioSeconds,
      realTimeFactor,
      confidence,
      text,
      attempts: this.attempts,
      cost,
    });
  }
}

function rounded(value: number | undefined, decimals: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10 ** decimals) / 10 ** decimals;
}
