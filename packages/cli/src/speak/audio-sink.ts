/** Writes audio to a file or to standard output. Players are in player.ts. */
import { open, rm, type FileHandle } from "node:fs/promises";
import type { Writable } from "node:stream";
import { CliError } from "../cli-error.ts";
import { write } from "../output.ts";
import { wavHeader } from "./wav-header.ts";

export type AudioFormat = "wav" | "mp3" | "pcm" | "opus";

export interface AudioSink {
  /** The format to request from the server. */
  readonly wireFormat: AudioFormat;
  /** Called once, before the first bytes. `sampleRate` is undefined if the format contains it. */
  begin(sampleRate: number | undefined): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  /** A piece of text has been spoken; the next may take long. */
  pieceEnded(): Promise<void>;
  /** Everything has been spoken. */
  end(): Promise<void>;
  /** It failed; no file that looks complete is left behind. */
  abandon(): Promise<void>;
}

/**
 * WAV is requested as samples and gets its header here, so that several pieces of text become one file with the correct
 * sizes.
 */
export function fileSink(path: string, format: AudioFormat): AudioSink {
  let file: FileHandle | undefined;
  let rate: number | undefined;
  let writtenBytes = 0;
  return {
    wireFormat: format === "wav" ? "pcm" : format,
    async begin(sampleRate) {
      file = await open(path, "w").catch((error: unknown) => {
        throw new CliError(`${path} cannot be written: ${(error as Error).message}`, undefined, { cause: error });
      });
      rate = sampleRate;
      if (format === "wav") await file.writeFile(wavHeader(rate!));
    },
    async write(bytes) {
      await file!.writeFile(bytes);
      writtenBytes += bytes.length;
    },
    pieceEnded: async () => {},
    async end() {
      // A pipe or a device cannot seek back.
      if (format === "wav" && (await file!.stat()).isFile())
        await file!.write(wavHeader(rate!, writtenBytes), 0, 44, 0);
      await file!.close();
    },
    async abandon() {
      if (file === undefined) return;
      const regular = (await file.stat()).isFile();
      await file.close();
      if (regular) await rm(path, { force: true });
    },
  };
}

export function outputSink(stdout: Writable, format: AudioFormat): AudioSink {
  return {
    wireFormat: format === "wav" ? "pcm" : format,
    async begin(sampleRate) {
      if (format === "wav") await write(stdout, wavHeader(sampleRate!));
    },
    write: (bytes) => write(stdout, bytes),
    pieceEnded: async () => {},
    end: async () => {},
    abandon: async () => {},
  };
}
