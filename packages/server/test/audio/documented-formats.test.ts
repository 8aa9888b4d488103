/** Every format that the documentation lists as readable is read, and every one that speech returns has its media type and rates. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readableFormats, returnedFormats } from "../../src/audio/audio-formats.ts";
import { createEncoder } from "../../src/audio/create-encoder.ts";
import { audioSampleRates } from "../../src/audio/encoder.ts";
import { readAudio } from "../../src/audio/read-audio.ts";
import { audioFiles } from "./recordings.ts";
import { loudness, sine } from "./signals.ts";
import { read } from "./wav-files.ts";

/** For each row of the table: its recordings, by their names in `audioFiles`. */
const recordings: Readonly<Record<string, readonly string[]>> = {
  WAV: ["a.wav", "8bit.wav", "24bit.wav", "32bit.wav", "float.wav", "double.wav", "alaw.wav", "mulaw.wav"],
  "MP3 MPEG-1, 2 and 2.5 Layer III": ["a.mp3"],
  "FLAC FLAC": ["a.flac"],
  "Ogg Opus": ["a.opus"],
  "Ogg Vorbis": ["a.ogg"],
  "WebM, Matroska Opus": ["a.webm", "a.mkv"],
  "MP4 Opus": ["a.mp4", "fragmented.mp4"],
  "raw samples": ["a.pcm"],
};

describe("a documented recording format", () => {
  const rows = readableFormats.map(({ container, encodings }) =>
    encodings.length === 1 ? `${container} ${encodings[0]!}` : container,
  );

  test("has test recordings", () => assert.deepEqual(rows.toSorted(), Object.keys(recordings).toSorted()));

  for (const row of rows) {
    test(`is read: ${row}`, async () => {
      const files = await audioFiles();
      for (const name of recordings[row]!) {
        const { bytes, type } = files.find((file) => file.name === name)!;
        const { samples } = await read(bytes, { mediaType: type, fileName: name });
        assert.ok(samples.length > 200, `${name}: ${samples.length} samples`);
        assert.ok(loudness(samples) > 0.05, `${name}: loudness ${loudness(samples)}`);
      }
    });
  }

  test("of WAV is read in every encoding that the table lists", async () => {
    const files = await audioFiles();
    const read = await Promise.all(
      recordings["WAV"]!.map(async (name) => {
        const input = await readAudio(
          (async function* () {
            yield files.find((file) => file.name === name)!.bytes;
          })(),
        );
        await input.close();
        return input.encoding;
      }),
    );
    assert.deepEqual(
      read.toSorted(),
      readableFormats.find(({ container }) => container === "WAV")!.encodings.toSorted(),
    );
  });
});

describe("a documented speech format", () => {
  for (const { format, mediaType, bitrates } of returnedFormats) {
    test(`is available at every rate: ${format}`, async () => {
      for (const [index, sampleRate] of audioSampleRates.entries()) {
        const seconds = 4;
        const encoder = await createEncoder({ format, sampleRate, stream: false });
        assert.equal(encoder.contentType, mediaType);
        const length = encoder.push(sine(440, sampleRate, seconds)).length + encoder.end().length;
        const kbits = (length * 8) / 1000 / seconds;
        if (bitrates === undefined) assert.ok(kbits >= (sampleRate * 16) / 1000);
        // A variable bitrate may stay below its target; a constant one is exact, except for padding.
        else assert.ok(kbits <= bitrates[index]! * 1.15, `${format} at ${sampleRate} Hz: ${kbits} kbit/s`);
        if (format === "mp3") assert.ok(kbits > bitrates![index]! * 0.9, `${sampleRate} Hz: ${kbits} kbit/s`);
      }
    });
  }
});
