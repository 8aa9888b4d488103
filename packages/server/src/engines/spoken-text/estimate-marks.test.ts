import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { joinSamples } from "../../audio/samples.ts";
import { estimateMarks } from "./estimate-marks.ts";
import { asWritten, type SpokenText } from "./spoken-text.ts";
import { alignPauses } from "./align-pauses.ts";

const sampleRate = 16_000;

function tone(seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * sampleRate }, (_, index) => 0.3 * Math.sin(index / 3));
}

function silence(seconds: number): Float32Array {
  return new Float32Array(seconds * sampleRate);
}

function starts(phrase: string, ...parts: Float32Array[]): [string, number][] {
  return estimateMarks(asWritten(phrase, { offset: 0, length: phrase.length }), {
    samples: joinSamples(parts),
    sampleRate,
  })
    .filter(({ kind }) => kind === "word")
    .map(({ offset, length, startMs }) => [phrase.slice(offset, offset + length), Math.round(startMs)]);
}

/** The phrase where seven characters are before it. */
function at7(phrase: string): SpokenText {
  return asWritten(`before ${phrase}`, { offset: 7, length: phrase.length });
}

describe("estimated word times", () => {
  test("divide the audible part among the words, without the silence around them", () => {
    const words = starts("banana banana banana", silence(0.5), tone(3.1), silence(0.7));
    assert.equal(words[0]![1], 500);
    assert.ok(Math.abs(words[1]![1] - 1_490) < 30 && Math.abs(words[2]![1] - 2_470) < 30, JSON.stringify(words));
  });

  test("a pause is placed at its punctuation, and the next words begin after it", () => {
    const words = starts("Banana, or banana banana.", tone(0.8), silence(0.4), tone(1.8));
    assert.equal(words[1]![0], "or");
    assert.ok(Math.abs(words[1]![1] - 1_200) <= 20, JSON.stringify(words));
  });

  test("a pause without punctuation is placed where it is heard", () => {
    const words = starts("banana banana banana banana", tone(1.5), silence(0.3), tone(0.5));
    assert.ok(Math.abs(words[3]![1] - 1_800) <= 20, JSON.stringify(words));
  });

  test("are in order and within the audio, for any text and audio", () => {
    const sound = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 60 })), { maxLength: 20 });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 120 }), sound, (phrase, parts) => {
        const samples = joinSamples(parts.map(([loud, frames]) => (loud ? tone(frames / 100) : silence(frames / 100))));
        const endMs = (samples.length / sampleRate) * 1_000 + 20;
        let before = 0;
        for (const { offset, length, startMs, durationMs } of estimateMarks(at7(phrase), { samples, sampleRate })) {
          assert.ok(offset >= 7 && length > 0 && offset + length <= 7 + phrase.length);
          assert.ok(
            startMs >= before - 0.2 && durationMs >= 0 && startMs + durationMs <= endMs,
            `${startMs}+${durationMs}`,
          );
          before = startMs;
        }
      }),
    );
  });
});

test("pauses and gaps keep their order, with at most one pause per gap", () => {
  const gap = fc.record({ at: fc.double({ min: 0, max: 10, noNaN: true }), sign: fc.boolean() });
  const pause = fc.record({
    at: fc.double({ min: 0, max: 10, noNaN: true }),
    length: fc.double({ min: 0.1, max: 2, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 12 }), fc.array(pause, { maxLength: 12 }), (gaps, pauses) => {
      const placed = alignPauses(gaps, pauses);
      assert.equal(placed.length, gaps.length);
      const found = placed.filter((each) => each !== undefined);
      assert.deepEqual(
        found,
        [...new Set(found)].sort((one, other) => one - other),
      );
    }),
  );
  const near = [
    { at: 1, sign: false },
    { at: 2, sign: true },
  ];
  assert.deepEqual(alignPauses(near, [{ at: 2.1, length: 0.4 }]), [undefined, 0]);
});
