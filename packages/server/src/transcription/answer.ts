/** Turns a transcript into a batch response. */
import type { TranscriptionText, TranscriptionVerbose } from "../api/transcription.ts";
import { withRegion, type PreparedTranscription } from "./prepare.ts";
import type { Transcript } from "./transcript.ts";

export function toAnswer(
  transcript: Transcript,
  { format, granularities, logprobs, language }: PreparedTranscription,
  durationSeconds: number,
): TranscriptionText | TranscriptionVerbose {
  const { text, segments, words, speakers } = transcript;
  if (format === "json") {
    return { text: text === "" ? null : text, ...(logprobs ? { logprobs: transcript.logprobs } : {}) };
  }
  return {
    task: "transcribe",
    language: transcript.language === undefined ? language : withRegion(transcript.language),
    duration: Math.round(durationSeconds * 1_000) / 1_000,
    text,
    segments,
    ...(granularities.has("word") ? { words } : {}),
    ...(speakers.size === 0 ? {} : { speakers: [...speakers] }),
  };
}
