import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recognitionRate } from "./library-settings.ts";
import type { RecognizedStretch } from "./recognize-whole.ts";
import { SpokenLanguage } from "./spoken-language.ts";

function stretch(seconds: number, language: string, text = "words"): RecognizedStretch {
  const nothing = { tokens: [], startTimes: [], durations: [], logProbabilities: [], parts: [] };
  return {
    start: 0,
    samples: new Float32Array(seconds * recognitionRate),
    recognition: { ...nothing, text, language },
  };
}

/** The languages in which the stretches are recognized. */
async function languagesOf(spoken: SpokenLanguage, stretches: readonly RecognizedStretch[]): Promise<unknown[]> {
  const given: unknown[] = [];
  // All at once, as with several processes; the later ones are faster.
  await Promise.all(
    stretches.map((each, index) =>
      spoken.recognize(async (language) => {
        given[index] = language;
        for (let turn = index; turn < stretches.length; turn++) await Promise.resolve();
        return [each];
      }),
    ),
  );
  return given;
}

describe("the language of a recording", () => {
  test("is what the caller named", async () => {
    assert.deepEqual(await languagesOf(new SpokenLanguage("fr"), [stretch(1, "fr"), stretch(1, "fr")]), ["fr", "fr"]);
  });

  test("is detected until there was enough speech in one", async () => {
    const stretches = [stretch(4, "fr"), stretch(2, "de"), stretch(6, "fr"), stretch(5, "fr"), stretch(1, "fr")];
    const found = await languagesOf(new SpokenLanguage(undefined), stretches);
    assert.deepEqual(found, [undefined, undefined, undefined, "fr", "fr"]);
  });

  test("is not decided by stretches without text", async () => {
    const stretches = [stretch(20, "de", " "), stretch(12, "fr"), stretch(1, "fr")];
    assert.deepEqual(await languagesOf(new SpokenLanguage(undefined), stretches), [undefined, undefined, "fr"]);
  });

  test("is none of a model that reports none", async () => {
    assert.deepEqual(await languagesOf(new SpokenLanguage(undefined), [stretch(1, ""), stretch(1, "")]), [
      undefined,
      "",
    ]);
  });

  test("is detected again after a stretch that failed", async () => {
    const spoken = new SpokenLanguage(undefined);
    await assert.rejects(spoken.recognize(() => Promise.reject(new Error("gone"))));
    assert.deepEqual(await languagesOf(spoken, [stretch(1, "fr")]), [undefined]);
  });
});
