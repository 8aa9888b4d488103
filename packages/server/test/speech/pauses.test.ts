/** Every local engine pauses between sentences and paragraphs, and its boundaries report the pauses. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { SpeechPiece } from "../../src/engines/engine.ts";
import { openLocalEngines, recordingOf, speechCall } from "./local-engines.ts";

const text = "Banana boats go. Lemon boats row.\n\nMelon boats go on, and so on";
const { speakers, close } = openLocalEngines();
after(() => close());

interface Sign {
  readonly text: string;
  readonly startMs: number;
  readonly durationMs: number;
}

/** The signs with their times in the whole recording. */
function signsOf(pieces: readonly SpeechPiece[]): Sign[] {
  let startMs = 0;
  return pieces.flatMap(({ marks, samples, sampleRate }) => {
    const pieceMs = startMs;
    startMs += (samples.length / sampleRate) * 1_000;
    return marks.flatMap((mark) => {
      if (mark.kind !== "punctuation") return [];
      const sign = text.slice(mark.offset, mark.offset + mark.length);
      return [{ text: sign, startMs: mark.startMs + pieceMs, durationMs: mark.durationMs }];
    });
  });
}

/** Milliseconds around `atMs` in which nothing is heard. */
function silenceAround(samples: Float32Array, sampleRate: number, atMs: number): number {
  const middle = Math.round((atMs / 1_000) * sampleRate);
  const isSilent = (index: number): boolean => Math.abs(samples[index] ?? 1) < 0.01;
  assert.ok(isSilent(middle), `something is heard at ${atMs} ms`);
  let [from, to] = [middle, middle];
  while (isSilent(from)) from--;
  while (isSilent(to)) to++;
  return ((to - from) / sampleRate) * 1_000;
}

for (const { name, model, skip } of speakers) {
  describe(`pauses of ${name}`, { skip }, () => {
    for (const speed of [0.5, 1, 2]) {
      test(`are as long as at an ordinary pace divided by the speed, and boundaries report them, at speed ${speed}`, async () => {
        const voice = (await model.voices(new AbortController().signal))![0]!.name;
        const pieces = await Array.fromAsync(model.speak(speechCall(text, { voice, speed })));
        const samples = recordingOf(pieces);
        const signs = signsOf(pieces);
        assert.deepEqual(
          signs.map((sign) => sign.text),
          [".", ".", ","],
        );
        for (const [index, least, most] of [
          [0, 330, 480],
          [1, 630, 800],
        ] as const) {
          const { startMs, durationMs } = signs[index]!;
          const silent = silenceAround(samples, pieces[0]!.sampleRate, startMs + durationMs / 2);
          // Quiet ends of sounds do not become shorter with speed.
          assert.ok(silent * speed > least && silent * speed < most + 40 * speed, `${silent} ms of silence`);
          assert.ok(Math.abs(durationMs - silent) < 90 / speed, `${durationMs} ms reported, ${silent} ms of silence`);
        }
      });
    }

    test("begin and end the recording shortly", async () => {
      const voice = (await model.voices(new AbortController().signal))![0]!.name;
      const pieces = await Array.fromAsync(model.speak(speechCall("Banana.", { voice })));
      const samples = recordingOf(pieces);
      const first = samples.findIndex((sample) => Math.abs(sample) > 0.01) / pieces[0]!.sampleRate;
      assert.ok(first < 0.06, `the first sound is heard after ${first} s`);
    });
  });
}
