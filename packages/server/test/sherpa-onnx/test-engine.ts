/** A real engine with models written by a test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SherpaOnnxModelSettings } from "../../src/config/engines/sherpa-onnx.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import type {
  Engine,
  RecordedAudio,
  SpeechCall,
  TranscribedDelta,
  TranscribedSegment,
  TranscriptionCall,
} from "../../src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { childProcesses } from "../../../../test/support/child-processes.ts";
import { writeTinyRecognizer, type TinyRecognizer } from "./tiny-recognizer.ts";

export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly folder: string;
}

type Settings = Partial<SherpaOnnxModelSettings> & Pick<SherpaOnnxModelSettings, "kind">;

/** Starts an engine with the model `tiny`, whose files `write` creates in a folder. */
export async function startTestEngine(
  settings: Settings,
  write: (folder: string) => Promise<void>,
  logger: Logger = silentLogger,
): Promise<TestEngine> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-sherpa-"));
  const folder = join(dataDirectory, "models", "tiny");
  const remove = () => rm(dataDirectory, { recursive: true, force: true });
  try {
    await write(folder);
    const model = { folder: "tiny", files: {}, threads: 1, ...settings };
    const engine = await createSherpaOnnxEngine(
      "local",
      { type: "sherpa_onnx", models: { tiny: model } },
      { logger, dataDirectory },
    );
    const close = async () => {
      await engine.close();
      await remove();
    };
    return { engine, folder, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}

export function startRecognizer(name: TinyRecognizer, settings: object = {}): Promise<TestEngine> {
  const kind = name === "whisper_with_words" ? "whisper" : name;
  return startTestEngine({ kind, ...settings }, (folder) => writeTinyRecognizer(folder, name));
}

export function speechCall(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  return {
    input,
    voice: "tiny",
    language: undefined,
    instructions: undefined,
    speed: 1,
    marks: true,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Processes of models that this process, or the given one, started. */
export function modelProcesses(parent?: number): number[] {
  return childProcesses(/sherpa-onnx\/child\/main/, parent);
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}

/** A recording that is uploaded in pieces of a tenth of a second. */
export function recordedAudio(samples: Float32Array, sampleRate = 16_000): RecordedAudio {
  return {
    sampleRate,
    async *open(rate = sampleRate) {
      if (rate !== sampleRate) throw new Error(`the test's recording has ${sampleRate} Hz, not ${rate}`);
      const length = sampleRate / 10;
      for (let from = 0; from < samples.length; from += length) yield samples.slice(from, from + length);
    },
  };
}

export function transcriptionCall(audio: RecordedAudio, changes: Partial<TranscriptionCall> = {}): TranscriptionCall {
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

export function transcribe(
  { engine }: TestEngine,
  samples: Float32Array,
  changes: Partial<TranscriptionCall> = {},
): Promise<(TranscribedDelta | TranscribedSegment)[]> {
  return Array.fromAsync(engine.transcription!("tiny")!.transcribe(transcriptionCall(recordedAudio(samples), changes)));
}

export function segmentsOf(transcribed: readonly (TranscribedDelta | TranscribedSegment)[]): TranscribedSegment[] {
  return transcribed.filter((each) => each.kind === "segment");
}
