/** Cuts recordings into utterances. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { joinSamples } from "../../src/audio/samples.ts";
import { cutIntoUtterances, defaultChunking } from "../../src/engines/pocketsphinx/utterances.ts";
import type { UtteranceAudio } from "../../src/engines/pocketsphinx/utterance-audio.ts";
import { cut } from "../audio/signals.ts";
import { rate, silence, speak } from "./spoken.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

type Samples = Float32Array<ArrayBuffer>;

async function utterancesOf(
  samples: Samples,
  { options = defaultChunking, lengths = [rate / 4] }: { options?: typeof defaultChunking; lengths?: number[] } = {},
): Promise<UtteranceAudio[]> {
  const utterances: UtteranceAudio[] = [];
  const source = async function* () {
    yield* cut(samples, lengths);
  };
  await cutIntoUtterances(source(), options, async (audio) => void utterances.push(audio));
  return utterances;
}

const times = (utterances: readonly UtteranceAudio[]): number[][] =>
  utterances.map(({ firstSample, length }) => [firstSample / rate, (firstSample + length) / rate]);

describe("utterances", () => {
  let sentence: Samples;
  beforeTests(async () => {
    ({ samples: sentence } = await speak("We are going to the park."));
  });

  test("begin before speech and end after a pause", async () => {
    const recording = joinSamples([silence(2), sentence, silence(2), sentence, silence(1)]);
    const [first, second, ...more] = times(await utterancesOf(recording));
    assert.deepEqual(more, []);
    const length = sentence.length / rate;
    assert.ok(first![0]! > 1.6 && first![0]! < 2.2 && first![1]! > length + 1.9 && first![1]! < length + 3.5);
    assert.ok(second![0]! > length + 3.4 && second![0]! < length + 4.2, String(second));
  });

  test("are the same however the recording is split", async () => {
    const recording = joinSamples([sentence, silence(1.2), sentence, silence(0.5), sentence]);
    const expected = times(await utterancesOf(recording));
    for (const lengths of [[1, 999], [160], [33_333]]) {
      assert.deepEqual(times(await utterancesOf(recording, { lengths })), expected);
    }
  });

  test("respect the caller's silence duration", async () => {
    const recording = joinSamples([sentence, silence(1.5), sentence]);
    assert.equal((await utterancesOf(recording)).length, 2);
    const patient = { prefixPaddingMs: 0, silenceDurationMs: 3_000 };
    assert.equal((await utterancesOf(recording, { options: patient })).length, 1);
  });

  test("end at shorter pauses when they are long, and at 16 s in any case", async () => {
    const short = joinSamples([sentence, silence(0.45)]);
    const often = Math.ceil(45 / (short.length / rate));
    const paused = times(await utterancesOf(joinSamples(Array.from({ length: often }, () => short))));
    assert.ok(paused.length >= 2);
    for (const [start, end] of paused) assert.ok(end! - start! <= 13, `${start} to ${end}`);
    const breath = sentence.subarray(Math.round(0.3 * rate), Math.round(1.3 * rate));
    const breathless = times(await utterancesOf(joinSamples(Array.from({ length: 70 }, () => breath))));
    assert.ok(breathless.length >= 3);
    for (const [start, end] of breathless) assert.ok(end! - start! <= 16.2, `${start} to ${end}`);
    const gaps = breathless.slice(1).map(([start], index) => start! - breathless[index]![1]!);
    for (const gap of gaps) assert.ok(Math.abs(gap) < 0.11, `between utterances ${gap} s`);
  });
});
