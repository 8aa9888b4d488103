/** From utterances to segments, with a scripted recognizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { DecodingUsage } from "../../src/engines/pocketsphinx/decoding-usage.ts";
import { transcribe } from "../../src/engines/pocketsphinx/transcribe.ts";
import type { UtteranceJob } from "../../src/engines/pocketsphinx/utterance-job.ts";
import { callOf, rate, recording, silence, speak } from "./spoken.ts";

test("a segment never begins before the previous one ends, even if the decoder heard a word in their overlap", async () => {
  const { samples } = await speak("We are going to the park.");
  const utterances: UtteranceJob[] = [];
  const pool = {
    open: () => new DecodingUsage().open("caller"),
    decode(job: UtteranceJob) {
      utterances.push(job);
      const wholeMs = (job.audio.length / rate) * 1000;
      job.onRecognized([
        { text: "whole", startMs: 0, endMs: 40, confidence: 1 },
        { text: "utterance", startMs: 40, endMs: wholeMs, confidence: 1 },
      ]);
    },
  };
  // An utterance keeps less of the pause than ends it, and the next one keeps more before its speech than the pause is long.
  const call = callOf(recording(samples, silence(0.5), samples, silence(1)), {
    chunking: { prefixPaddingMs: 1_000, silenceDurationMs: 400 },
  });
  const segments = (await Array.fromAsync(transcribe(call, { pool, processes: 2 }))).filter(
    (event) => event.kind === "segment",
  );
  assert.ok(segments.length >= 2);
  const audible = utterances.map(({ audio }) => [audio.firstSample, audio.firstSample + audio.length] as const);
  assert.ok(
    audible.some(([first], index) => index > 0 && first < audible[index - 1]![1]),
    "some sound is heard twice",
  );
  let untilMs = 0;
  for (const { words } of segments) {
    for (const { startMs, endMs } of words!) {
      assert.ok(startMs >= untilMs && endMs >= startMs, `${startMs} to ${endMs} after ${untilMs}`);
      untilMs = endMs;
    }
  }
});

test("audio of a long recording is released once it is decoded", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const pieces: WeakRef<Float32Array>[] = [];
  let alive = Infinity;
  async function* open() {
    for (let piece = 0; piece < 400; piece += 1) {
      const samples = silence(0.25);
      pieces.push(new WeakRef(samples));
      yield samples;
    }
    // Audio examined in one turn of the event loop is kept until the next.
    await nextTurn();
    collect();
    alive = pieces.filter((each) => each.deref() !== undefined).length;
  }
  const pool = {
    open: () => new DecodingUsage().open("caller"),
    decode: () => assert.fail("nothing was said"),
  };
  const call = callOf({ sampleRate: rate, open });
  assert.deepEqual(await Array.fromAsync(transcribe(call, { pool, processes: 1 })), []);
  assert.equal(pieces.length, 400);
  assert.ok(alive < 20, `${alive} of 400 pieces are in memory`);
});
