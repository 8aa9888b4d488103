/** Opens the recording: a file, standard input, or the microphone. */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FileInput, NamedFile } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { isInPath } from "../find-program.ts";
import { wavSeconds } from "./wav-seconds.ts";

export interface RecordingSource {
  readonly file: FileInput;
  /** Length of the recording, if its header contains it. */
  readonly seconds: number | undefined;
  /** Removes temporary files. */
  readonly remove?: () => Promise<void>;
}

/** A recording that can be read only once. */
interface StreamedRecording extends RecordingSource {
  readonly file: NamedFile & { readonly content: AsyncIterable<Uint8Array> };
}

/** Throws CliError if the file does not exist. */
export async function fileRecording(path: string): Promise<RecordingSource> {
  try {
    const { size } = await stat(path);
    await using file = await open(path);
    const head = new Uint8Array(4096);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    return { file: path, seconds: wavSeconds(head.subarray(0, bytesRead), size) };
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = missing ? "the file does not exist" : (error as Error).message;
    throw new CliError(`${path} cannot be read: ${message}`, missing ? exitCodes.notFound : exitCodes.failed, {
      cause: error,
    });
  }
}

/** @param type the media type, needed for raw samples */
export function pipedRecording(io: CommandIo, type: string | undefined): StreamedRecording {
  return { file: { content: io.stdin as AsyncIterable<Uint8Array>, name: "recording", type }, seconds: undefined };
}

/** The whole recording, stored in a temporary file first, so that it can be sent twice. */
export async function keptRecording(
  { file, seconds }: StreamedRecording,
  signal: AbortSignal | undefined,
): Promise<RecordingSource> {
  const folder = await mkdtemp(join(tmpdir(), "sounding-transcribe-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "recording");
    await pipeline(file.content, createWriteStream(path), { signal });
    return { file: { ...file, content: path }, seconds: seconds ?? (await fileRecording(path)).seconds, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Sufficient for speech, and what recognizers expect. */
const microphoneRate = 16_000;

/**
 * Records with ALSA's `arecord` until `signal` is aborted or the time has elapsed. Throws CliError if the program is not
 * installed; its own errors occur while the recording is read.
 */
export async function microphoneRecording(
  io: CommandIo,
  { seconds, signal }: { seconds: number | undefined; signal: AbortSignal },
): Promise<StreamedRecording> {
  if (!(await isInPath("arecord", io.env))) {
    throw new CliError("--mic requires arecord (in alsa-utils), which is not in PATH", exitCodes.notFound);
  }
  return {
    file: {
      content: recorded(io, { seconds, signal }),
      name: "microphone.pcm",
      type: `audio/L16; rate=${microphoneRate}`,
    },
    seconds,
  };
}

async function* recorded(
  io: CommandIo,
  { seconds, signal }: { seconds: number | undefined; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, void> {
  const words = `-q -t raw -f S16_LE -c 1 -r ${microphoneRate}`.split(" ");
  const duration = seconds === undefined ? [] : ["-d", String(Math.ceil(seconds))];
  const child = spawn("arecord", [...words, ...duration, "-"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...io.env },
  });
  let complaint = "";
  child.stderr.on("data", (bytes: Buffer) => (complaint = (complaint + bytes.toString()).slice(-2_000)));
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      complaint = error.message;
      resolve(null);
    });
    child.once("close", resolve);
  });
  const stop = (): void => void child.kill("SIGTERM");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const bytes of child.stdout) yield bytes as Uint8Array;
    const code = await ended;
    if (code !== 0 && !signal.aborted) {
      throw new CliError(`arecord cannot record: ${complaint.trim().split("\n").at(-1) ?? ""}`);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
