/** Recordings for a recognizer: sentences from our own speech engine, so that the words and their times are known. */
import { joinSamples } from "../../src/audio/samples.ts";
import { silentLogger } from "../../src/logger.ts";
import { createFliteEngine } from "../../src/engines/flite/engine.ts";
import type { RecordedAudio, TranscriptionCall } from "../../src/engines/engine.ts";
import { fliteEngineSettings } from "../speech/engine-settings.ts";

type Samples = Float32Array<ArrayBuffer>;

/** The rate of all recordings here. */
export const rate = 16_000;

export interface Spoken {
  readonly samples: Samples;
  /** The words in order of time. */
  readonly words: readonly { readonly text: string; readonly startMs: number; readonly endMs: number }[];
}

/** Speaks a text with Flite. */
export async function speak(text: string, voice = "slt"): Promise<Spoken> {
  const engine = createFliteEngine(
    "flite",
    { ...fliteEngineSettings, workers: 1, preload: false },
    { logger: silentLogger },
  );
  const pieces: Samples[] = [];
  const words: Spoken["words"][number][] = [];
  let offsetMs = 0;
  const call = { input: text, voice, language: undefined, instructions: undefined, speed: 1, marks: true };
  for await (const piece of engine.speech!("flite")!.speak({ ...call, signal: new AbortController().signal })) {
    for (const { kind, offset, length, startMs, durationMs } of piece.marks) {
      const start = offsetMs + startMs;
      if (kind !== "word") continue;
      words.push({ text: text.slice(offset, offset + length), startMs: start, endMs: start + durationMs });
    }
    pieces.push(piece.samples);
    offsetMs += (piece.samples.length / piece.sampleRate) * 1000;
  }
  await engine.close();
  return { samples: joinSamples(pieces), words };
}

export function silence(seconds: number): Samples {
  return new Float32Array(Math.round(rate * seconds));
}

/** A recording that is read in pieces of a quarter second. */
export function recording(...parts: readonly Samples[]): RecordedAudio {
  const samples = joinSamples(parts);
  return {
    sampleRate: rate,
    async *open() {
      for (let start = 0; start < samples.length; start += rate / 4) yield samples.slice(start, start + rate / 4);
    },
  };
}

export function callOf(audio: RecordedAudio, changes: Partial<TranscriptionCall> = {}): TranscriptionCall {
  return {
    audio,
    language: "en-US",
    prompt: undefined,
    temperature: undefined,
    chunking: undefined,
    words: true,
    partials: false,
    signal: new AbortController().signal,
    ...changes,
  };
}
