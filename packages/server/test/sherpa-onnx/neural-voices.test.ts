/** Piper, Kokoro, Kitten and Matcha, with the real library, tiny models and the data of an installed espeak-ng. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { detectKind } from "../../src/model-files/detect-kind.ts";
import type { SpeechPiece } from "../../src/engines/engine.ts";
import { speechCall, startTestEngine } from "./test-engine.ts";
import { installedEspeakData, neuralVoiceRate, writeNeuralVoice } from "./tiny-neural-voices.ts";
import { needs } from "../../../../test/support/needs.ts";

const espeakData = installedEspeakData();
const skip = needs("espeak-ng");

function seconds(pieces: readonly SpeechPiece[]): number {
  return pieces.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
}

/** How often the loud parts cross zero upwards per second. */
function heightOf({ samples, sampleRate }: SpeechPiece): number {
  let rises = 0;
  let loud = 0;
  for (let index = 1; index < samples.length; index++) {
    if (samples[index - 1]! <= 0 && samples[index]! > 0) rises++;
    if (samples[index] !== 0) loud++;
  }
  return (rises * sampleRate) / loud;
}

for (const [voice, kind, names] of [
  ["piper", "vits", ["tiny"]],
  ["matcha", "matcha", ["tiny"]],
  ["kokoro", "kokoro", ["af_anna", "bm_bert"]],
  ["kitten", "kitten", ["af_anna", "bm_bert"]],
] as const) {
  test(`${voice} is recognized by its files, lists its voices, and speaks`, { skip }, async () => {
    await using engine = await startTestEngine({ kind }, (folder) => writeNeuralVoice(folder, voice, espeakData!));
    assert.equal(await detectKind(engine.folder), kind);
    const model = engine.engine.speech!("tiny")!;
    const voices = await model.voices(new AbortController().signal);
    assert.deepEqual(
      voices!.map(({ name }) => name),
      names,
    );
    const input = "Hello there, my dear friends. How are you?";
    const pieces = await Array.fromAsync(model.speak(speechCall(input, { voice: names[0] })));
    assert.equal(pieces.length, 2);
    assert.ok(pieces.every(({ sampleRate }) => sampleRate === neuralVoiceRate));
    assert.ok(seconds(pieces) > 0.8 && seconds(pieces) < 6, `${seconds(pieces)} s`);
    const words = pieces.flatMap(({ marks }) => marks).filter((mark) => mark.kind === "word");
    assert.equal(words.length, 8);
    if (names.length > 1) {
      const [low] = pieces;
      const [high] = await Array.fromAsync(model.speak(speechCall(input, { voice: names[1]! })));
      assert.ok(Math.abs(heightOf(high!) / heightOf(low!) - 2) < 0.2, `${heightOf(high!)} and ${heightOf(low!)}`);
    }
    if (voice === "matcha") return;
    const fast = await Array.fromAsync(model.speak(speechCall(input, { voice: names[0], speed: 2 })));
    assert.ok(Math.abs(seconds(pieces) / seconds(fast) - 2) < 0.3, `${seconds(pieces)} and ${seconds(fast)} s`);
  });
}
