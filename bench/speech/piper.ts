/**
 * Compares a Piper voice in Sounding with the program of Piper, `piper-tts`, which loads the same file: how long until the first
 * audio, CPU, memory, and how well Whisper understands the speech.
 * https://github.com/OHF-Voice/piper1-gpl
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { createResampler } from "../../packages/server/src/audio/resampler.ts";
import { joinSamples } from "../../packages/server/src/audio/samples.ts";
import type { Engine } from "../../packages/server/src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../packages/server/src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import { piperTokensName } from "../../packages/server/src/model-files/piper-voice.ts";
import { callOf } from "../../packages/server/test/pocketsphinx/spoken.ts";
import { needs } from "../../test/support/needs.ts";
import { realModels, realModelsDirectory } from "../../test/support/real-models.ts";
import { childrenOf, cpuMicros, residentBytes } from "../processes.ts";
import { installPythonPackages } from "../python-packages.ts";
import { quantile } from "../quantile.ts";
import { asAudio, rate } from "../transcription/recordings.ts";
import { sentences } from "../transcription/sentences.ts";
import { countErrors, toWords } from "../transcription/word-errors.ts";

interface Spoken {
  readonly text: string;
  readonly firstMs: number;
  readonly cpuSeconds: number;
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

interface Measured {
  readonly spoken: readonly Spoken[];
  readonly highestBytes: number;
}

/** One text of several sentences: its first audio is that of a part. */
const paragraph = sentences.slice(20, 30).join(" ");
const texts = [...sentences.slice(0, 20), paragraph];

const script = `
import json, os, resource, sys, time
from piper import PiperVoice
texts = json.load(open(sys.argv[2]))
voice = PiperVoice.load(sys.argv[1])
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
list(voice.synthesize(texts[0]))
results = []
for index, text in enumerate(texts):
    before, start, first = used(), time.perf_counter(), None
    with open(os.path.join(sys.argv[3], f"{index}.pcm"), "wb") as file:
        for chunk in voice.synthesize(text):
            first = first or time.perf_counter() - start
            file.write(chunk.audio_int16_bytes)
    results.append({"firstMs": first * 1000, "cpuSeconds": used() - before, "sampleRate": voice.config.sample_rate})
print(json.dumps({"results": results, "highestBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
`;

/** Prints a table. */
export async function comparePiper(): Promise<void> {
  const missing = needs("piper-joe", "whisper-tiny.en");
  if (missing !== false) throw new Error(`--piper ${missing}; run: npm run test:setup`);
  const network = basename(realModels.voice);
  const engine = await createSherpaOnnxEngine(
    "sherpa",
    {
      type: "sherpa_onnx",
      models: {
        joe: {
          kind: "vits",
          folder: dirname(realModels.voice),
          files: { model: network, tokens: piperTokensName(network) },
        },
        whisper: { kind: "whisper", folder: realModels.whisper, files: {} },
      },
    },
    { logger: silentLogger, dataDirectory: realModelsDirectory },
  );
  const rows = [
    "| | sentence: first audio p50, ms | p95 | ten sentences: first audio, ms | CPU s per s of audio | memory, MiB | word error rate, heard by Whisper |",
    "| --- | --: | --: | --: | --: | --: | --: |",
  ];
  rows.push(await rowOf("**Sounding**, Piper `joe`", await speakInSounding(engine), engine));
  const { python, reason } = installPythonPackages(["piper-tts==1.8.0"]);
  if (python === undefined) console.log(`\nSkipped piper-tts: ${reason}`);
  else rows.push(await rowOf("`piper-tts`", await speakInPiper(python), engine));
  const together = await speakTogether(engine);
  await engine.close();
  console.log(`\n${rows.join("\n")}\n`);
  console.log("| three calls of Sounding | first audio, ms | longest wait while playing, ms |\n| --- | --: | --: |");
  for (const [index, { firstMs, waitMs }] of together.entries())
    console.log(`| started after ${index * staggerMs} ms | ${firstMs.toFixed(0)} | ${waitMs.toFixed(0)} |`);
}

/** Between the starts of calls that speak at the same time. */
const staggerMs = 1_000;

/** Three calls with the long text, each played from its first audio on. */
async function speakTogether(engine: Engine): Promise<{ readonly firstMs: number; readonly waitMs: number }[]> {
  const model = engine.speech!("joe")!;
  const signal = new AbortController().signal;
  const voice = (await model.voices(signal))![0]!.name;
  const call = { voice, language: undefined, instructions: undefined, speed: 1, marks: false, signal };
  return Promise.all(
    [0, 1, 2].map(async (index) => {
      await setTimeout(index * staggerMs);
      const startMs = performance.now();
      let [firstMs, waitMs, playedMs] = [NaN, 0, NaN];
      for await (const { samples, sampleRate } of model.speak({ ...call, input: `${paragraph} ${paragraph}` })) {
        const nowMs = performance.now();
        if (Number.isNaN(firstMs)) firstMs = nowMs - startMs;
        else waitMs = Math.max(waitMs, nowMs - playedMs);
        playedMs = Math.max(nowMs, playedMs || 0) + (1000 * samples.length) / sampleRate;
      }
      return { firstMs, waitMs };
    }),
  );
}

async function rowOf(name: string, { spoken, highestBytes }: Measured, engine: Engine): Promise<string> {
  const firsts = spoken.slice(0, -1).map(({ firstMs }) => firstMs);
  let [cpuSeconds, seconds, errors, words] = [0, 0, 0, 0];
  for (const { text, cpuSeconds: used, samples, sampleRate } of spoken) {
    cpuSeconds += used;
    seconds += samples.length / sampleRate;
    const counted = countErrors(toWords(text), toWords(await hear(engine, samples, sampleRate)));
    errors += counted.errors;
    words += counted.words;
  }
  const cells = [
    name,
    quantile(firsts, 0.5).toFixed(0),
    quantile(firsts, 0.95).toFixed(0),
    spoken.at(-1)!.firstMs.toFixed(0),
    (cpuSeconds / seconds).toFixed(3),
    (highestBytes / 2 ** 20).toFixed(0),
    `${((100 * errors) / words).toFixed(1)} %`,
  ];
  return `| ${cells.join(" | ")} |`;
}

async function hear(engine: Engine, samples: Float32Array<ArrayBuffer>, sampleRate: number): Promise<string> {
  const resampler = await createResampler(sampleRate, rate);
  const resampled = joinSamples([resampler.push(samples), resampler.end()]);
  const heard: string[] = [];
  for await (const event of engine.transcription!("whisper")!.transcribe(callOf(asAudio(resampled))))
    if (event.kind === "segment") heard.push(event.text);
  return heard.join(" ");
}

async function speakInSounding(engine: Engine): Promise<Measured> {
  const model = engine.speech!("joe")!;
  const signal = new AbortController().signal;
  const voice = (await model.voices(signal))![0]!.name;
  const speak = async (text: string): Promise<Spoken> => {
    const call = { input: text, voice, language: undefined, instructions: undefined, speed: 1, marks: false, signal };
    const before = cpuMicros(process.pid);
    const startMs = performance.now();
    const pieces: Float32Array[] = [];
    let firstMs: number | undefined;
    let sampleRate = 0;
    for await (const piece of model.speak(call)) {
      firstMs ??= performance.now() - startMs;
      pieces.push(piece.samples);
      ({ sampleRate } = piece);
    }
    const cpuSeconds = (cpuMicros(process.pid) - before) / 1e6;
    return { text, firstMs: firstMs ?? NaN, cpuSeconds, samples: joinSamples(pieces), sampleRate };
  };
  await speak(texts[0]!);
  const spoken: Spoken[] = [];
  for (const text of texts) spoken.push(await speak(text));
  // Whisper's process begins later.
  const [speaker] = childrenOf(process.pid);
  return { spoken, highestBytes: residentBytes(speaker!).highest };
}

async function speakInPiper(python: string): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), "sounding-bench-piper-"));
  try {
    const list = join(folder, "texts.json");
    await writeFile(list, JSON.stringify(texts));
    const { stdout } = await promisify(execFile)(python, ["-c", script, realModels.voice, list, folder]);
    const { results, highestBytes } = JSON.parse(stdout) as {
      results: { firstMs: number; cpuSeconds: number; sampleRate: number }[];
      highestBytes: number;
    };
    const spoken = await Promise.all(
      results.map(async (result, index): Promise<Spoken> => {
        const bytes = await readFile(join(folder, `${index}.pcm`));
        const samples = Float32Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2) / 32_768);
        return { ...result, text: texts[index]!, samples };
      }),
    );
    return { spoken, highestBytes };
  } finally {
    await rm(folder, { recursive: true });
  }
}
