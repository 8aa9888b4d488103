/**
 * Runs espeak-ng as a program: its license (GPL-3.0) keeps it out of our process. Text goes to standard input; a WAV file
 * with unknown sizes is read from standard output. https://github.com/espeak-ng/espeak-ng/blob/master/src/espeak-ng.1.ronn
 */
import { spawn } from "node:child_process";
import { joinSamples } from "../../audio/samples.ts";
import { readWav } from "../../audio/wav-reader.ts";
import { RunningProcess } from "../../child-process/running-process.ts";
import { AppError } from "../../errors.ts";
import { FairQueue } from "../../scheduling/fair-queue.ts";
import type { Voice } from "../engine.ts";
import type { EspeakBackend } from "./backend.ts";
import { amplitude } from "./protocol.ts";
import { parseVoices } from "./voices.ts";

interface Run {
  readonly program: string;
  readonly operands: readonly string[];
  readonly input: string;
  readonly signal: AbortSignal;
}

/** Longest time for one phrase. */
const longestMs = 60_000;

export function createProgramBackend({ program, processes }: { program: string; processes: number }): EspeakBackend {
  // The engine's slots bound how many calls wait; a call has two phrases under way at most.
  const queue = new FairQueue({ places: processes, maxWaiting: Infinity, what: "The espeak-ng program" });
  let known: Voice[] | undefined;
  return {
    async voices(signal) {
      known ??= parseVoices((await run({ program, operands: ["--voices"], input: "", signal })).toString());
      return known;
    },
    async speak({ text, voice, wordsPerMinute, group = "", signal }) {
      const operands = [
        "-v",
        voice,
        "-s",
        String(wordsPerMinute),
        "-a",
        String(amplitude),
        "--stdin",
        "-b",
        "1",
        "--stdout",
      ];
      const leave = await queue.enter(group, signal);
      try {
        return { ...(await readSamples(await run({ program, operands, input: text, signal }))), words: undefined };
      } finally {
        leave();
      }
    },
    close: async () => {},
  };
}

/**
 * What the program writes to standard output.
 * @throws AppError overloaded when the program is not there, upstream_failed, upstream_timeout, the signal's reason
 */
async function run({ program, operands, input, signal }: Run): Promise<Buffer> {
  signal.throwIfAborted();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const child = spawn(program, operands, { stdio: ["pipe", "pipe", "pipe"], signal: limit, killSignal: "SIGKILL" });
  const running = new RunningProcess(child, 500);
  const output: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
  // The end of a program that does not read everything reports why.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const { how, error: cause } = await running.ended;
  signal.throwIfAborted();
  if (limit.aborted) throw new AppError("upstream_timeout", "The speech program did not finish in time.", { cause });
  if (cause !== undefined) throw new AppError("overloaded", "The speech program cannot be started.", { cause });
  if (how === "code 0") return Buffer.concat(output);
  throw new AppError("upstream_failed", "The speech program failed to speak this text.", {
    cause: new Error(`${program} ended with ${how}: ${running.lastOutput}`),
  });
}

/** The samples of a WAV file. @throws AppError upstream_failed for anything else */
async function readSamples(wav: Buffer): Promise<{ sampleRate: number; samples: Float32Array<ArrayBuffer> }> {
  try {
    const { sampleRate, samples } = await readWav(onePiece(wav));
    return { sampleRate, samples: joinSamples(await Array.fromAsync(samples)) };
  } catch (cause) {
    throw new AppError("upstream_failed", "The speech program did not produce a WAV file.", { cause });
  }
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
