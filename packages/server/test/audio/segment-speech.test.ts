/**
 * Finds speech among silence, noise and tones, with padding and pauses, for any chunking of the samples.
 */
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { joinSamples } from "../../src/audio/samples.ts";
import { segmentSpeech, type SegmentOptions } from "../../src/audio/segment-speech.ts";
import { createVoiceDetector } from "../../src/audio/voice-detector.ts";
import { cut, noise, sine, voice } from "./signals.ts";

interface Stretch {
  start: number;
  end: number;
  samples: Float32Array;
}

interface Options {
  sampleRate?: number;
  prefixPaddingMs?: number;
  silenceDurationMs?: number;
  longSpeech?: SegmentOptions["longSpeech"];
  lengths?: readonly number[];
}

async function* flow(samples: Float32Array, lengths: readonly number[]): AsyncGenerator<Float32Array, void> {
  for (const piece of cut(samples, lengths)) {
    await Promise.resolve();
    yield piece;
  }
}

/** The detected segments; starts and ends in seconds. */
async function stretches(
  samples: Float32Array,
  { sampleRate = 16_000, prefixPaddingMs = 0, silenceDurationMs = 500, longSpeech, lengths = [1600] }: Options = {},
): Promise<Stretch[]> {
  const found: Stretch[] = [];
  const pieces: Float32Array[] = [];
  let start: number | null = null;
  const options = { sampleRate, prefixPaddingMs, silenceDurationMs, longSpeech };
  for await (const piece of segmentSpeech(flow(samples, lengths), options)) {
    if (piece.type === "samples") pieces.push(piece.samples);
    else if (piece.type === "start") start = piece.sample;
    else {
      assert.ok(start !== null);
      found.push({ start: start / sampleRate, end: piece.sample / sampleRate, samples: joinSamples(pieces.splice(0)) });
      assert.deepEqual(found.at(-1)?.samples, samples.slice(start, piece.sample));
      start = null;
    }
  }
  assert.equal(start, null);
  return found;
}

function silence(seconds: number, sampleRate = 16_000): Float32Array {
  return new Float32Array(seconds * sampleRate);
}

function near(actual: number | undefined, expected: number, tolerance: number): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= tolerance,
    `${String(actual)}, not ${String(expected)}`,
  );
}

describe("non-speech is not detected as speech", () => {
  const sounds: Record<string, Float32Array> = {
    "nothing at all": new Float32Array(0),
    "one sample": Float32Array.of(0.5),
    silence: silence(5),
    "the noise of a converter": noise(80_000, 0.001),
    "loud noise": noise(80_000, 0.3),
    "noise that sets in": joinSamples([silence(2), noise(48_000, 0.2)]),
    clicks: silence(5).map((_, index) => (index % 8000 < 3 ? 0.9 : 0)),
  };
  for (const frequency of [50, 100, 220, 440, 1000, 3000]) {
    sounds[`a tone of ${String(frequency)} Hz`] = sine(frequency, 16_000, 5);
    sounds[`a tone of ${String(frequency)} Hz that comes and goes`] = joinSamples([
      silence(2),
      sine(frequency, 16_000, 2),
      silence(1),
    ]);
  }
  for (const frequency of [220, 440, 1000]) {
    sounds[`a beep of ${String(frequency)} Hz`] = joinSamples([silence(1), sine(frequency, 16_000, 0.3), silence(1)]);
  }
  sounds["a burst of noise"] = joinSamples([silence(1), noise(4_800, 0.2), silence(1)]);
  const notes = [262, 330, 392].map((frequency) => sine(frequency, 16_000, 5));
  sounds["a chord"] = silence(5).map((_, index) => notes.reduce((sum, note) => sum + (note[index] ?? 0), 0) / 3);
  for (const [name, samples] of Object.entries(sounds)) {
    test(name, async () => {
      assert.deepEqual(await stretches(samples), []);
    });
  }
});

describe("speech is found", () => {
  for (const sampleRate of [8000, 16_000, 22_050, 44_100, 48_000]) {
    test(`at ${String(sampleRate)} Hz, after and before silence`, async () => {
      const samples = joinSamples([silence(2, sampleRate), voice(sampleRate, 3), silence(2, sampleRate)]);
      const found = await stretches(samples, { sampleRate });
      assert.equal(found.length, 1);
      near(found[0]?.start, 2, 0.15);
      near(found[0]?.end, 5.3, 0.25);
    });
  }

  for (const [where, before, after] of [
    ["between silence", 2, 2],
    ["at the beginning", 0, 1],
    ["at the end", 1, 0],
  ] as const) {
    test(`of a single word ${where}`, async () => {
      const found = await stretches(joinSamples([silence(before), voice(16_000, 0.3), silence(after)]));
      assert.equal(found.length, 1);
      near(found[0]?.start, before, 0.1);
      near(found[0]?.end, before + 0.3 + Math.min(0.3, after), 0.3);
    });
  }

  test("in noise a fifth as loud", async () => {
    const clean = joinSamples([silence(2), voice(16_000, 3), silence(2)]);
    const hiss = noise(clean.length, 0.02);
    const found = await stretches(clean.map((sample, index) => sample + (hiss[index] ?? 0)));
    assert.equal(found.length, 1);
    near(found[0]?.start, 2, 0.2);
    near(found[0]?.end, 5.3, 0.4);
  });

  test("from the first sample to the last", async () => {
    const found = await stretches(voice(16_000, 2));
    assert.equal(found.length, 1);
    near(found[0]?.start, 0, 0.1);
    near(found[0]?.end, 2, 0.1);
  });

  test("after 4 000 ms of silence, with as much padding, nothing is cut off", async () => {
    const samples = joinSamples([silence(4), voice(16_000, 2), silence(1)]);
    const found = await stretches(samples, { prefixPaddingMs: 4000, silenceDurationMs: 5000 });
    assert.equal(found.length, 1);
    near(found[0]?.start, 0, 0.15);
    near(found[0]?.end, 6.3, 0.25);
  });
});

describe("pauses and padding", () => {
  const twice = joinSamples([silence(1), voice(16_000, 1.5), silence(1.5), voice(16_000, 1.5), silence(1)]);

  test("a pause longer than the silence duration ends a segment, a shorter one does not", async () => {
    assert.equal((await stretches(twice, { silenceDurationMs: 800 })).length, 2);
    assert.equal((await stretches(twice, { silenceDurationMs: 2500 })).length, 1);
    assert.equal((await stretches(twice, { silenceDurationMs: 5000 })).length, 1);
    assert.ok((await stretches(twice, { silenceDurationMs: 0 })).length >= 2);
  });

  test("padding extends before the speech, but never into the previous segment", async () => {
    const bare = await stretches(twice);
    const padded = await stretches(twice, { prefixPaddingMs: 400 });
    near(padded[0]?.start, (bare[0]?.start ?? 0) - 0.4, 0.001);
    const wide = await stretches(twice, { prefixPaddingMs: 5000 });
    assert.equal(wide[0]?.start, 0);
    assert.equal(wide[1]?.start, wide[0]?.end);
  });

  test("long speech is passed on while it continues", async () => {
    let asked = 0;
    async function* endless(): AsyncGenerator<Float32Array, void> {
      for (;;) {
        await Promise.resolve();
        asked += 1;
        yield voice(16_000, 1);
      }
    }
    let heard = 0;
    const options = { sampleRate: 16_000, prefixPaddingMs: 0, silenceDurationMs: 500 };
    for await (const piece of segmentSpeech(endless(), options)) {
      if (piece.type === "samples") heard += piece.samples.length;
      if (heard > 30 * 16_000) break;
    }
    assert.ok(asked <= 33, `${String(asked)} seconds were needed for 30`);
  });
});

test("the same segments are found however the samples are split", async () => {
  const samples = joinSamples([silence(0.7), voice(22_050, 1), silence(0.9, 22_050), voice(22_050, 0.8), silence(1)]);
  const options = { sampleRate: 22_050, prefixPaddingMs: 300, silenceDurationMs: 400 };
  const whole = await stretches(samples, { ...options, lengths: [samples.length] });
  assert.equal(whole.length, 2);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 50, max: 20_000 }), { minLength: 1, maxLength: 6 }),
      async (lengths) => {
        const found = await stretches(samples, { ...options, lengths });
        assert.deepEqual(found, whole);
      },
    ),
    { numRuns: 15 },
  );
});

test("a detector reports starts and ends alternately", async () => {
  const detector = await createVoiceDetector({ sampleRate: 16_000, silenceDurationMs: 300 });
  const samples = joinSamples([voice(16_000, 1), silence(1), voice(16_000, 1)]);
  const events = [...cut(samples, [333]).flatMap((piece) => detector.push(piece)), ...detector.end()];
  assert.deepEqual(
    events.map((event) => event.type),
    ["start", "end", "start", "end"],
  );
  assert.ok(events.every((event, index) => index === 0 || event.sample >= (events[index - 1]?.sample ?? 0)));
});

describe("long speech", () => {
  const sentence = voice(16_000, 3);
  const samples = joinSamples([silence(1), ...Array.from({ length: 6 }, () => [sentence, silence(0.5)]).flat()]);
  const longSpeech = { lengthMs: 8_000, pauseMs: 300 };

  test("ends at shorter pauses, and nothing is lost", async () => {
    const found = await stretches(samples, { silenceDurationMs: 700, longSpeech });
    assert.equal(found.length, 2);
    near(found[0]?.end, 1 + 3 * 3.5 - 0.25, 0.15);
    assert.equal(found[1]?.start, found[0]?.end);
    near(found[1]?.end, 22, 0.3);
  });

  test("does not end at pauses that are shorter still, or without that option", async () => {
    const longer = { lengthMs: 8_000, pauseMs: 600 };
    assert.equal((await stretches(samples, { silenceDurationMs: 700, longSpeech: longer })).length, 1);
    assert.equal((await stretches(samples, { silenceDurationMs: 700 })).length, 1);
  });

  test("ends at the same places however the samples are split", async () => {
    const options = { silenceDurationMs: 700, longSpeech };
    const whole = await stretches(samples, { ...options, lengths: [samples.length] });
    for (const lengths of [[333], [5_000, 70_000], [16_000]]) {
      assert.deepEqual(await stretches(samples, { ...options, lengths }), whole);
    }
  });
});
