/**
 * Transcribes one recording, batch or streaming: prepare, admit, call a model, record.
 * docs/adr/0017-transcription.md
 */
import type { TranscriptionStreamEvent } from "../api/transcription.ts";
import type { TimestampGranularity } from "../api/transcription-request.ts";
import { abortable, sleep } from "../abort.ts";
import type { DecoderPool } from "../audio/decoder-pool.ts";
import type { FfmpegDecoder } from "../audio/ffmpeg-decoder.ts";
import { AppError, toAppError } from "../errors.ts";
import type { FormBody, FormField, FormFile } from "../http/form.ts";
import type { CallerFields } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Admission } from "../limits/admission.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { TranscribedDelta, TranscribedSegment } from "../engines/engine.ts";
import { costHeaders, type CallCosts } from "../pricing/call-costs.ts";
import type { RoutedTranscription } from "../routing/route-transcription.ts";
import type { Scope } from "../tenant.ts";
import type { FinishedTranscription } from "../finished-call.ts";
import { CallRecord, type TranscriptionCost } from "./call-record.ts";
import { toAnswer, type Answer } from "./answer.ts";
import { budgetedCall } from "./budgeted-call.ts";
import { FormRequest } from "./form-request.ts";
import { LateFields } from "./late-fields.ts";
import type { PreparedTranscription } from "./prepare.ts";
import { openRecording, type Recording, type RecordingOptions } from "./recording.ts";
import { inSentences } from "./sentences.ts";
import { usageMembers } from "./usage-members.ts";
import { callTimeLimit, type DefaultTimeout, type TimeLimit } from "./time-limit.ts";
import { Transcript } from "./transcript.ts";

export interface TranscriptionParts {
  /** @throws AppError model_not_found, model_not_allowed, invalid_request */
  resolveModel(scope: Scope, modelId: string): RoutedTranscription;
  readonly limiter: Limiter;
  readonly costs: CallCosts;
  readonly decoders: DecoderPool;
  readonly ffmpeg: FfmpegDecoder;
  /** Maximum duration of a recording. */
  maxAudioSeconds(): number;
  defaultTimeout(): DefaultTimeout;
  /** Whether `response_format` may be `text`, `srt` or `vtt`. */
  allowsTextFormats(): boolean;
  /** Whether capitals and periods are added to text that has none. */
  formatsSentences(): boolean;
  /** The text of a response if nothing was said. */
  silenceText(): "" | null;
  /** Called once for each call whose model is known, refused ones included; must not throw. */
  observe(call: FinishedTranscription): void;
}

export type TranscriptionInput = Pick<RouteInput<unknown>, CallerFields | "signal" | "note"> & {
  readonly form: FormBody;
  /** Whether to translate into English. */
  readonly translates: boolean;
};

type Headers = Readonly<Record<string, string>>;

export type TranscriptionResult =
  | { readonly kind: "answer"; readonly answer: Answer; readonly headers: Headers }
  | {
      readonly kind: "stream";
      readonly events: AsyncIterable<TranscriptionStreamEvent>;
      readonly headers: Headers;
    };

export type Transcribe = (input: TranscriptionInput) => Promise<TranscriptionResult>;

/** How long a stream waits for fields that follow its file. */
const lateFieldsMs = 500;

export function createTranscribe(parts: TranscriptionParts): Transcribe {
  return async (input) => {
    const record = new CallRecord({ input, ...parts });
    const admitted = await admit(input, parts, record);
    const { prepared, model, admission } = admitted;
    const call = new RunningCall(input, { ...admitted, defaultTimeout: parts.defaultTimeout() }, record);
    try {
      const recording = await call.openRecording(admitted.file, {
        limits: { maxSeconds: parts.maxAudioSeconds() },
        decoders: parts.decoders,
        ffmpeg: parts.ffmpeg,
        owner: input.scope.organizationId,
      });
      const plain = (await recording.hasSound()) ? call.callModel(model, input) : nothing();
      const items = parts.formatsSentences() ? inSentences(plain) : plain;
      const headers = admission.headers();
      if (prepared.stream)
        return { kind: "stream", events: call.stream(items), headers: { ...headers, "x-model": model.id } };
      const answer = await call.collect(items, parts.silenceText());
      // A fallback may have answered.
      const names = { "x-model": record.answeredBy ?? model.id };
      return { kind: "answer", answer, headers: { ...headers, ...names, ...costHeaders(call.toldUsage?.cost) } };
    } catch (error) {
      throw await call.fail(error);
    }
  };
}

interface Admitted {
  readonly request: FormRequest;
  readonly prepared: PreparedTranscription;
  /** Number of fields that `prepared` is made of. */
  readonly fieldCount: number;
  readonly file: FormFile;
  readonly model: RoutedTranscription;
  readonly admission: Admission;
}

/**
 * Prepares the request, resolves its model and applies the limits. They apply as soon as the file begins, to bound the number
 * of spooled uploads. A request that proves invalid after that is taken back from them. A refusal is recorded.
 */
async function admit(input: TranscriptionInput, parts: TranscriptionParts, record: CallRecord): Promise<Admitted> {
  const { form, scope, signal, translates } = input;
  try {
    await abortable(form.fileStarted, signal);
    const request = new FormRequest(form, { textFormats: parts.allowsTextFormats(), translates });
    record.prepared = request.soFar;
    // The model is known unless its field follows the file.
    if (request.soFar !== undefined) parts.resolveModel(scope, request.soFar.model);
    const admission = (record.admission = await parts.limiter.admit(scope, { estimatedTokens: 0 }));
    await abortable(untilComplete(request, form), signal);
    const prepared = (record.prepared = request.prepare());
    if (form.file === undefined) {
      throw new AppError("invalid_request", "file is missing; expected the recording.", { param: "file" });
    }
    const fieldCount = form.fields.length;
    const model = parts.resolveModel(scope, prepared.model);
    await parts.limiter.reserve(scope, admission, () => budgetedCall(prepared, input, parts.maxAudioSeconds()));
    return { request, prepared, fieldCount, file: form.file, model, admission };
  } catch (thrown) {
    if (!signal.aborted) record.admission?.cancel();
    const error = toAppError(signal.aborted ? signal.reason : thrown);
    record.end({ audioSeconds: 0, text: "", confidence: undefined, language: undefined }, error);
    throw error;
  }
}

/** One call from its admission to its end. */
class RunningCall {
  readonly #record: CallRecord;
  readonly #prepared: PreparedTranscription;
  readonly #transcript: Transcript;
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal;
  /** Rejects if the upload fails, or if a late field changes the request. */
  readonly #uploaded: Promise<void>;
  readonly #timeLimit: TimeLimit;
  readonly #lateFields: LateFields;
  #ended = false;
  #recording: Recording | undefined;

  constructor(
    { form, signal }: TranscriptionInput,
    { request, prepared, fieldCount, defaultTimeout }: Admitted & { readonly defaultTimeout: DefaultTimeout },
    record: CallRecord,
  ) {
    this.#record = record;
    this.#prepared = prepared;
    this.#lateFields = new LateFields(prepared);
    this.#transcript = new Transcript({ ...prepared, granularities: collectedGranularities(prepared) });
    this.#signal = AbortSignal.any([signal, this.#controller.signal]);
    this.#timeLimit = callTimeLimit({
      timeoutMs: prepared.timeoutMs,
      defaultTimeout,
      audioSeconds: () => this.#recording?.lengthSeconds ?? 0,
      onElapsed: (error) => this.#controller.abort(error),
    });
    this.#uploaded = form.completed.then(() => {
      this.#onUploaded(request, form.fields[fieldCount]);
    });
    this.#uploaded.catch((error: unknown) => this.#controller.abort(error));
  }

  async openRecording(file: FormFile, options: Omit<RecordingOptions, "signal">): Promise<Recording> {
    this.#recording = await openRecording(file, { ...options, signal: this.#signal });
    this.#record.encoding = this.#recording.encoding;
    return this.#recording;
  }

  callModel(
    model: RoutedTranscription,
    { requestId, scope }: Pick<TranscriptionInput, "requestId" | "scope">,
  ): AsyncIterable<TranscribedDelta | TranscribedSegment> {
    const { language, prompt, temperature, chunking, granularities, stream, translates } = this.#prepared;
    this.#record.onEngineStart();
    return model.transcribe({
      audio: this.#recording!,
      language,
      prompt,
      temperature,
      chunking,
      words: granularities.has("word"),
      translates,
      partials: stream,
      signal: this.#signal,
      requestId,
      fairnessKey: scope.organizationId,
      onAttempt: (attempt) => this.#record.attempts.push(attempt),
      onUsage: (usage) => this.#record.onUsage(usage),
    });
  }

  async *stream(
    items: AsyncIterable<TranscribedDelta | TranscribedSegment>,
  ): AsyncGenerator<TranscriptionStreamEvent, void, undefined> {
    let error: AppError | undefined = disconnected;
    try {
      yield* this.#events(items);
      error = undefined;
      yield { ...this.#transcript.done(), ...usageMembers(this.toldUsage) };
    } catch (thrown) {
      error = this.#errorOf(thrown);
      throw error;
    } finally {
      await this.#end(error);
    }
  }

  async collect(items: AsyncIterable<TranscribedDelta | TranscribedSegment>, silenceText: "" | null): Promise<Answer> {
    for await (const event of this.#events(items)) event satisfies TranscriptionStreamEvent;
    const durationSeconds = await this.#recording!.duration();
    await this.#end();
    return toAnswer(this.#transcript, this.#prepared, { durationSeconds, silenceText, told: this.toldUsage });
  }

  get toldUsage(): TranscriptionCost | undefined {
    return this.#record.toldUsage(this.#recording?.readSeconds ?? 0);
  }

  /** Ends a failed call. @returns the error for its caller */
  async fail(thrown: unknown): Promise<AppError> {
    const error = this.#errorOf(thrown);
    await this.#end(error);
    return error;
  }

  /** Errors after an abort are its consequences. */
  #errorOf(thrown: unknown): AppError {
    return toAppError(this.#signal.aborted ? this.#signal.reason : thrown);
  }

  async *#events(
    items: AsyncIterable<TranscribedDelta | TranscribedSegment>,
  ): AsyncGenerator<TranscriptionStreamEvent, void, undefined> {
    for await (const item of items) {
      for (const event of this.#transcript.push(item)) {
        if (event.type === "transcript.text.delta") this.#record.onText();
        yield event;
      }
      this.#lateFields.checkLanguage(this.#transcript.language);
    }
    // An engine may finish before the fields that follow the file have arrived.
    await abortable(this.#uploaded, this.#signal);
  }

  /** The time limit runs from the end of the upload. */
  #onUploaded(request: FormRequest, lateField: FormField | undefined): void {
    if (this.#ended) return;
    if (lateField !== undefined) {
      this.#lateFields.check(request.prepare(), lateField.name);
      this.#lateFields.checkLanguage(this.#transcript.language);
    }
    this.#timeLimit.start();
  }

  async #end(error?: AppError): Promise<void> {
    this.#ended = true;
    this.#timeLimit.stop();
    const { text, confidence, language } = this.#transcript;
    this.#record.end({ audioSeconds: this.#recording?.readSeconds ?? 0, text, confidence, language }, error);
    await this.#recording?.close();
  }
}

/** Subtitles need the times of words to split long segments, if the engine reports them. */
function collectedGranularities({ format, granularities }: PreparedTranscription): ReadonlySet<TimestampGranularity> {
  return format === "srt" || format === "vtt" ? new Set(["word"]) : granularities;
}

const disconnected = new AppError("client_closed", "The client disconnected before the transcription was complete.");

/** Waits until the form is complete or, for a stream, until a moment after its file has begun. */
async function untilComplete(request: FormRequest, form: FormBody): Promise<void> {
  if (!request.asksForStream) return form.completed;
  const timer = new AbortController();
  try {
    await Promise.race([form.completed, sleep(lateFieldsMs, timer.signal)]);
  } finally {
    timer.abort();
  }
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}
