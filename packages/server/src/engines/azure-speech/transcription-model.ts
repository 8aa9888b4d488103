/**
 * Transcribes with Azure's fast transcription: a whole recording in one request, with word times and speakers.
 * https://learn.microsoft.com/azure/ai-services/speech-service/fast-transcription-create
 */
import type { TranscribedSegment, TranscribedWord, TranscriptionCall, TranscriptionModel } from "../engine.ts";
import { requestJson } from "../upstream-http/request-json.ts";
import { languageTag } from "../upstream-http/language-tag.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import { multipartBody } from "../upstream-http/multipart-body.ts";
import { invalidTranscription } from "../upstream-http/invalid-response.ts";
import { SpeakerNumbers } from "../upstream-http/speaker-numbers.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import { measureWav, type RecordedWav } from "../upstream-http/recorded-wav.ts";

export interface AzureTranscriptionModelOptions {
  readonly pool: ConnectionPool;
  readonly path: string;
  readonly headers: readonly string[];
  readonly limits: TimeLimits;
  readonly maxAnswerBytes: number;
  readonly maxSpeakers: number | undefined;
}

/** Neither request nor response streams: the recording is sent once it is complete. */
export function createAzureTranscriptionModel(options: AzureTranscriptionModelOptions): TranscriptionModel {
  return {
    givesWords: true,
    async *transcribe(call) {
      const wav = await measureWav(call.audio, call.signal);
      if (wav.durationMs === 0) return;
      const phrases = readPhrases(await ask(wav, call, options));
      yield* call.language === undefined ? phrases : phrases.map((phrase) => ({ ...phrase, language: undefined }));
    },
  };
}

function ask(wav: RecordedWav, call: TranscriptionCall, options: AzureTranscriptionModelOptions): Promise<unknown> {
  const { pool, path, headers, limits, maxAnswerBytes, maxSpeakers } = options;
  const definition = {
    // Without them the service identifies the language.
    ...(call.language === undefined ? {} : { locales: [call.language] }),
    // Otherwise the service replaces words by asterisks.
    profanityFilterMode: "None",
    ...(maxSpeakers === undefined ? {} : { diarization: { enabled: true, maxSpeakers } }),
  };
  const file = { field: "audio", fileName: "audio.wav", mediaType: "audio/wav", ...wav };
  const body = multipartBody([["definition", JSON.stringify(definition)]], file);
  const id = call.requestId === undefined ? [] : ["x-request-id", call.requestId];
  return requestJson(
    pool,
    {
      method: "POST",
      path,
      headers: ["content-type", body.contentType, ...headers, "accept", "application/json", ...id],
      body,
      signal: call.signal,
      limits,
      isStream: false,
    },
    maxAnswerBytes,
  );
}

/** @throws AppError upstream_failed */
function readPhrases(answer: unknown): TranscribedSegment[] {
  const phrases = isObject(answer) ? answer["phrases"] : undefined;
  if (!Array.isArray(phrases)) throw invalidTranscription("it has no phrases");
  const speakers = new SpeakerNumbers();
  return phrases.map((phrase: unknown) => {
    if (!isObject(phrase)) throw invalidTranscription("a phrase is not an object");
    const { confidence, words, locale } = phrase;
    return {
      kind: "segment",
      ...readPart(phrase),
      words: Array.isArray(words) ? words.map(readWord) : [],
      avgLogprob: typeof confidence === "number" && confidence > 0 ? Math.log(confidence) : undefined,
      speaker: speakers.of(phrase["speaker"]),
      language: languageTag(locale),
    };
  });
}

function readWord(word: unknown): TranscribedWord {
  if (!isObject(word)) throw invalidTranscription("a word is not an object");
  return { ...readPart(word), confidence: undefined };
}

function readPart(part: JsonObject): { text: string; startMs: number; endMs: number } {
  const { text, offsetMilliseconds: startMs, durationMilliseconds: durationMs } = part;
  if (typeof text !== "string") throw invalidTranscription("a part has no text");
  if (typeof startMs !== "number" || typeof durationMs !== "number") throw invalidTranscription("a part has no times");
  return { text, startMs: Math.max(0, startMs), endMs: Math.max(0, startMs + durationMs) };
}
