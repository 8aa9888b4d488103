/**
 * Parses a batch transcription, in any of its forms, into segments.
 * https://platform.openai.com/docs/api-reference/audio/verbose-json-object, …/diarized-json-object
 */
import type { TranscribedSegment, TranscribedWord } from "../engine.ts";
import { invalidTranscription } from "../upstream-http/invalid-response.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import { SpeakerNumbers } from "../upstream-http/speaker-numbers.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";
import { spansOf, type Entry, type Span } from "./missing-times.ts";

/**
 * A response without segments becomes one segment over the whole recording.
 * @throws AppError upstream_failed for a response that is not a transcription, or the error in it
 */
export function readTranscription(answer: unknown, recording: { durationMs: number }): TranscribedSegment[] {
  if (!isObject(answer)) throw invalidTranscription("it is not an object");
  const error = embeddedError(answer);
  if (error !== undefined) throw error;
  const { segments } = answer;
  requirePlausible(answer, recording);
  const whole = { startMs: 0, endMs: recording.durationMs };
  const words = Array.isArray(answer["words"]) ? readWords(answer["words"], whole) : undefined;
  if (!Array.isArray(segments) || segments.length === 0) {
    if (typeof answer["text"] !== "string") throw invalidTranscription("it has neither text nor segments");
    if (answer["text"].trim() === "") return [];
    return [wholeSegment(answer["text"], recording.durationMs, words)];
  }
  const read = readSegments(segments, new SpeakerNumbers(), whole);
  return words === undefined ? read : withWords(read, words);
}

/** Ten times as many as fast speakers say. */
const mostPerSecond = 50;
/** Even of the shortest recording. */
const alwaysAllowed = 1_000;

/** Bounds the work by the recording: an answer may have more parts than any recording of this length. @throws AppError upstream_failed */
function requirePlausible({ segments, words }: JsonObject, { durationMs }: { durationMs: number }): void {
  const allowed = alwaysAllowed + (mostPerSecond * durationMs) / 1_000;
  let count = countOf(segments) + countOf(words);
  if (Array.isArray(segments))
    for (const segment of segments) if (isObject(segment)) count += countOf(segment["words"]);
  if (count > allowed)
    throw invalidTranscription(`it has ${count} segments and words of a recording of ${durationMs / 1_000} seconds`);
}

function countOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** A segment without times or words. */
export function wholeSegment(text: string, durationMs: number, words?: readonly TranscribedWord[]): TranscribedSegment {
  const unknown = { words, avgLogprob: undefined, speaker: undefined, language: undefined };
  return { kind: "segment", text, startMs: 0, endMs: durationMs, ...unknown };
}

/** @param within where the segments are, for those without times @throws AppError upstream_failed */
export function readSegments(
  segments: readonly unknown[],
  speakers: SpeakerNumbers,
  within: Span,
): TranscribedSegment[] {
  const texts = segments.map((segment) => {
    if (!isObject(segment) || typeof segment["text"] !== "string") throw invalidTranscription("a segment has no text");
    return { segment, text: segment["text"] };
  });
  const spans = spansOf(
    texts.map(({ segment, text }) => ({ text, ...timesOf(segment) })),
    within,
  );
  return texts.map(({ segment, text }, index): TranscribedSegment => {
    const avgLogprob = segment["avg_logprob"];
    const span = spans[index]!;
    return {
      kind: "segment",
      text,
      ...span,
      words: Array.isArray(segment["words"]) ? readWords(segment["words"], span) : undefined,
      avgLogprob: typeof avgLogprob === "number" ? avgLogprob : undefined,
      speaker: speakers.of(segment["speaker"]),
      language: undefined,
    };
  });
}

function readWords(words: readonly unknown[], within: Span): TranscribedWord[] {
  const read = words.map((word) => {
    const text = isObject(word) ? (word["word"] ?? word["text"]) : undefined;
    if (!isObject(word) || typeof text !== "string") throw invalidTranscription("a word has no text");
    // OpenAI's words have no probability; faster-whisper's and whisperX's have one.
    const confidence = word["probability"] ?? word["confidence"] ?? word["score"];
    return { text, times: timesOf(word), confidence: typeof confidence === "number" ? confidence : undefined };
  });
  const spans = spansOf(
    read.map(({ text, times }) => ({ text, ...times })),
    within,
  );
  return read.map(({ text, confidence }, index) => ({ text, ...spans[index]!, confidence }));
}

function timesOf({ start, end }: JsonObject): Omit<Entry, "text"> {
  const msOf = (seconds: unknown): number | undefined =>
    typeof seconds === "number" && Number.isFinite(seconds * 1_000) ? Math.max(0, seconds * 1_000) : undefined;
  return { startMs: msOf(start), endMs: msOf(end) };
}

/** Each word goes to the segment that contains its middle, or else to the last one that began before. */
function withWords(segments: readonly TranscribedSegment[], words: readonly TranscribedWord[]): TranscribedSegment[] {
  const ofSegments = segments.map((): TranscribedWord[] => []);
  let at = 0;
  for (const word of words) {
    const middleMs = (word.startMs + word.endMs) / 2;
    while (at + 1 < segments.length && segments[at + 1]!.startMs <= middleMs) at++;
    ofSegments[at]!.push(word);
  }
  return segments.map((segment, index) => ({ ...segment, words: segment.words ?? ofSegments[index] }));
}
