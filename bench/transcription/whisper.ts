/** Compares Whisper in Sounding with faster-whisper: recordings one by one, and a long one made from them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../../packages/server/src/audio/wav-encoder.ts";
import type { TranscriptionModel } from "../../packages/server/src/engines/engine.ts";
import { createPocketSphinxEngine } from "../../packages/server/src/engines/pocketsphinx/engine.ts";
import { createSherpaOnnxEngine } from "../../packages/server/src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import { pocketSphinxSettings } from "../../packages/server/test/pocketsphinx/engine-settings.ts";
import { callOf } from "../../packages/server/test/pocketsphinx/spoken.ts";
import { needs } from "../../test/support/needs.ts";
import { childrenOf, cpuMicros, residentBytes } from "../processes.ts";
import { runFasterWhisper } from "./faster-whisper.ts";
import { asAudio, longRecording, rate, type Recording } from "./recordings.ts";
import { countErrors, toWords } from "./word-errors.ts";

interface WhisperOptions {
  /** Of a model of sherpa-onnx. */
  readonly folder: string;
  /** Length of the long recording. */
  readonly minutes: number;
  /** Of a model of CTranslate2; undefined: not compared. */
  readonly reference: string | undefined;
  readonly python: string;
}

interface Heard {
  readonly text: string;
  readonly cpuSeconds: number;
  /** Seconds of the recording that were needed for the first text. */
  readonly firstText: number | undefined;
  /** Of the process that recognizes, so far. */
  readonly highestBytes: number;
}

export async function compareWhisper(recordings: readonly Recording[], options: WhisperOptions): Promise<void> {
  const long = longRecording(recordings, options.minutes);
  const rows = [
    "| what | recordings | words | word error rate | missing words | CPU s per s of audio | first text after, s | memory, MiB |",
    "| --- | --- | --: | --: | --: | --: | --: | --: |",
  ];
  const measure = async (
    name: string,
    hear: (recording: Recording) => Promise<Heard>,
    stream?: (recording: Recording) => Promise<Heard>,
  ): Promise<void> => {
    for (const [kind, some, hearOne] of [
      ["one by one", recordings, hear],
      [`${options.minutes} minutes`, [long], hear],
      ...(stream === undefined ? [] : [[`${options.minutes} minutes, streamed`, [long], stream] as const]),
    ] as const) {
      const sum = { errors: 0, words: 0, missing: 0, cpuSeconds: 0, seconds: 0 };
      let first: number | undefined;
      let memory = 0;
      for (const recording of some) {
        const { text, cpuSeconds, firstText, highestBytes } = await hearOne(recording);
        const [reference, heard] = [toWords(recording.text), toWords(text)];
        const { errors, words } = countErrors(reference, heard);
        sum.errors += errors;
        sum.words += words;
        sum.missing += Math.max(0, reference.length - heard.length);
        sum.cpuSeconds += cpuSeconds;
        sum.seconds += recording.samples.length / rate;
        first = Math.max(first ?? 0, firstText ?? 0);
        memory = Math.max(memory, highestBytes);
        console.error(`${name}, ${recording.name}: ${errors} of ${words}`);
      }
      const cells = [
        name,
        kind,
        String(sum.words),
        `${((100 * sum.errors) / sum.words).toFixed(1)} %`,
        String(sum.missing),
        (sum.cpuSeconds / sum.seconds).toFixed(3),
        first === undefined || first === 0 ? "" : first.toFixed(1),
        (memory / 2 ** 20).toFixed(0),
      ];
      rows.push(`| ${cells.join(" | ")} |`);
    }
  };
  const models = { whisper: { kind: "whisper" as const, folder: options.folder, files: {}, preload: true } };
  const parts = { logger: silentLogger, dataDirectory: options.folder };
  const engine = await createSherpaOnnxEngine("sherpa", { type: "sherpa_onnx", models }, parts);
  const whisper = engine.transcription!("whisper")!;
  await measure("Sounding, Whisper", heardBy(whisper), heardBy(whisper, true));
  await engine.close();
  if (needs("pocketsphinx") === false) {
    const sphinx = createPocketSphinxEngine("pocketsphinx", pocketSphinxSettings, parts);
    await measure("Sounding, PocketSphinx", heardBy(sphinx.transcription!("pocketsphinx")!));
    await sphinx.close();
  }
  const { reference, python } = options;
  if (reference !== undefined) {
    const folder = await mkdtemp(join(tmpdir(), "sounding-bench-"));
    const hear = async ({ name, samples }: Recording): Promise<Heard> => {
      const path = join(folder, `${name}.wav`);
      await writeFile(path, encodeWav(samples, rate));
      return { ...(await runFasterWhisper(python, reference, path)), firstText: undefined };
    };
    await measure("faster-whisper", hear);
    await rm(folder, { recursive: true });
  }
  console.log(`\n${rows.join("\n")}`);
}

function heardBy(model: TranscriptionModel, partials = false): (recording: Recording) => Promise<Heard> {
  return async ({ samples }) => {
    const before = cpuMicros(process.pid);
    const texts: string[] = [];
    let read = 0;
    let firstText: number | undefined;
    const audio = asAudio(samples);
    const counted = {
      ...audio,
      async *open() {
        for await (const piece of audio.open()) {
          read += piece.length;
          yield piece;
        }
      },
    };
    for await (const event of model.transcribe(callOf(counted, { words: model.givesWords, partials }))) {
      if (event.kind !== "segment") continue;
      firstText ??= read / rate;
      texts.push(event.text);
    }
    const highestBytes = Math.max(...childrenOf(process.pid).map((pid) => residentBytes(pid).highest));
    return { text: texts.join(" "), cpuSeconds: (cpuMicros(process.pid) - before) / 1e6, firstText, highestBytes };
  };
}
