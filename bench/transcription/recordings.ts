/** The transcribed recordings: WAV files in a folder, with their text in its `transcripts.json`. */
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { readAudio } from "../../packages/server/src/audio/read-audio.ts";
import { joinSamples } from "../../packages/server/src/audio/samples.ts";
import type { RecordedAudio } from "../../packages/server/src/engines/engine.ts";

export interface Recording {
  readonly name: string;
  readonly path: string;
  /** The spoken text. */
  readonly text: string;
  readonly samples: Float32Array<ArrayBuffer>;
}

/** Sample rate of all recordings here. */
export const rate = 16_000;

/** @throws Error if the folder does not exist */
export async function readRecordings(folder: string): Promise<Recording[]> {
  const entries = JSON.parse(readFileSync(join(folder, "transcripts.json"), "utf8")) as {
    file: string;
    text: string;
  }[];
  return Promise.all(
    entries.map(async ({ file, text }) => {
      const path = join(folder, file);
      const input = await readAudio(createReadStream(path));
      if (input.sampleRate !== rate) throw new Error(`${path} has ${input.sampleRate} Hz instead of ${rate}.`);
      return { name: file, path, text, samples: joinSamples(await Array.fromAsync(input.open())) };
    }),
  );
}

/** Samples as an engine receives them, in pieces of a quarter second, repeated up to the given length in seconds. */
export function asAudio(samples: Float32Array<ArrayBuffer>, seconds = samples.length / rate): RecordedAudio {
  return {
    sampleRate: rate,
    async *open() {
      let left = Math.round(seconds * rate);
      while (left > 0) {
        for (let start = 0; start < samples.length && left > 0; start += rate / 4) {
          const piece = samples.slice(start, Math.min(start + rate / 4, start + left));
          left -= piece.length;
          yield piece;
        }
      }
    },
  };
}
