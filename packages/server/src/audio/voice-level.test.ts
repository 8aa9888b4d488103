import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { applyGain, gainFor, targetLoudness } from "./voice-level.ts";

const rate = 16_000;
const ceiling = 10 ** (-2 / 20) + 1e-6;

test("below the ceiling the gain is exact", async () => {
  const samples = Float32Array.from({ length: rate }, (_, index) => 0.1 * Math.sin(index / 5));
  const louder = samples.slice();
  await applyGain(louder, rate, gainFor(targetLoudness - 12));
  assert.ok(louder.every((sample, index) => Math.abs(sample - samples[index]! * 10 ** 0.6) < 1e-6));
});

test("a peak is lowered, and what is far from it keeps its level", async () => {
  const samples = Float32Array.from({ length: rate }, (_, index) => 0.2 * Math.sin(index / 5));
  samples[rate / 2] = 0.9;
  const before = samples.slice();
  await applyGain(samples, rate, 2);
  assert.ok(Math.abs(samples[rate / 2]!) <= ceiling);
  for (const index of [100, rate - 100]) assert.ok(Math.abs(samples[index]! - 2 * before[index]!) < 1e-6);
});

test("no sample exceeds the ceiling, and the gain never exceeds the one that was asked for", async () => {
  const sound = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 2_000 });
  await fc.assert(
    fc.asyncProperty(sound, fc.double({ min: 0, max: 100, noNaN: true }), async (values, gain) => {
      const samples = Float32Array.from(values);
      await applyGain(samples, 8_000, gain);
      for (const [index, sample] of samples.entries()) {
        assert.ok(Math.abs(sample) <= ceiling);
        assert.ok(Math.abs(sample) <= Math.abs(values[index]!) * gain + 1e-4 && sample * values[index]! >= 0);
      }
    }),
  );
});
