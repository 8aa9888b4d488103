/** Turns speech and transcription calls into spans and, if they failed, a log record. */
import type { FinishedSpeech, FinishedTranscription } from "../../finished-call.ts";
import { genAi, sounding } from "./attribute-names.ts";
import { toCallRecords, type CallRecords, type ProviderOf } from "./call-records.ts";
import { spokenText, transcribedText } from "./message-content.ts";

/** @param keepContent whether the project records the spoken text */
export function toSpeechRecords(call: FinishedSpeech, keepContent: boolean, providerOf: ProviderOf): CallRecords {
  const { model, audioSeconds } = call;
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
  return toCallRecords(call, { subject: `Speech synthesis with ${model}`, attributes, keepContent }, providerOf);
}

/** @param keepContent whether the project records the transcribed text */
export function toTranscriptionRecords(
  call: FinishedTranscription,
  keepContent: boolean,
  providerOf: ProviderOf,
): CallRecords {
  const { model, audioSeconds } = call;
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
  return toCallRecords(call, { subject: `Transcription with ${model}`, attributes, keepContent }, providerOf);
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
