/**
 * The use case: one recording written down, whole or while it is understood, admitted by the limits, counted.
 * docs/adr/0017-transcription.md
 */
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { TranscriptionStreamEvent, TranscriptionText, TranscriptionVerbose } from "../api/transcription.ts";
import { abortable } from "../abort.ts";
import type { DecoderPool } from "../audio/decoder-pool.ts";
import { AppError, requestTimedOut, toAppError } from "../errors.ts";
import type { FormBody, FormFile } from "../http/form.ts";
import type { RouteInput } from "../http/route.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { TranscribedDelta, TranscribedSegment } from "../engines/engine.ts";
import type { RoutedTranscription } from "../routing/route-transcription.ts";
import type { Scope } from "../tenant.ts";
import type { FinishedTranscription } from "../finished-call.ts";
import { CallRecord } from "./call-record.ts";
import { toAnswer } from "./answer.ts";
import { asksForStream, prepareTranscription, type PreparedTranscription } from "./prepare.ts";
import { openRecording, type Recording, type RecordingOptions } from "./recording.ts";
import { inSentences } from "./sentences.ts";
import { Transcript } from "./transcript.ts";

export interface TranscriptionParts {
  /** @throws AppError model_not_found, model_not_allowed, invalid_request */
  resolveModel(scope: Scope, modelId: string): RoutedTranscription;
  readonly limiter: Limiter;
  readonly decoders: DecoderPool;
  /** Longest recording. */
  maxAudioSeconds(): number;
  /** Whether text of engines that write no sentences is made into some. */
  makesSentences(): boolean;
  /** Called once for each call whose model is known, refused ones included; must not throw. */
  observe(call: FinishedTranscription): void;
}

export type TranscriptionInput = Pick<RouteInput<unknown>, "scope" | "signal" | "headers" | "requestId" | "note"> & {
  readonly form: FormBody;
};

type Headers = Readonly<Record<string, string>>;

export type TranscriptionResult =
  | { readonly kind: "answer"; readonly answer: TranscriptionText | TranscriptionVerbose; readonly headers: Headers }
  | {
      readonly kind: "stream";
      readonly events: AsyncIterable<TranscriptionStreamEvent>;
      readonly headers: Headers;
    };

export type Transcribe = (input: TranscriptionInput) => Promise<TranscriptionResult>;

/** How long a stream whose fields seem to be there waits for more of them behind the file. */
const lateFieldsMs = 500;

export function createTranscribe(parts: TranscriptionParts): Transcribe {
  return async (input) => {
    const admission = parts.limiter.admit(input.scope, { estimatedTokens: 0 });
    const call = new RunningCall(new CallRecord({ input, admission, observe: parts.observe }));
    try {
      const { prepared, file } = await call.prepare(input);
      const model = parts.resolveModel(input.scope, prepared.model);
      const recording = await call.listen(file, {
        limits: { maxSeconds: parts.maxAudioSeconds() },
        decoders: parts.decoders,
        owner: input.scope.organizationId,
      });
      const plain = (await recording.hasSound()) ? call.ask(model, input) : nothing();
      const items = parts.makesSentences() ? inSentences(plain) : plain;
      const headers = admission.headers();
      if (prepared.stream) return { kind: "stream", events: call.stream(items), headers };
      return { kind: "answer", answer: await call.collect(items), headers };
    } catch (error) {
      throw await call.fail(error);
    }
  };
}

/** One call from its form to its end. */
class RunningCall {
  readonly #record: CallRecord;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** Rejects when the form breaks, or changes what was begun. */
  #uploaded: Promise<void> = Promise.resolve();
  #ended = false;
  #signal: AbortSignal = this.#controller.signal;
  #prepared: PreparedTranscription | undefined;
  #recording: Recording | undefined;
  #transcript: Transcript | undefined;

  constructor(record: CallRecord) {
    this.#record = record;
  }

  /**
   * Waits for the fields. Those of a stream are taken as whole when some time has passed since its file began.
   * @throws AppError as the form does, invalid_request
   */
  async prepare({ form, signal }: TranscriptionInput): Promise<{ prepared: PreparedTranscription; file: FormFile }> {
    this.#signal = AbortSignal.any([signal, this.#controller.signal]);
    await abortable(untilAnswerable(form), signal);
    const fieldCount = form.fields.length;
    const prepared = prepareTranscription(form.fields);
    if (form.file === undefined) {
      throw new AppError("invalid_request", "file is missing; expected the recording.", { param: "file" });
    }
    this.#prepared = this.#record.prepared = prepared;
    this.#transcript = new Transcript(prepared);
    this.#uploaded = form.whole.then(() => this.#onUploaded(form, { prepared, fieldCount }));
    this.#uploaded.catch((error: unknown) => this.#controller.abort(error));
    return { prepared, file: form.file };
  }

  async listen(file: FormFile, options: Omit<RecordingOptions, "signal">): Promise<Recording> {
    this.#recording = await openRecording(file, { ...options, signal: this.#signal });
    this.#record.encoding = this.#recording.encoding;
    return this.#recording;
  }

  ask(
    model: RoutedTranscription,
    { requestId, scope }: Pick<TranscriptionInput, "requestId" | "scope">,
  ): AsyncIterable<TranscribedDelta | TranscribedSegment> {
    const { language, prompt, temperature, chunking, granularities, stream } = this.#prepared!;
    this.#record.onEngineStart();
    return model.transcribe({
      audio: this.#recording!,
      language,
      prompt,
      temperature,
      chunking,
      words: granularities.has("word"),
      partials: stream,
      signal: this.#signal,
      requestId,
      fairnessKey: scope.organizationId,
      onAttempt: (attempt) => this.#record.attempts.push(attempt),
    });
  }

  async *stream(
    items: AsyncIterable<TranscribedDelta | TranscribedSegment>,
  ): AsyncGenerator<TranscriptionStreamEvent, void, undefined> {
    let error: AppError | undefined = left;
    try {
      yield* this.#events(items);
      error = undefined;
      yield this.#transcript!.done();
    } catch (thrown) {
      error = this.#errorOf(thrown);
      throw error;
    } finally {
      await this.#end(error);
    }
  }

  async collect(
    items: AsyncIterable<TranscribedDelta | TranscribedSegment>,
  ): Promise<TranscriptionText | TranscriptionVerbose> {
    for await (const event of this.#events(items)) event satisfies TranscriptionStreamEvent;
    const durationSeconds = await this.#recording!.duration();
    await this.#end();
    return toAnswer(this.#transcript!, this.#prepared!, durationSeconds);
  }

  /** Ends a call that failed. @returns what its caller is told */
  async fail(thrown: unknown): Promise<AppError> {
    const error = this.#errorOf(thrown);
    await this.#end(error);
    return error;
  }

  /** Whatever breaks after the call was given up is a consequence of that. */
  #errorOf(thrown: unknown): AppError {
    return toAppError(this.#signal.aborted ? this.#signal.reason : thrown);
  }

  async *#events(
    items: AsyncIterable<TranscribedDelta | TranscribedSegment>,
  ): AsyncGenerator<TranscriptionStreamEvent, void, undefined> {
    for await (const item of items) {
      for (const event of this.#transcript!.push(item)) {
        if (event.type === "transcript.text.delta") this.#record.onText();
        yield event;
      }
    }
    // An engine may be done with the file before what stands behind it has come.
    await abortable(this.#uploaded, this.#signal);
  }

  /** The recording is there: the time runs from now, and no field may have changed what is asked. */
  #onUploaded(form: FormBody, known: { prepared: PreparedTranscription; fieldCount: number }): void {
    if (this.#ended) return;
    const { timeoutMs } = known.prepared;
    if (!isDeepStrictEqual(prepareTranscription(form.fields), known.prepared)) {
      throw tooLate(form.fields[known.fieldCount]!.name);
    }
    this.#timer = setTimeout(() => this.#controller.abort(requestTimedOut(timeoutMs)), timeoutMs);
  }

  async #end(error?: AppError): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    const { text = "", confidence } = this.#transcript ?? {};
    this.#record.end({ audioSeconds: this.#recording?.heardSeconds ?? 0, text, confidence }, error);
    await this.#recording?.close();
  }
}

const left = new AppError("client_closed", "The client left before the transcription was over.");

function tooLate(name: string): AppError {
  return new AppError(
    "invalid_request",
    `${name} came so long after the beginning of the file that the answer had begun without it; send fields before the file.`,
    { param: name },
  );
}

/** The form is over, or is the beginning of a stream's. */
async function untilAnswerable(form: FormBody): Promise<void> {
  await form.begun;
  if (!asksForStream(form.fields)) return form.whole;
  const timer = new AbortController();
  try {
    await Promise.race([form.whole, delay(lateFieldsMs, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}
