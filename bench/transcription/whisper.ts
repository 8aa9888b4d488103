/** Compares Whisper in Sounding with faster-whisper: recordings one by one, and a long one made from them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../../packages/server/src/audio/wav-encoder.ts";
import { createSherpaOnnxEngine } from "../../packages/server/src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import { callOf } from "../../packages/server/test/pocketsphinx/spoken.ts";
import { childrenOf, cpuMicros } from "../processes.ts";
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
}

export async function compareWhisper(recordings: readonly Recording[], options: WhisperOptions): Promise<void> {
  const long = longRecording(recordings, options.minutes);
  const rows = [
    "| what | recordings | words | word error rate | missing words | CPU s per s of audio | first text after, s |",
    "| --- | --- | --: | --: | --: | --: | --: |",
  ];
  const measure = async (name: string, hear: (recording: Recording) => Promise<Heard>): Promise<void> => {
    for (const [kind, some] of [
      ["one by one", recordings],
      [`${options.minutes} minutes`, [long]],
    ] as const) {
      const sum = { errors: 0, words: 0, missing: 0, cpuSeconds: 0, seconds: 0 };
      let first: number | undefined;
      for (const recording of some) {
        const { text, cpuSeconds, firstText } = await hear(recording);
        const [reference, heard] = [toWords(recording.text), toWords(text)];
        const { errors, words } = countErrors(reference, heard);
        sum.errors += errors;
        sum.words += words;
        sum.missing += Math.max(0, reference.length - heard.length);
        sum.cpuSeconds += cpuSeconds;
        sum.seconds += recording.samples.length / rate;
        first = Math.max(first ?? 0, firstText ?? 0);
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
      ];
      rows.push(`| ${cells.join(" | ")} |`);
    }
  };
  await measureSounding(options.folder, (hear) => measure("Sounding", hear));
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

async function measureSounding(
  folder: string,
  measure: (hear: (recording: Recording) => Promise<Heard>) => Promise<void>,
): Promise<void> {
  const models = { whisper: { kind: "whisper" as const, folder, files: {}, preload: true } };
  const parts = { logger: silentLogger, dataDirectory: folder };
  const engine = await createSherpaOnnxEngine("sherpa", { type: "sherpa_onnx", models }, parts);
  const model = engine.transcription!("whisper")!;
  const cpuSeconds = (): number =>
    [process.pid, ...childrenOf(process.pid)].reduce((sum, pid) => sum + cpuMicros(pid), 0) / 1e6;
  await measure(async ({ samples }) => {
    const before = cpuSeconds();
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
    for await (const event of model.transcribe(callOf(counted, { words: model.givesWords }))) {
      firstText ??= read / rate;
      texts.push(event.text);
    }
    return { text: texts.join(" "), cpuSeconds: cpuSeconds() - before, firstText };
  });
  await engine.close();
}
