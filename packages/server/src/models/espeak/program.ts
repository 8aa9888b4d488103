/**
 * Runs espeak-ng as a program: its licence (GPL-3.0) keeps it out of our process. Text goes in by standard input, a
 * WAV file with open sizes comes out. https://github.com/espeak-ng/espeak-ng/blob/master/src/espeak-ng.1.ronn
 */
import { spawn } from "node:child_process";
import { AppError } from "../../errors.ts";

interface Run {
  readonly program: string;
  readonly operands: readonly string[];
  readonly input: string;
  readonly signal: AbortSignal;
}

/** Longest time for one phrase. */
const longestMs = 60_000;
const wavHeaderBytes = 44;

/**
 * What the program writes to standard output.
 * @throws AppError overloaded when the program is not there, upstream_failed, upstream_timeout, the signal's reason
 */
export async function run({ program, operands, input, signal }: Run): Promise<Buffer> {
  signal.throwIfAborted();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  const child = spawn(program, operands, { stdio: ["pipe", "pipe", "pipe"], signal: limit, killSignal: "SIGKILL" });
  const output: Buffer[] = [];
  let complaint = "";
  child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => (complaint = `${complaint}${bytes.toString()}`.slice(-500)));
  // A program that ends before it has read everything is noticed by its exit.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  child.once("error", (cause) => {
    if (signal.aborted) reject(signal.reason);
    else if (limit.aborted) {
      reject(new AppError("upstream_timeout", "The speech program did not answer in time.", { cause }));
    } else reject(new AppError("overloaded", "The speech program cannot be started.", { cause }));
  });
  child.once("close", (code, killedBy) => {
    if (code === 0) resolve(Buffer.concat(output));
    else {
      const cause = new Error(`${program} ended with ${killedBy ?? `code ${code}`}: ${complaint.trim()}`);
      reject(new AppError("upstream_failed", "The speech program failed at this text.", { cause }));
    }
  });
  return promise;
}

/** @throws AppError upstream_failed for anything but 16-bit mono */
export function readSamples(wav: Buffer): { sampleRate: number; samples: Float32Array<ArrayBuffer> } {
  if (wav.length < wavHeaderBytes || wav.toString("latin1", 0, 4) !== "RIFF" || wav.readUInt16LE(22) !== 1) {
    throw new AppError("upstream_failed", "The speech program wrote no mono WAV file.");
  }
  const count = Math.floor((wav.length - wavHeaderBytes) / 2);
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index++) samples[index] = wav.readInt16LE(wavHeaderBytes + 2 * index) / 32_768;
  return { sampleRate: wav.readUInt32LE(24), samples };
}
