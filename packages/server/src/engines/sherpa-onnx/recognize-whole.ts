/**
 * Recognizes a whole stretch of speech with a model that may end early: Whisper returns some sentences and drops the rest.
 * How far it came shows in the times of its text; the rest is recognized again.
 */
import { quietestPlace, type SpeechSegment } from "../../audio/speech-segments.ts";
import { recognitionRate } from "./library-settings.ts";
import type { Recognition } from "./protocol.ts";

export interface RecognizedStretch extends SpeechSegment {
  readonly recognition: Recognition;
}

/**
 * Seconds of speech without text at the end that are recognized again. The time of a last word is off by less than 0.4 s, and
 * what Whisper left out of hundreds of stretches was longer than this.
 */
const leastRest = 0.7;
/** Speech is louder than this part of the loudest moment. */
const quiet = 0.05;
/** A moment, in seconds. */
const moment = 0.1;
/** What a further attempt must leave behind, in seconds. */
const leastProgress = 0.2;
/** Attempts for one stretch. Each handles the whole rest, so more would cost a multiple of the stretch. */
const mostAttempts = 6;
/** Seconds before and after the end of the text in which the rest may begin. */
const before = 0.1;
const after = 0.4;

/** The parts of the stretch in order of time; together they are the whole stretch. */
export async function recognizeWhole(
  { start, samples }: SpeechSegment,
  recognize: (samples: Float32Array) => Promise<Recognition>,
): Promise<RecognizedStretch[]> {
  const recognized: RecognizedStretch[] = [];
  let done = 0;
  while (recognized.length < mostAttempts) {
    const rest = samples.slice(done);
    const found = await recognize(rest);
    const heard = recognized.length + 1 < mostAttempts ? heardPart(found, speechEnd(rest)) : undefined;
    const length = heard === undefined ? rest.length : restBegin(rest, heard.seconds);
    const recognition = heard?.recognition ?? found;
    recognized.push({ start: start + done / recognitionRate, samples: rest.slice(0, length), recognition });
    done += length;
    if (heard === undefined) break;
  }
  return recognized;
}

/**
 * What of the stretch is in the text, if it is not all.
 * @param seconds when speech ends in the stretch
 */
export function heardPart(
  recognition: Recognition,
  seconds: number,
): { readonly recognition: Recognition; readonly seconds: number } | undefined {
  const { parts, startTimes, durations } = recognition;
  const last = parts.at(-1);
  if (last === undefined) return undefined;
  const isRest = (from: number): boolean => from >= leastProgress && seconds - from >= leastRest;
  // The last word first: a model may let a part last until the end of sentences that it left out.
  const [start, duration] = [startTimes.at(-1), durations.at(-1)];
  const end = start === undefined || duration === undefined ? last.end : start + duration;
  if (end !== undefined) return isRest(end) ? { recognition, seconds: end } : undefined;
  // The end of the last part is unknown: it is recognized again, too.
  if (!isRest(last.start)) return undefined;
  const known = parts.slice(0, -1);
  return {
    recognition: { ...recognition, text: known.map(({ text }) => text).join(""), parts: known },
    seconds: last.start,
  };
}

/** When the last sound ends, in seconds: silence is not recognized again, because models hear words in it. */
function speechEnd(samples: Float32Array): number {
  const size = Math.round(moment * recognitionRate);
  const levels: number[] = [];
  for (let at = 0; at < samples.length; at += size) {
    const some = samples.subarray(at, at + size);
    levels.push(Math.sqrt(some.reduce((sum, sample) => sum + sample * sample, 0) / some.length));
  }
  const limit = quiet * levels.reduce((most, level) => Math.max(most, level), 0);
  const last = levels.findLastIndex((level) => level > limit);
  return Math.min(samples.length, (last + 1) * size) / recognitionRate;
}

/** The sample at which the rest begins: where it is quiet, so that no word is cut. */
function restBegin(samples: Float32Array, heard: number): number {
  const at = (seconds: number): number => Math.max(1, Math.min(samples.length, Math.round(seconds * recognitionRate)));
  return quietestPlace(samples, { from: at(heard - before), to: at(heard + after), sampleRate: recognitionRate });
}
