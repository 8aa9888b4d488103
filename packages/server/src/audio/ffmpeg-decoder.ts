/**
 * Decodes AAC and Apple Lossless with the program ffmpeg, where the operator has installed it: no decoder of AAC with a
 * suitable license is on npm. docs/adr/0017-transcription.md
 *
 * The file is hostile input. ffmpeg therefore runs without the server's environment, with one container, two codecs and no
 * protocol but its standard streams, with bounded memory and CPU time, and until the call is cancelled at the latest.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, open, unlink, type FileHandle } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { onAbort } from "../abort.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { FairQueue } from "../scheduling/fair-queue.ts";
import { type AudioInput, type AudioLimits, decodeSamples } from "./audio-input.ts";
import { createByteReader } from "./byte-reader.ts";
import { damaged } from "./decoded-audio.ts";
import { toAudioInput } from "./pcm-input.ts";
import { sampleEncodings } from "./sample-encodings.ts";

export interface FfmpegOptions {
  /** Path, or a name in `searchPath`. */
  readonly program: string;
  /** Folders with programs, as in the variable PATH. */
  readonly searchPath: string | undefined;
  /** For unlinked temporary files. */
  readonly directory: string;
}

interface Job {
  readonly source: AsyncIterable<Uint8Array>;
  readonly container: FfmpegContainer;
  readonly limits: AudioLimits;
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** As people call them, and ffmpeg's name. */
const demuxers = { MP4: "mov", AAC: "aac" } as const;
export type FfmpegContainer = keyof typeof demuxers;

/** What engines ask for; a long recording of it takes 115 MB an hour. */
const sampleRate = 16_000;
const area = "Transcription and audio";
const mostMemoryBytes = inputLimit({
  area,
  bounds: "Memory of ffmpeg",
  value: 1_073_741_824,
  unit: "bytes",
  error: "invalid_request",
});
const mostCpuSeconds = inputLimit({
  area,
  bounds: "CPU time of ffmpeg for a recording",
  value: 600,
  unit: "seconds",
  error: "invalid_request",
});
const mostWaiting = 1_000;
const fileBytes = 64 * 1024;

export class FfmpegDecoder {
  readonly #options: FfmpegOptions;
  readonly #queue: FairQueue;

  constructor(options: FfmpegOptions) {
    this.#options = options;
    this.#queue = new FairQueue({ places: availableParallelism(), maxWaiting: mostWaiting, what: "ffmpeg" });
  }

  /**
   * Decodes a whole recording into an unlinked file, so that no process runs while an engine is busy.
   * @returns undefined if ffmpeg is not installed
   * @throws AppError `invalid_request` for a damaged file; the signal's reason; errors of the source
   */
  async open({ source, container, limits, owner, signal }: Job): Promise<AudioInput | undefined> {
    await using input = await this.#temporaryFile();
    await writeAll(input, source);
    const output = await this.#temporaryFile();
    try {
      const release = await this.#queue.enter(owner, signal);
      try {
        const end = await this.#run([input.fd, output.fd], { container, maxSeconds: limits.maxSeconds, signal });
        if (end === "not installed") {
          await output.close();
          return undefined;
        }
      } finally {
        release();
      }
      if ((await output.stat()).size === 0) throw damaged(container, "ffmpeg finds no AAC or Apple Lossless in it");
      const layout = { encoding: sampleEncodings.pcm16, sampleRate, channels: 1 };
      const samples = decodeSamples(createByteReader(readAll(output)), layout, { ...limits, dataBytes: Infinity });
      return toAudioInput({ sampleRate, channels: 1, encoding: `${container} (ffmpeg)`, samples });
    } catch (error) {
      await output.close();
      throw error;
    }
  }

  async #run(
    [input, output]: readonly [number, number],
    { container, maxSeconds, signal }: { container: FfmpegContainer; maxSeconds: number; signal: AbortSignal },
  ): Promise<"ended" | "not installed"> {
    signal.throwIfAborted();
    const { program, searchPath } = this.#options;
    // One second more than allowed is enough to refuse it.
    const seconds = String(maxSeconds + 1);
    // The path of standard input, because an index at the end of the file has to be read first.
    const decode =
      `-nostdin -hide_banner -loglevel quiet -max_alloc ${mostMemoryBytes / 4} -protocol_whitelist file,pipe -codec_whitelist aac,alac -threads 1 ` +
      `-f ${demuxers[container]} -i /dev/stdin -map 0:a:0 -t ${seconds} -ac 1 -ar ${sampleRate} -f s16le pipe:1`;
    const bounds = `ulimit -v ${mostMemoryBytes / 1024}; ulimit -t ${mostCpuSeconds}; exec "$@"`;
    const environment = searchPath === undefined ? {} : { PATH: searchPath };
    const child = spawn("/bin/sh", ["-c", bounds, "sh", program, ...decode.split(" ")], {
      stdio: [input, output, "ignore"],
      env: environment,
    });
    using _listener = onAbort(signal, () => child.kill("SIGKILL"));
    const { promise, resolve, reject } = Promise.withResolvers<number | null>();
    child.once("error", reject);
    child.once("exit", resolve);
    const code = await promise.catch(() => notFound);
    signal.throwIfAborted();
    // A truncated or damaged file yields what could be decoded.
    return code === notFound ? "not installed" : "ended";
  }

  async #temporaryFile(): Promise<FileHandle> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true });
    const path = join(directory, `upload-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    return file;
  }
}

/** The exit code of a shell that does not find the program. */
const notFound = 127;

/** Writes by position, which leaves the one that the process inherits at the beginning. */
async function writeAll(file: FileHandle, source: AsyncIterable<Uint8Array>): Promise<void> {
  let position = 0;
  try {
    for await (const bytes of source) {
      for (let written = 0; written < bytes.length;) {
        written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
      }
      position += bytes.length;
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
      throw new AppError("overloaded", "The disk is full. Retry later.", { cause: error });
    }
    throw error;
  }
}

async function* readAll(file: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let position = 0; ;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(fileBytes), 0, fileBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
