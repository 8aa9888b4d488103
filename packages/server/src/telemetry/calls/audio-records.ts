/** Calls that speak and calls that transcribe, as spans and, where something went wrong, a log record. */
import { genAi, sounding } from "./attribute-names.ts";
import { toCallRecords, type CallRecords, type ObservedCall, type ProviderOf } from "./call-records.ts";
import { spokenText, transcribedText } from "./message-content.ts";

/** What is known of a speech synthesis when it is over. */
export interface ObservedSpeech extends ObservedCall {
  readonly model: string;
  readonly voice: string;
  readonly format: string;
  readonly stream: boolean;
  /** UTF-16 code units of the input. */
  readonly characters: number;
  /** Content: recorded only where the project's settings say so. */
  readonly input?: string | undefined;
  readonly firstAudioMs?: number | undefined;
  readonly audioSeconds?: number | undefined;
}

/** What is known of a transcription when it is over. */
export interface ObservedTranscription extends ObservedCall {
  readonly model: string;
  readonly stream: boolean;
  /** BCP 47, as it was asked for. */
  readonly language: string | undefined;
  /** Length of the recording, as far as it was read. */
  readonly audioSeconds?: number | undefined;
  readonly firstTextMs?: number | undefined;
  /** Seconds of work for a second of audio. */
  readonly realTimeFactor?: number | undefined;
  /** Mean confidence of the words, 0 to 1. */
  readonly confidence?: number | undefined;
  /** Content: recorded only where the project's settings say so. */
  readonly text?: string | undefined;
}

/** @param keepContent whether the project's settings say that what is spoken is recorded */
export function toSpeechRecords(call: ObservedSpeech, keepContent: boolean, providerOf: ProviderOf): CallRecords {
  const { model, audioSeconds = 0 } = call;
  const attributes = {
    [genAi.outputType]: "speech",
    [genAi.requestStream]: call.stream ? true : undefined,
    [genAi.requestVoice]: call.voice,
    [sounding.speechFormat]: call.format,
    [sounding.speechCharacters]: call.characters,
    [sounding.timeToFirstAudio]: toSeconds(call.firstAudioMs),
    [sounding.audioDuration]: audioSeconds === 0 ? undefined : audioSeconds,
    [genAi.inputMessages]: keepContent ? spokenText(call.input) : undefined,
  };
  return toCallRecords(
    call,
    { operation: "speech", model, subject: `The speech of ${model}`, attributes, keepContent },
    providerOf,
  );
}

/** @param keepContent whether the project's settings say that what was said is recorded */
export function toTranscriptionRecords(
  call: ObservedTranscription,
  keepContent: boolean,
  providerOf: ProviderOf,
): CallRecords {
  const { model, audioSeconds = 0 } = call;
  const attributes = {
    [genAi.outputType]: "text",
    [genAi.requestStream]: call.stream ? true : undefined,
    [sounding.transcriptionLanguage]: call.language,
    [sounding.audioDuration]: audioSeconds === 0 ? undefined : audioSeconds,
    [sounding.timeToFirstText]: toSeconds(call.firstTextMs),
    [sounding.realtimeFactor]: call.realTimeFactor,
    [sounding.transcriptionConfidence]: call.confidence,
    [genAi.outputMessages]: keepContent ? transcribedText(call.text) : undefined,
  };
  return toCallRecords(
    call,
    { operation: "transcription", model, subject: `The transcription by ${model}`, attributes, keepContent },
    providerOf,
  );
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
