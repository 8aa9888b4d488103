/**
 * Runs espeak-ng from its npm package if the program is not installed, in separate processes because of its license
 * (GPL-3.0). They start on demand and stay. Unlike the program, the package returns word times.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { RunningProcess, type ProcessEnd } from "../../child-process/running-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { fromInt16Bytes } from "../../audio/samples.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Voice } from "../engine.ts";
import type { JobOptions } from "../../scheduling/job-queue.ts";
import { createSynthesizerPool, type Synthesizer } from "../spoken-text/synthesizer-pool.ts";
import type { EspeakPhrase, EspeakReady, EspeakSpoken } from "./protocol.ts";
import type { EspeakSpeech, EspeakBackend } from "./backend.ts";
import { packageVoices, toPackageVoice, type PackageVoice } from "./voices.ts";

const entry = fileURLToPath(siblingScript(import.meta.url, "package-process"));

const startTimeoutMs = 60_000;

interface PackageProcess extends Synthesizer<EspeakPhrase, EspeakSpeech> {
  readonly voices: readonly PackageVoice[];
}

export function createPackageBackend({ processes, logger }: { processes: number; logger: Logger }): EspeakBackend {
  const known = Promise.withResolvers<readonly PackageVoice[]>();
  const pool = createSynthesizerPool<EspeakPhrase, EspeakSpeech>({
    most: processes,
    what: "An espeak-ng process",
    logger,
    async start(signal) {
      const process = await startProcess(signal);
      known.resolve(process.voices);
      return process;
    },
  });
  const speak = (phrase: EspeakPhrase, turn: JobOptions) => pool.speak(phrase, turn);
  const list = async (signal: AbortSignal): Promise<readonly PackageVoice[]> => {
    // Any phrase starts a process, or fails with the reason why none starts.
    const silence = speak({ text: "", voice: "gmw/en-US", wordsPerMinute: 175 }, { first: true, signal });
    await Promise.race([known.promise, silence]);
    silence.catch(() => {});
    return known.promise;
  };
  let listed: readonly PackageVoice[] | undefined;
  let voices: readonly Voice[] | undefined;
  return {
    async voices(signal) {
      listed ??= await list(signal);
      return (voices ??= packageVoices(listed));
    },
    async speak({ text, voice, wordsPerMinute, first, group, signal }) {
      listed ??= await list(signal);
      const name = toPackageVoice(listed, voice);
      if (name === undefined) {
        throw new AppError("invalid_request", `espeak-ng has no voice ${JSON.stringify(voice)}.`, { param: "voice" });
      }
      return speak({ text, voice: name, wordsPerMinute }, { first, group, signal });
    },
    close: () => pool.close(),
  };
}

/** Whether the package is installed: it is optional. */
export function hasPackage(): boolean {
  try {
    return import.meta.resolve("@echogarden/espeak-ng-emscripten") !== "";
  } catch {
    return false;
  }
}

async function startProcess(signal: AbortSignal): Promise<PackageProcess> {
  // It needs nothing of the server's environment, and gets nothing.
  const child = spawn(process.execPath, [entry], { stdio: ["pipe", "pipe", "pipe"], env: {} });
  const running = new RunningProcess(child, 500);
  // The end of the process reports why it does not read.
  child.stdin.on("error", () => {});
  const output = readOutput(child.stdout);
  const failure = ({ how, error }: ProcessEnd): Error =>
    error ?? new Error(`espeak-ng ended with ${how}: ${running.lastOutput}`);
  const line = await running.started(output.line(), {
    timeoutMs: startTimeoutMs,
    signal,
    timedOut: () => new Error(`espeak-ng did not start within ${startTimeoutMs} ms.`),
    ended: failure,
  });
  const { voices } = JSON.parse(line) as EspeakReady;
  const ended = running.ended.then(failure);
  const orEnd = <Value>(promise: Promise<Value>): Promise<Value> =>
    Promise.race([promise, ended.then((error) => Promise.reject(error))]);
  // An idle process does not keep the server running; it ends with its standard input.
  running.unref();
  return {
    voices,
    async speak(phrase) {
      running.ref();
      child.stdin.write(`${JSON.stringify(phrase)}\n`);
      const { sampleRate, bytes, words } = JSON.parse(await orEnd(output.line())) as EspeakSpoken;
      const samples = fromInt16Bytes(await orEnd(output.bytes(bytes)));
      running.unref();
      return { sampleRate, samples, words };
    },
    ended,
    stop() {
      // Callers wait for the end.
      running.ref();
      running.kill();
    },
  };
}

/** Reads lines and bytes of a process, one read at a time. */
function readOutput(stream: NodeJS.ReadableStream) {
  let held: Buffer[] = [];
  let size = 0;
  let wanted: { readonly bytes: number | "line"; resolve(bytes: Buffer): void } | undefined;
  /** What came before the last piece has been searched already. */
  const lineLength = (): number => {
    const last = held.at(-1);
    const end = last?.indexOf("\n") ?? -1;
    return end === -1 ? Infinity : size - last!.length + end + 1;
  };
  const take = (): void => {
    if (wanted === undefined) return;
    const length = wanted.bytes === "line" ? lineLength() : wanted.bytes;
    if (size < length) return;
    const all = held.length === 1 ? held[0]! : Buffer.concat(held, size);
    held = [all.subarray(length)];
    size = all.length - length;
    const { resolve } = wanted;
    wanted = undefined;
    resolve(all.subarray(0, length));
  };
  stream.on("data", (bytes: Buffer) => {
    held.push(bytes);
    size += bytes.length;
    take();
  });
  const next = async (bytes: number | "line"): Promise<Buffer> => {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    wanted = { bytes, resolve };
    take();
    return promise;
  };
  return { line: async () => (await next("line")).toString(), bytes: next };
}
