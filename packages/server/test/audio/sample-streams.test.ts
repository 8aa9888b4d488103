/**
 * The resampler and the time stretcher: lengths, chunking, their effect on tones, and the memory of dropped ones.
 */
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createResampler } from "../../src/audio/resampler.ts";
import type { SampleStream } from "../../src/audio/sample-stream.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { createTimeStretch, stretchedTime } from "../../src/audio/time-stretch.ts";
import { AppError } from "../../src/errors.ts";
import { chirp, cut, levelAt, loudness, noise, sine } from "./signals.ts";

function run(stream: SampleStream, samples: Float32Array, lengths: readonly number[]): Float32Array {
  return joinSamples([...cut(samples, lengths).map((piece) => stream.push(piece)), stream.end()]);
}

const chunking = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 8 });

describe("resampling", () => {
  const pairs: [number, number][] = [
    [48_000, 16_000],
    [24_000, 8000],
    [44_100, 16_000],
    [16_000, 44_100],
    [22_050, 48_000],
    [16_000, 24_000],
    [384_000, 16_000],
    [8000, 16_000],
  ];
  for (const [fromRate, toRate] of pairs) {
    const name = `${String(fromRate)} to ${String(toRate)} Hz`;

    test(`${name} keeps a tone's loudness and position and adds no other`, async () => {
      const lower = Math.min(fromRate, toRate);
      const samples = sine(lower * 0.2, fromRate, 1);
      const output = run(await createResampler(fromRate, toRate), samples, [1000]);
      assert.equal(output.length, toRate);
      const middle = output.subarray(toRate * 0.2, toRate * 0.8);
      const expected = sine(lower * 0.2, toRate, 1).subarray(toRate * 0.2, toRate * 0.8);
      const difference = middle.map((sample, index) => sample - (expected[index] ?? 0));
      const noiseLevel = 20 * Math.log10(loudness(difference) / loudness(expected));
      assert.ok(noiseLevel < -80, `${String(noiseLevel)} dB`);
    });

    if (fromRate > toRate) {
      test(`${name} removes everything above half the new rate`, async () => {
        for (const share of [0.55, 0.6, 0.75, 0.9]) {
          const frequency = toRate * share;
          if (frequency >= fromRate / 2) continue;
          const output = run(await createResampler(fromRate, toRate), sine(frequency, fromRate, 1), [4096]);
          const middle = output.subarray(toRate * 0.1, toRate * 0.9);
          const level = 20 * Math.log10(loudness(middle) / (0.5 * Math.SQRT1_2) + 1e-12);
          assert.ok(level < -60, `${String(frequency)} Hz comes back at ${String(level)} dB`);
        }
      });
    } else {
      test(`${name} creates no images above half the old rate`, async () => {
        const frequency = fromRate * 0.35;
        const output = run(await createResampler(fromRate, toRate), sine(frequency, fromRate, 0.5), [4096]);
        const image = levelAt(output.subarray(toRate * 0.05, toRate * 0.45), fromRate - frequency, toRate);
        assert.ok(fromRate - frequency > toRate / 2 || image < -60, `${String(image)} dB`);
      });
    }
  }

  test("yields the same samples however the input is split, and as many as the rates require", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pairs),
        fc.integer({ min: 0, max: 20_000 }),
        chunking,
        async ([fromRate, toRate], length, lengths) => {
          const samples = noise(length, 0.9);
          const whole = run(await createResampler(fromRate, toRate), samples, [Math.max(1, length)]);
          assert.equal(whole.length, Math.round((length * toRate) / fromRate));
          assert.deepEqual(run(await createResampler(fromRate, toRate), samples, lengths), whole);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("refuses invalid rates", async () => {
    for (const rate of [0, -1, 1.5, Number.NaN, 99, 2_000_000]) {
      await assert.rejects(createResampler(rate, 16_000), AppError);
      await assert.rejects(createResampler(16_000, rate), AppError);
    }
  });
});

describe("changing the speed", () => {
  const speeds = [0.25, 0.5, 0.8, 1, 1.25, 2, 4];

  test("yields the same samples however the input is split, and a length divided by the speed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...speeds),
        fc.constantFrom(8000, 16_000, 22_050, 48_000),
        fc.integer({ min: 0, max: 30_000 }),
        chunking,
        async (speed, sampleRate, length, lengths) => {
          const samples = joinSamples([chirp(sampleRate, 1), noise(length, 0.3)]);
          const whole = run(await createTimeStretch(sampleRate, speed), samples, [samples.length]);
          const error = whole.length / sampleRate - samples.length / sampleRate / speed;
          assert.ok(Math.abs(error) < 0.02, `off by ${String(error)} s`);
          assert.deepEqual(run(await createTimeStretch(sampleRate, speed), samples, lengths), whole);
        },
      ),
      { numRuns: 30 },
    );
  });

  for (const speed of speeds) {
    test(`at ${String(speed)} a tone keeps its pitch and its loudness`, async () => {
      const output = run(await createTimeStretch(16_000, speed), sine(220, 16_000, 4), [500]);
      const middle = output.subarray(output.length * 0.1, output.length * 0.9);
      const gain = loudness(middle) / (0.5 * Math.SQRT1_2);
      assert.ok(gain > 0.9 && gain < 1.1, `gain ${String(gain)}`);
      assert.ok(Math.abs(crossingsPerSecond(middle, 16_000) - 220) < 5);
    });

    test(`at ${String(speed)} beeps are heard at their expected times`, async () => {
      const { samples, beeps } = voiceWithBeeps(16_000, 10);
      const output = run(await createTimeStretch(16_000, speed), samples, [777]);
      const tolerance = speed < 0.5 ? 0.08 : 0.015;
      for (const beep of beeps) {
        const expected = stretchedTime(beep, speed);
        const heard = beepNear(output, 16_000, { at: expected, within: 0.3 / speed });
        assert.ok(Math.abs(heard - expected) < tolerance, `${String(heard)} s instead of ${String(expected)} s`);
      }
    });
  }

  test("refuses speeds outside its bounds and names the bounds", async () => {
    for (const speed of [0, 0.24, 4.01, -1, Number.NaN, Infinity]) {
      await assert.rejects(createTimeStretch(16_000, speed), (error: unknown) => {
        return error instanceof AppError && error.param === "speed" && error.message.includes("0.25 to 4");
      });
    }
  });
});

function crossingsPerSecond(samples: Float32Array, sampleRate: number): number {
  let crossings = 0;
  for (let index = 1; index < samples.length; index += 1) {
    if ((samples[index - 1] ?? 0) < 0 && (samples[index] ?? 0) >= 0) crossings += 1;
  }
  return (crossings * sampleRate) / samples.length;
}

const beepFrequency = 3500;

/** Pulses like those of a voice of varying pitch, and 30 ms beeps around known times in seconds. */
function voiceWithBeeps(sampleRate: number, seconds: number): { samples: Float32Array; beeps: number[] } {
  let phase = 0;
  const samples = Float32Array.from({ length: sampleRate * seconds }, (_, index) => {
    const time = index / sampleRate;
    phase = (phase + (110 + 40 * Math.sin(time * 3)) / sampleRate) % 1;
    const envelope = Math.max(0, Math.sin(time * 9));
    return 0.3 * envelope * Math.exp(-phase * 12) * Math.sin(2 * Math.PI * 900 * time);
  });
  const beeps: number[] = [];
  for (let beep = 0.5; beep < seconds - 0.3; beep += 0.7) {
    beeps.push(beep);
    const tone = sine(beepFrequency, sampleRate, 0.03);
    const start = Math.round((beep - 0.015) * sampleRate);
    for (const [index, sample] of tone.entries()) samples[start + index] = (samples[start + index] ?? 0) + sample;
  }
  return { samples, beeps };
}

/** The middle, in seconds, of the beep detected around a time. */
function beepNear(samples: Float32Array, sampleRate: number, window: { at: number; within: number }): number {
  const step = Math.round(sampleRate * 0.004);
  let weight = 0;
  let moment = 0;
  const first = Math.max(0, Math.round((window.at - window.within) * sampleRate));
  for (let start = first; start < (window.at + window.within) * sampleRate; start += step) {
    const level = 10 ** (levelAt(samples.subarray(start, start + step), beepFrequency, sampleRate) / 20);
    if (!(level > 0.1)) continue;
    weight += level;
    moment += level * ((start + step / 2) / sampleRate);
  }
  return moment / weight;
}
