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

/** Between two recordings of a long one, in seconds: a pause that does not end a segment. */
const pauseSeconds = 0.3;

/** The recordings in turn, up to this length; each time they begin with another one. */
export function longRecording(recordings: readonly Recording[], minutes: number): Recording {
  const parts: Float32Array[] = [];
  const texts: string[] = [];
  let seconds = 0;
  for (let round = 0; seconds < minutes * 60; round++) {
    for (let index = 0; index < recordings.length && seconds < minutes * 60; index++) {
      const { samples, text } = recordings[(index + round) % recordings.length]!;
      parts.push(samples, new Float32Array(pauseSeconds * rate));
      texts.push(text);
      seconds += samples.length / rate + pauseSeconds;
    }
  }
  return { name: "long", path: "", text: texts.join(" "), samples: joinSamples(parts) };
}
