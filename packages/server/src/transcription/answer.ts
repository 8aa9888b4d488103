/** Turns a transcript into a batch response. */
import type { TranscriptionText, TranscriptionVerbose } from "../api/transcription.ts";
import type { TranscriptionCost } from "./call-record.ts";
import { usageMembers } from "./usage-members.ts";
import { reportedLanguage, type PreparedTranscription } from "./prepare.ts";
import { renderTranscript } from "./subtitles.ts";
import type { Transcript } from "./transcript.ts";

export type Answer =
  | { readonly kind: "json"; readonly value: TranscriptionText | TranscriptionVerbose }
  | { readonly kind: "text"; readonly text: string; readonly type: string };

interface AnswerOptions {
  readonly durationSeconds: number;
  /** The text if nothing was said. */
  readonly silenceText: "" | null;
  /** Undefined if the cost is not told. */
  readonly told: TranscriptionCost | undefined;
}

export function toAnswer(transcript: Transcript, prepared: PreparedTranscription, options: AnswerOptions): Answer {
  const { format } = prepared;
  if (format === "json" || format === "verbose_json") {
    return { kind: "json", value: toJson(transcript, prepared, options) };
  }
  return { kind: "text", ...renderTranscript(format, transcript) };
}

function toJson(
  transcript: Transcript,
  { format, granularities, logprobs, language, translates }: PreparedTranscription,
  { durationSeconds, silenceText, told }: AnswerOptions,
): TranscriptionText | TranscriptionVerbose {
  const { text, segments, words, speakers } = transcript;
  if (format === "json") {
    return {
      text: text === "" ? silenceText : text,
      ...(logprobs ? { logprobs: transcript.logprobs } : {}),
      ...usageMembers(told),
    };
  }
  return {
    task: translates ? "translate" : "transcribe",
    // Engines tell the spoken language, if they tell any; the text of a translation is in English.
    language: reportedLanguage(language, translates ? undefined : transcript.language),
    duration: Math.round(durationSeconds * 1_000) / 1_000,
    text,
    segments,
    ...(granularities.has("word") ? { words } : {}),
    ...(speakers.size === 0 ? {} : { speakers: [...speakers] }),
    ...usageMembers(told),
  };
}
