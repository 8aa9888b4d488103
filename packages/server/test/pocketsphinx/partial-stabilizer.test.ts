/** Text that is sent before an utterance ends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { RecognizedWord } from "../../src/engines/pocketsphinx/protocol.ts";
import { PartialStabilizer } from "../../src/engines/pocketsphinx/partial-stabilizer.ts";

/** Words of 200 ms each, one after the other. */
function words(text: string): RecognizedWord[] {
  return text
    .split(" ")
    .filter(Boolean)
    .map((word, index) => ({ text: word, startMs: index * 200, endMs: index * 200 + 200, confidence: 1 }));
}

const joined = (sent: readonly RecognizedWord[]): string => sent.map(({ text }) => text).join(" ");

describe("stable words", () => {
  test("are those on which several partial results agreed, a while after they were spoken", () => {
    const stable = new PartialStabilizer();
    assert.equal(joined(stable.update(words("the whether"), 500)), "");
    assert.equal(joined(stable.update(words("the weather"), 700)), "");
    assert.equal(joined(stable.update(words("the weather is"), 900)), "the");
    assert.equal(joined(stable.update(words("the weather is good"), 1_100)), "weather");
    assert.equal(joined(stable.finish(words("the weather is good today"))), "the weather is good today");
  });

  test("stay when the decoder changes its mind, and its later words follow", () => {
    const stable = new PartialStabilizer();
    for (const heardMs of [600, 800, 1_000]) stable.update(words("a whether"), heardMs);
    const whole = stable.finish(words("the weather is good"));
    assert.equal(joined(whole), "a whether is good");
    assert.deepEqual(
      whole.map(({ startMs }) => startMs),
      [0, 200, 400, 600],
    );
  });

  test("are a prefix of the final text, whatever was recognized on the way", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 }).map((letters) => letters.join(" "));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), text, (partials, last) => {
        const stable = new PartialStabilizer();
        const sent = partials.flatMap((look, index) => stable.update(words(look), (index + 3) * 200));
        const whole = stable.finish(words(last));
        assert.deepEqual(joined(whole.slice(0, sent.length)), joined(sent));
        for (const [index, { startMs }] of whole.entries()) assert.ok(startMs >= (whole[index - 1]?.startMs ?? 0));
      }),
    );
  });
});
