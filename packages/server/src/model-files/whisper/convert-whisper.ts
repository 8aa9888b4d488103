/**
 * Converts Whisper models in CTranslate2's format (`model.bin`), which faster-whisper uses, to what sherpa-onnx loads. The work
 * is done in a process with little memory, which ends with the call.
 */
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { IpcProcess } from "../../child-process/ipc-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { AppError } from "../../errors.ts";
import type { FromConverter, ToConverter } from "./protocol.ts";
import { UnusableWeights, WeightsFile } from "./weights-file.ts";

/** What sherpa-onnx's own models are called, and how far they are written. */
const files = { encoder: "encoder.int8.onnx", decoder: "decoder.int8.onnx", tokens: "tokens.txt" };
const unfinished = ".sounding-new";
const longestRunMs = 3_600_000;
/** A piece of four megabytes takes milliseconds. */
const longestPauseMs = 300_000;
/** Tensors are outside of it, one at a time. */
const heapMiB = 256;

export interface ConversionOptions {
  readonly signal: AbortSignal;
  /** Called with bytes of the new files. */
  onProgress?(doneBytes: number, totalBytes: number): void;
}

/** The name of the vocabulary among the files of a model in CTranslate2's format; undefined for other files. */
export function ctranslate2Vocabulary(names: readonly string[]): string | undefined {
  if (!["model.bin", "config.json"].every((name) => names.includes(name))) return undefined;
  return ["vocabulary.txt", "vocabulary.json"].find((name) => names.includes(name));
}

/** Converts all models in the folder and below that are Whisper for CTranslate2. @throws as `convertWhisper` */
export async function convertWhispers(folder: string, options: ConversionOptions): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const weights = entries.filter((entry) => entry.isFile() && entry.name === "model.bin");
  for (const { parentPath } of weights) await convertWhisper(parentPath, options);
}

/**
 * Converts the model in the folder if it is Whisper for CTranslate2, and removes what only CTranslate2 needs.
 * @returns whether it was
 * @throws AppError upstream_failed or upstream_timeout, or the signal's reason; then the folder is as it was
 */
export async function convertWhisper(folder: string, options: ConversionOptions): Promise<boolean> {
  const names = await readdir(folder);
  const vocabulary = ctranslate2Vocabulary(names);
  if (vocabulary === undefined || names.some(isOtherNetwork)) return false;
  if (!(await isWhisper(join(folder, "model.bin")))) return false;
  const parts = Object.values(files);
  const written = (name: string): string => `${unfinished}.${name}`;
  try {
    for (const name of parts) await rm(join(folder, written(name)), { force: true });
    await run({ type: "convert", folder, vocabulary, ...namedBy(written) }, options);
    for (const name of parts) await rename(join(folder, written(name)), join(folder, name));
  } catch (error) {
    for (const name of parts) await rm(join(folder, written(name)), { force: true });
    throw error;
  }
  for (const name of ["model.bin", vocabulary, "tokenizer.json"]) await rm(join(folder, name), { force: true });
  return true;
}

/** Those of an earlier conversion, also of one that was interrupted, are replaced. */
function isOtherNetwork(name: string): boolean {
  return name.endsWith(".onnx") && !name.startsWith(unfinished) && name !== files.encoder && name !== files.decoder;
}

function namedBy(written: (name: string) => string): Pick<ToConverter, keyof typeof files> {
  return { encoder: written(files.encoder), decoder: written(files.decoder), tokens: written(files.tokens) };
}

/** Whether the weights are Whisper's, as far as their beginning says. */
async function isWhisper(path: string): Promise<boolean> {
  try {
    await using weights = await WeightsFile.open(path);
    return weights.spec === "WhisperSpec";
  } catch (error) {
    if (error instanceof UnusableWeights) return false;
    throw error;
  }
}

async function run(work: ToConverter, { signal, onProgress }: ConversionOptions): Promise<void> {
  const converter = new IpcProcess<ToConverter, FromConverter>({
    script: siblingScript(import.meta.url, "child/main"),
    environment: {},
    nodeOptions: [`--max-old-space-size=${heapMiB}`],
  });
  const stalled = new AbortController();
  const stall = (): void =>
    stalled.abort(new AppError("upstream_timeout", `The conversion did not progress for ${longestPauseMs} ms.`));
  let timer = setTimeout(stall, longestPauseMs);
  const read = (message: FromConverter): true | undefined => {
    clearTimeout(timer);
    timer = setTimeout(stall, longestPauseMs);
    switch (message.type) {
      case "progress":
        onProgress?.(message.doneBytes, message.totalBytes);
        return undefined;
      case "done":
        return true;
      case "unusable":
        throw unusable(message.message);
      case "failed":
        throw new AppError("upstream_failed", `The Whisper model could not be converted: ${message.message}`);
    }
  };
  try {
    await converter.start(work, read, {
      timeoutMs: longestRunMs,
      signal: AbortSignal.any([signal, stalled.signal]),
      timedOut: () => new AppError("upstream_timeout", `The conversion took longer than ${longestRunMs} ms.`),
      ended: ({ how }) => unusable(`the process that converts it ended with ${how}`),
    });
  } finally {
    clearTimeout(timer);
    converter.kill();
    await converter.ended;
  }
}

function unusable(problem: string): AppError {
  return new AppError("upstream_failed", `The Whisper model of CTranslate2 cannot be converted: ${problem}.`);
}
