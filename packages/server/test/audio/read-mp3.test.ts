/**
 * Reads MP3: our own, ffmpeg's with two channels and a tag, truncated, damaged.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { createEncoder } from "../../src/audio/create-encoder.ts";
import { joinBytes } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { runOn } from "./programs.ts";
import { chirp, loudness, noise } from "./signals.ts";
import { read } from "./wav-files.ts";
import { needs } from "../../../../test/support/needs.ts";

async function mp3(sampleRate: number, seconds: number): Promise<Uint8Array> {
  const encoder = await createEncoder({ format: "mp3", sampleRate, stream: false });
  return joinBytes([encoder.push(chirp(sampleRate, seconds)), encoder.end()]);
}

test("an MP3 file has its rate, length and loudness, however it is split", async () => {
  for (const sampleRate of [8000, 24_000, 44_100]) {
    const bytes = await mp3(sampleRate, 1.5);
    const { input, samples } = await read(bytes, { fileName: "a.mp3" });
    assert.deepEqual([input.sampleRate, input.encoding], [sampleRate, "MP3"]);
    const seconds = samples.length / sampleRate;
    assert.ok(seconds > 1.45 && seconds < 1.8, `${String(seconds)} s`);
    assert.ok(Math.abs(loudness(samples) / loudness(chirp(sampleRate, 1.5)) - 1) < 0.15);
    const again = await read(bytes, {}, [1, 7, 3000]);
    assert.equal(again.samples.length, samples.length);
  }
});

test("two channels are mixed down and a tag is skipped", { skip: needs("ffmpeg") }, async () => {
  const wave = encodeWav(chirp(44_100, 1), 44_100);
  const file = runOn(wave, "wav", "ffmpeg -v error -i {} -ac 2 -metadata title=x -f mp3 -");
  assert.equal(file.toString("latin1", 0, 3), "ID3");
  const { input, samples } = await read(file);
  assert.equal(input.sampleRate, 44_100);
  assert.ok(Math.abs(samples.length / 44_100 - 1) < 0.1);
  assert.ok(loudness(samples) > 0.2);
});

test("a truncated or damaged file yields what is readable", async () => {
  const bytes = await mp3(16_000, 2);
  const whole = (await read(bytes)).samples.length;
  const half = (await read(bytes.subarray(0, bytes.length / 2))).samples.length;
  assert.ok(half > whole * 0.4 && half < whole * 0.6);
  const damaged = bytes.slice();
  for (const [index, value] of noise(500, 127).entries()) damaged[3000 + index] = value;
  const rest = (await read(damaged)).samples.length;
  assert.ok(rest > whole * 0.8 && rest <= whole);
});

test("audio beyond the maximum length is refused while it arrives", async () => {
  await assert.rejects(read(await mp3(16_000, 2), { limits: { maxSeconds: 1 } }), (error: unknown) => {
    return error instanceof AppError && error.code === "payload_too_large";
  });
});
