import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { recognitionRate } from "./library-settings.ts";
import type { RecognizedPart, Recognition } from "./protocol.ts";
import { recognizedSegments } from "./recognized-segments.ts";

function stretch(seconds: number, parts: readonly RecognizedPart[], more: Partial<Recognition> = {}) {
  const text = parts.map((part) => part.text).join("");
  const times = { tokens: [], startTimes: [], durations: [], logProbabilities: [] };
  const samples = new Float32Array(Math.round(seconds * recognitionRate));
  return { start: 100, samples, recognition: { text, ...times, language: "", parts, ...more } };
}

describe("segments of a stretch", () => {
  const parts = [
    { text: " He said: \u201cNo.\u201d", start: 0.2, end: 2 },
    { text: " Then he left", start: 4, end: 5 },
    { text: " the house.", start: 5, end: undefined },
  ];

  test("are its sentences, with the times of their parts", () => {
    assert.deepEqual(
      recognizedSegments(stretch(9, parts)).map(({ text, startMs, endMs, words }) => [text, startMs, endMs, words]),
      [
        ["He said: \u201cNo.\u201d", 100_000, 102_000, undefined],
        ["Then he left the house.", 104_000, 109_000, undefined],
      ],
    );
  });

  test("have the words of their sentence, and their times", () => {
    const tokens = [" He", " said", ":", " \u201c", "No", ".\u201d", " Then", " he", " left", " the", " house", "."];
    const startTimes = [0.3, 0.5, 0.8, 1, 1.1, 1.4, 4.1, 4.3, 4.5, 5, 5.2, 5.8];
    const durations = tokens.map(() => 0.1);
    const found = recognizedSegments(stretch(9, parts, { tokens, startTimes, durations }));
    assert.deepEqual(
      found.map(({ startMs, endMs, words }) => [startMs, endMs, words!.map(({ text }) => text).join(" ")]),
      [
        [100_300, 101_500, "He said: \u201cNo.\u201d"],
        [104_100, 105_900, "Then he left the house."],
      ],
    );
  });

  test("are one where the parts are not the text, and none without words", () => {
    const [only, ...others] = recognizedSegments(stretch(9, parts, { text: "He said no." }));
    assert.deepEqual([only!.text, only!.startMs, only!.endMs, others], ["He said no.", 100_000, 109_000, []]);
    assert.deepEqual(recognizedSegments(stretch(9, [{ text: " [ ...", start: 0, end: 9 }])), []);
  });

  test("follow each other within the stretch, whatever times the model returns", () => {
    const seconds = fc.double({ min: -1, max: 40, noNaN: true });
    const part = fc.record({
      text: fc.constantFrom(" One.", " two", " ..."),
      start: seconds,
      end: fc.option(seconds, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.double({ min: 0.01, max: 30, noNaN: true }), (some, length) => {
        let before = 100_000;
        for (const { startMs, endMs } of recognizedSegments(stretch(length, some))) {
          assert.ok(before <= startMs && startMs <= endMs && endMs <= Math.ceil((100 + length) * 1000));
          before = endMs;
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
