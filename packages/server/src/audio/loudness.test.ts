import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { joinSamples } from "./samples.ts";
import { loudnessOf } from "./loudness.ts";

function sine(options: { rate: number; hertz: number; decibels: number; seconds: number }): Float32Array {
  const { rate, hertz, decibels, seconds } = options;
  const amplitude = 10 ** (decibels / 20);
  return Float32Array.from(
    { length: rate * seconds },
    (_, index) => amplitude * Math.sin((2 * Math.PI * hertz * index) / rate),
  );
}

// Levels of the standard and of EBU Tech 3341, for one channel: a sine has 3.01 dB less energy than its peak.
describe("loudness", () => {
  for (const rate of [16_000, 22_050, 24_000, 48_000]) {
    test(`of a sine of 997 Hz at full scale is -3.01 LUFS, at ${rate} Hz`, () => {
      assert.ok(Math.abs(loudnessOf(sine({ rate, hertz: 997, decibels: 0, seconds: 3 }), rate) + 3.01) < 0.05);
    });
  }

  test("counts low tones less than high ones", () => {
    const at = (hertz: number): number => loudnessOf(sine({ rate: 48_000, hertz, decibels: -20, seconds: 2 }), 48_000);
    assert.ok(at(40) < at(997) - 4 && at(4_000) > at(997) + 2.5);
  });

  test("ignores pauses and passages that are 10 LU softer", () => {
    const tone = (decibels: number, seconds: number) => sine({ rate: 48_000, hertz: 997, decibels, seconds });
    const part = [tone(-36, 10), tone(-23, 60), tone(-36, 10), new Float32Array(48_000 * 20)];
    assert.ok(Math.abs(loudnessOf(joinSamples(part), 48_000) + 26.01) < 0.1);
  });

  test("of a word shorter than a block is that of the word, and of silence -Infinity", () => {
    assert.ok(Math.abs(loudnessOf(sine({ rate: 16_000, hertz: 997, decibels: -20, seconds: 0.3 }), 16_000) + 23) < 0.1);
    assert.equal(loudnessOf(new Float32Array(16_000), 16_000), -Infinity);
    assert.equal(loudnessOf(new Float32Array(0), 16_000), -Infinity);
  });
});
