/** A scripted transcription model that records its calls and the audio it got. */
import type {
  Engine,
  TranscribedDelta,
  TranscribedSegment,
  TranscriptionCall,
  TranscriptionModel,
} from "../../src/engines/engine.ts";

type Items = AsyncIterable<TranscribedDelta | TranscribedSegment>;

export interface TranscriptionScript {
  readonly givesWords?: boolean;
  /** Absent: one segment, "hello world", over the whole recording. */
  transcribe?(call: TranscriptionCall): Items;
}

export interface ScriptedTranscription extends TranscriptionModel {
  readonly calls: TranscriptionCall[];
}

export function segment(text: string, changes: Partial<TranscribedSegment> = {}): TranscribedSegment {
  return {
    kind: "segment",
    text,
    startMs: 0,
    endMs: 1_000,
    words: undefined,
    avgLogprob: undefined,
    speaker: undefined,
    language: undefined,
    ...changes,
  };
}

export function delta(text: string): TranscribedDelta {
  return { kind: "delta", text };
}

/** A segment whose words take 100 ms each. */
export function spoken(text: string, { startMs = 0, confidence = 0.9 } = {}): TranscribedSegment {
  const words = text.split(" ").map((word, index) => ({
    text: word,
    startMs: startMs + index * 100,
    endMs: startMs + index * 100 + 80,
    confidence,
  }));
  return segment(text, { startMs, endMs: startMs + words.length * 100, words });
}

/** Reads everything, at 16 000 Hz. @returns the number of samples */
export async function listen({ audio }: TranscriptionCall): Promise<number> {
  let count = 0;
  for await (const samples of audio.open(16_000)) count += samples.length;
  return count;
}

async function* hello(call: TranscriptionCall): AsyncGenerator<TranscribedSegment, void, undefined> {
  await listen(call);
  yield spoken("hello world");
}

export function scriptedTranscription(script: TranscriptionScript = {}): ScriptedTranscription {
  const calls: TranscriptionCall[] = [];
  return {
    calls,
    givesWords: script.givesWords ?? true,
    transcribe(call) {
      calls.push(call);
      return script.transcribe?.(call) ?? hello(call);
    },
  };
}

/** An engine with one transcription model. */
export function transcriptionEngine(name: string, model: TranscriptionModel): Engine {
  return {
    name,
    transcription: () => model,
    listModels: async () => [{ id: name, created: 0, ownedBy: name }],
    close: async () => {},
  };
}
