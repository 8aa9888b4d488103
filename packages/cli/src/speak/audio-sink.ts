/** Where audio goes: a file, or standard output. Players are in player.ts. */
import { open, rm, type FileHandle } from "node:fs/promises";
import type { Writable } from "node:stream";
import { CliError } from "../cli-error.ts";
import { write } from "../output.ts";
import { wavHeader } from "./wav-header.ts";

export type AudioFormat = "wav" | "mp3" | "pcm" | "opus";

export interface AudioSink {
  /** What the server is asked for. */
  readonly wireFormat: AudioFormat;
  /** Called once, before the first bytes. `sampleRate` is undefined where the format tells it itself. */
  begin(sampleRate: number | undefined): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  /** A piece of text is spoken; the next may take long. */
  pieceEnded(): Promise<void>;
  /** Everything is spoken. */
  end(): Promise<void>;
  /** It failed; nothing that looks whole is left behind. */
  abandon(): Promise<void>;
}

/**
 * WAV is asked for as samples and gets its head here, so that several pieces of text become one file, and the sizes in it
 * are right at the end.
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
      // A pipe or a device has no place to go back to.
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
