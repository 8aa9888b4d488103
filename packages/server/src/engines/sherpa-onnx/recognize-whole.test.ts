import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { recognitionRate } from "./library-settings.ts";
import type { RecognizedPart, Recognition } from "./protocol.ts";
import { heardPart, recognizeWhole } from "./recognize-whole.ts";

function recognition(parts: readonly RecognizedPart[], more: Partial<Recognition> = {}): Recognition {
  const text = parts.map((part) => part.text).join("");
  return { text, tokens: [], startTimes: [], durations: [], logProbabilities: [], language: "", parts, ...more };
}

/** Noise with silence in these ranges of seconds. */
function noisy(
  seconds: number,
  ...silent: readonly (readonly [from: number, to: number])[]
): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: Math.round(seconds * recognitionRate) }, (_, index) => {
    const at = index / recognitionRate;
    return silent.some(([from, to]) => at >= from && at < to) ? 0 : index % 2 === 0 ? 0.1 : -0.1;
  });
}

describe("what of a stretch is in the text", () => {
  const sentence = { text: " One.", start: 0, end: 5.3 };

  test("ends with the last part", () => {
    const found = recognition([sentence]);
    assert.deepEqual(heardPart(found, 13.3), { recognition: found, seconds: 5.3 });
  });

  test("is all if little is left, or if the model does not divide its text", () => {
    assert.equal(heardPart(recognition([sentence]), 5.9), undefined);
    assert.equal(heardPart(recognition([]), 20), undefined);
    assert.equal(heardPart(recognition([], { text: "one", startTimes: [0.2], durations: [0.1] }), 20), undefined);
  });

  test("ends with the last token if its time is known, whether or not the last part has an end", () => {
    const more = { startTimes: [0.2, 6], durations: [0.4, 0.5] };
    for (const end of [undefined, 13]) {
      const found = recognition([sentence, { text: " Two", start: 5.3, end }], more);
      assert.deepEqual(heardPart(found, 13.3), { recognition: found, seconds: 6.5 });
    }
  });

  test("is without a last part whose end is unknown", () => {
    const found = recognition([sentence, { text: " Two", start: 5.3, end: undefined }]);
    const { recognition: heard, seconds } = heardPart(found, 13.3)!;
    assert.deepEqual([heard.text, heard.parts, seconds], [" One.", [sentence], 5.3]);
    assert.equal(heardPart(recognition([{ text: " Two", start: 0, end: undefined }]), 13.3), undefined);
  });
});

describe("a stretch of which a model recognizes only the beginning", () => {
  test("is recognized again from the pause after the last word", async () => {
    const samples = noisy(13.3, [5.4, 5.6]);
    const lengths: number[] = [];
    const found = await recognizeWhole({ start: 100, samples }, async (rest) => {
      const seconds = rest.length / recognitionRate;
      lengths.push(seconds);
      return recognition([{ text: ` ${lengths.length}.`, start: 0, end: lengths.length === 1 ? 5.3 : seconds }]);
    });
    assert.deepEqual(
      found.map(({ recognition: { text } }) => text),
      [" 1.", " 2."],
    );
    const [first, second] = found;
    assert.equal(first!.start, 100);
    assert.ok(Math.abs(second!.start - 105.5) <= 0.06, `the rest begins at ${second!.start}`);
    assert.deepEqual(
      lengths.map((length) => length.toFixed(3)),
      [13.3, 113.3 - second!.start].map((length) => length.toFixed(3)),
    );
  });

  test("is recognized once if only silence is left", async () => {
    for (const silent of [7.4, 5.8]) {
      let attempts = 0;
      await recognizeWhole({ start: 0, samples: noisy(13.3, [silent, 13.3]) }, async () => {
        attempts++;
        return recognition([{ text: " One.", start: 0, end: attempts === 1 ? 5.3 : silent - 5.3 }]);
      });
      assert.equal(attempts, silent < 6 ? 1 : 2);
    }
  });

  test("is divided completely, with progress and a bounded number of attempts, whatever the model returns", async () => {
    const seconds = fc.double({ min: -1, max: 40, noNaN: true });
    const part = fc.record({ text: fc.constant("x"), start: seconds, end: fc.option(seconds, { nil: undefined }) });
    const times = fc.array(seconds, { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.01, max: 6, noNaN: true }),
        fc.array(fc.record({ parts: fc.array(part, { maxLength: 3 }), times }), { minLength: 1, maxLength: 4 }),
        async (length, answers) => {
          const samples = noisy(length);
          let attempts = 0;
          const found = await recognizeWhole({ start: 0, samples }, async () => {
            const { parts, times: startTimes } = answers[attempts++ % answers.length]!;
            return recognition(parts, { startTimes, durations: startTimes.map(() => 0.1) });
          });
          assert.ok(attempts <= 6 && attempts === found.length);
          let at = 0;
          for (const stretch of found) {
            assert.ok(stretch.samples.length > 0);
            assert.equal(Math.round(stretch.start * recognitionRate), at);
            at += stretch.samples.length;
          }
          assert.equal(at, samples.length);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test("fails as its recognition does", async () => {
    const error = new Error("gone");
    let attempts = 0;
    const found = recognizeWhole({ start: 0, samples: noisy(10) }, async () => {
      if (++attempts === 2) throw error;
      return recognition([{ text: " One.", start: 0, end: 2 }]);
    });
    await assert.rejects(found, error);
  });
});
