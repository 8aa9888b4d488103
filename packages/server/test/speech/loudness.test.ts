/** All bundled voices are equally loud, and none clips. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { loudnessOf } from "../../src/audio/loudness.ts";
import { targetLoudness } from "../../src/audio/voice-level.ts";
import { openLocalEngines, recordingOf, speechCall } from "./local-engines.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";

const texts = [
  "The north wind and the sun were disputing which was the stronger, when a traveler came along in a warm cloak. " +
    "They agreed that the one who first made the traveler take his cloak off should be considered the stronger one.",
  "Welcome to the support line. Please say the number of your order, or hold for the next free agent. Thank you!",
  "It was late in the evening when they reached the village, and the lamps were lit. Nobody had expected them.",
];
/** Voices of espeak-ng in other languages read numbers, each in its own. */
const numbers = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10. 21, 32, 43, 54, 65, 76, 87, 98, 109.";

const { speakers, close } = openLocalEngines();
after(() => close());

for (const { name, model, skip } of speakers) {
  describe(`the voices of ${name}`, { skip }, () => {
    const measure = async (text: string, voice: string) => {
      const pieces = await Array.fromAsync(model.speak(speechCall(text, { voice })));
      const samples = recordingOf(pieces);
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      return { loudness: loudnessOf(samples, pieces[0]!.sampleRate), peak };
    };

    test("that speak English are within 1 LU of the target over several texts, and no peak is above -1.9 dBFS", async () => {
      const voices = (await model.voices(new AbortController().signal))!;
      const english = voices.filter(({ languages }) => languages.some((language) => /^en-(?:US|GB)$/.test(language)));
      assert.ok(english.length >= 4);
      for (const { name: voice } of english) {
        const measured = await Promise.all(texts.map((text) => measure(text, voice)));
        const mean = measured.reduce((sum, { loudness }) => sum + loudness, 0) / texts.length;
        assert.ok(Math.abs(mean - targetLoudness) < 1, `${voice} has ${mean} LUFS`);
        for (const { peak } of measured) assert.ok(peak < 0.804, `${voice} has a peak of ${peak}`);
      }
    });

    if (name === "Flite") return;
    test("that speak other languages are within 1 LU too", async () => {
      const voices = ["de", "de+f3", "fr-fr", "fr-fr+f3", "es", "it+f3", "ru", "tr", "lv+f3"];
      // The program has the package's voices.
      for (const voice of isThorough || name !== "espeak-ng" ? voices : voices.slice(0, 2)) {
        const { loudness, peak } = await measure(numbers, voice);
        assert.ok(Math.abs(loudness - targetLoudness) < 1, `${voice} has ${loudness} LUFS`);
        assert.ok(peak < 0.804, `${voice} has a peak of ${peak}`);
      }
    });
  });
}
