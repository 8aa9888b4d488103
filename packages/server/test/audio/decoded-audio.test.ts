import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DecodedAudio, toSampleSource } from "../../src/audio/decoded-audio.ts";
import { speechSegments } from "../../src/audio/speech-segments.ts";

const sampleRate = 16_000;
const wild = Float32Array.from(
  { length: 4 * sampleRate },
  (_, index) => [NaN, Infinity, -Infinity, 3e38, 0.5][index % 5]!,
);

async function* sounds(channels: number): AsyncGenerator<DecodedAudio, void, undefined> {
  await Promise.resolve();
  yield { channelData: Array.from({ length: channels }, () => wild.slice()), samplesDecoded: wild.length, sampleRate };
}

const source = (channels: number) =>
  toSampleSource(sounds(channels), { format: "Ogg Vorbis", limits: { maxSeconds: 60 } });

describe("audio that decodes to NaN", () => {
  for (const channels of [1, 2]) {
    test(`is clamped to full scale, with ${channels} channels`, async () => {
      const { samples } = await source(channels);
      let heard = 0;
      for await (const piece of samples) {
        heard += piece.length;
        assert.ok(piece.every((sample) => sample >= -1 && sample <= 1));
      }
      assert.equal(heard, wild.length);
    });
  }

  test("ends, and its speech segments lie within it", async () => {
    const { samples } = await source(1);
    const options = { sampleRate, longest: 1, prefixPaddingMs: 0, silenceDurationMs: 200 };
    for await (const { start, samples: heard } of speechSegments(samples, options)) {
      assert.ok(start >= 0 && start + heard.length / sampleRate <= 4);
    }
  });
});
