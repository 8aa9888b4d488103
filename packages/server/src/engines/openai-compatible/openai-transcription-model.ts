/**
 * Calls a transcription model of an OpenAI-compatible API.
 * https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
import type { TranscriptionForm } from "../../config/engines/openai-compatible.ts";
import { SseDecoder, type SseEvent } from "../../streams/sse-decoder.ts";
import type { TranscribedDelta, TranscribedSegment, TranscriptionCall, TranscriptionModel } from "../engine.ts";
import { isObject } from "../../json-object.ts";
import { languageTag } from "../upstream-http/language-tag.ts";
import { measureWav, type RecordedWav } from "../upstream-http/recorded-wav.ts";
import { FruitlessBytes } from "../upstream-http/fruitless-bytes.ts";
import { BodyCollector } from "../upstream-http/body-collector.ts";
import { streamBytes } from "../upstream-http/byte-stream.ts";
import { requestJson, parseResponse, responseTooLarge } from "../upstream-http/request-json.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OutgoingRequest } from "../upstream-http/upstream-request.ts";
import { multipartBody } from "../upstream-http/multipart-body.ts";
import { invalidTranscription } from "../upstream-http/invalid-response.ts";
import { readTranscription } from "./read-transcription.ts";
import { refuseGiven } from "./request-body.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import { TranscriptionEvents } from "./transcription-events.ts";
import { transcriptionUsage } from "./transcription-usage.ts";

export interface OpenAiTranscriptionModelOptions {
  /** The name under which routing knows the model. */
  readonly model: string;
  /** Undefined: derived from the model's name. */
  readonly form: TranscriptionForm | undefined;
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  readonly limits: TimeLimits;
  readonly unsupportedParameters: readonly string[];
  readonly maxAnswerBytes: number;
  readonly maxEventBytes: number;
}

type Items = AsyncGenerator<TranscribedDelta | TranscribedSegment, void, undefined>;

/**
 * Models that return times are called in batch mode, since none of them streams; the others stream on request.
 * The recording is sent once it is complete.
 */
export function createOpenAiTranscriptionModel(options: OpenAiTranscriptionModelOptions): TranscriptionModel {
  const form = options.form ?? formOf(options.model);
  return {
    givesWords: form === "verbose_json",
    // The servers themselves know which others do.
    translates: form !== "diarized_json",
    async *transcribe(call) {
      refuseGiven(
        { prompt: call.prompt, temperature: call.temperature, chunking_strategy: call.chunking },
        options.unsupportedParameters,
      );
      const wav = await measureWav(call.audio, call.signal);
      if (wav.durationMs === 0) return;
      const isStream = call.partials && call.translates !== true && form !== "verbose_json";
      const request = toRequest(wav, call, { ...options, form, isStream });
      if (isStream) yield* readStream(request, { wav, call, options });
      else {
        const answer = await requestJson(options.pool, request, options.maxAnswerBytes);
        reportUsage(answer, call);
        const found = call.language === undefined && isObject(answer) ? languageTag(answer["language"]) : undefined;
        for (const segment of checkWords(readTranscription(answer, wav), call)) yield { ...segment, language: found };
      }
    },
  };
}

function formOf(model: string): TranscriptionForm {
  if (/transcribe-diarize/i.test(model)) return "diarized_json";
  return /-transcribe|voxtral/i.test(model) ? "json" : "verbose_json";
}

interface RequestOptions extends OpenAiTranscriptionModelOptions {
  readonly form: TranscriptionForm;
  readonly isStream: boolean;
}

function toRequest(wav: RecordedWav, call: TranscriptionCall, options: RequestOptions): OutgoingRequest {
  const { endpoint, model, limits, isStream } = options;
  const body = multipartBody(fieldsOf(call, options), {
    field: "file",
    fileName: "audio.wav",
    mediaType: "audio/wav",
    ...wav,
  });
  const id = call.requestId === undefined ? [] : ["x-request-id", call.requestId];
  const accept = isStream ? "text/event-stream, application/json" : "application/json";
  return {
    method: "POST",
    path: call.translates === true ? endpoint.translationPath(model) : endpoint.transcriptionPath(model),
    headers: ["content-type", body.contentType, ...endpoint.headers, "accept", accept, ...id],
    body,
    signal: call.signal,
    limits,
    isStream,
  };
}

/** Nested members and lists are spelled as OpenAI's own clients spell them. */
function fieldsOf(call: TranscriptionCall, options: RequestOptions): (readonly [string, string])[] {
  const { form, isStream, endpoint, model, unsupportedParameters } = options;
  const { prompt, temperature, chunking } = call;
  const isDiarized = form === "diarized_json";
  // Translations have no other parameters.
  const isTranslation = call.translates === true;
  const fields: [name: string, value: string | undefined][] = [
    ["model", endpoint.wireModel(model)],
    ["language", isTranslation || call.language === undefined ? undefined : new Intl.Locale(call.language).language],
    ["response_format", form],
    // The diarization model refuses prompts.
    ["prompt", isDiarized ? undefined : prompt],
    ["temperature", temperature?.toString()],
    ["timestamp_granularities[]", form === "verbose_json" && !isTranslation ? "segment" : undefined],
    ["timestamp_granularities[]", form === "verbose_json" && call.words ? "word" : undefined],
    ["chunking_strategy[type]", chunking === undefined ? undefined : "server_vad"],
    ["chunking_strategy[prefix_padding_ms]", chunking?.prefixPaddingMs.toString()],
    ["chunking_strategy[silence_duration_ms]", chunking?.silenceDurationMs.toString()],
    // It takes no recording above 30 s without one.
    ["chunking_strategy", isDiarized && chunking === undefined ? "auto" : undefined],
    ["stream", isStream ? "true" : undefined],
  ];
  return fields.flatMap(([name, value]) =>
    value === undefined || unsupportedParameters.includes(name.replace(/\[.*/, "")) ? [] : [[name, value] as const],
  );
}

/** Servers that do not stream send one JSON object, even for a streaming request. */
async function* readStream(
  request: OutgoingRequest,
  {
    call,
    options,
    wav,
  }: {
    readonly wav: RecordedWav;
    readonly call: TranscriptionCall;
    readonly options: OpenAiTranscriptionModelOptions;
  },
): Items {
  const events = new TranscriptionEvents(wav, (event) => reportUsage(event, call));
  let received: SseEvent[] = [];
  const fruitless = new FruitlessBytes();
  const decoder = new SseDecoder(
    (event) => received.push(event),
    options.maxEventBytes,
    (empty) => fruitless.add(empty),
  );
  let whole: BodyCollector | undefined;
  for await (const { bytes, headers } of streamBytes(options.pool, request)) {
    if (/\bjson\b/i.test(String(headers["content-type"] ?? ""))) {
      whole ??= new BodyCollector(options.maxAnswerBytes);
      if (!whole.push(bytes)) throw responseTooLarge(options.maxAnswerBytes);
      continue;
    }
    decoder.push(bytes);
    for (const event of received) {
      const items = events.push(event);
      if (items.length > 0) fruitless.reset();
      else fruitless.add(event.data.length);
      yield* items;
    }
    received = [];
    if (events.isWhole) return;
  }
  if (whole !== undefined) {
    const answer = parseResponse(whole.text);
    reportUsage(answer, call);
    yield* readTranscription(answer, wav);
    return;
  }
  decoder.end();
  for (const event of received) yield* events.push(event);
  events.end();
}

function reportUsage(answer: unknown, call: TranscriptionCall): void {
  const usage = transcriptionUsage(answer);
  if (usage !== undefined) call.onUsage?.(usage);
}

/** @throws AppError upstream_failed if words are requested and the engine omitted them */
function checkWords(segments: readonly TranscribedSegment[], call: TranscriptionCall): readonly TranscribedSegment[] {
  const isWordless = segments.length > 0 && segments.every(({ words = [] }) => words.length === 0);
  if (call.words && isWordless) throw invalidTranscription("it has no word timings");
  return segments;
}
