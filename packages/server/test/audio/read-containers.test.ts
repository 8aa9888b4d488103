/**
 * Reads FLAC, Ogg, WebM and MP4: files of other programs, truncated, damaged, too long, or with unsupported codecs.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createEncoder } from "../../src/audio/create-encoder.ts";
import { joinBytes } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { runOn } from "./programs.ts";
import { chirp, chirpLag, loudness } from "./signals.ts";
import { decoders, read } from "./wav-files.ts";
import { needs } from "../../../../test/support/needs.ts";

const seconds = 2;
const wave = encodeWav(chirp(48_000, seconds), 48_000);
const skip = needs("ffmpeg");
const made = new Map<string, Buffer>();
function byFfmpeg(options: string): Buffer {
  const file = made.get(options) ?? runOn(wave, "wav", `ffmpeg -v error -i {} ${options} -`);
  made.set(options, file);
  return file;
}

async function rejectsWith(code: string, file: Uint8Array, upload: Parameters<typeof read>[1] = {}): Promise<AppError> {
  let thrown: unknown;
  await assert.rejects(read(file, upload), (error: unknown) => {
    thrown = error;
    return error instanceof AppError && error.code === code && error.param === "file";
  });
  return thrown as AppError;
}

describe("a file of another format", { skip }, () => {
  const kinds: [name: string, options: string, encoding: string, rate: number][] = [
    ["FLAC", "-f flac", "FLAC", 48_000],
    ["FLAC of two channels at 16 000 Hz", "-ac 2 -ar 16000 -f flac", "FLAC", 16_000],
    ["Ogg with Vorbis", "-c:a libvorbis -f ogg", "Ogg Vorbis", 48_000],
    ["Ogg with Opus", "-c:a libopus -page_duration 200000 -f ogg", "Ogg", 48_000],
    ["Ogg with Opus of two channels", "-ac 2 -c:a libopus -page_duration 200000 -f ogg", "Ogg", 48_000],
    [
      "Ogg with Opus of six channels",
      "-ac 6 -c:a libopus -mapping_family 1 -page_duration 200000 -f ogg",
      "Ogg",
      48_000,
    ],
    ["WebM with Opus", "-c:a libopus -f webm", "WebM", 48_000],
    ["Matroska with Opus", "-c:a libopus -f matroska", "WebM", 48_000],
    ["MP4 with Opus in fragments", "-c:a libopus -movflags frag_keyframe+empty_moov -f mp4", "MP4", 48_000],
  ];
  for (const [name, options, encoding, rate] of kinds) {
    test(`${name} has its rate, length, sound and beginning, however it is split`, async () => {
      const file = byFfmpeg(options);
      const { input, samples } = await read(file, {}, [100_000]);
      assert.deepEqual([input.encoding, input.sampleRate], [encoding, rate]);
      assert.ok(Math.abs(samples.length / rate - seconds) < 0.07, `${samples.length / rate} s`);
      assert.ok(loudness(samples) > 0.05, `loudness ${loudness(samples)}`);
      const lagMs = (chirpLag(samples, rate, seconds) / rate) * 1_000;
      assert.ok(Math.abs(lagMs) < 1, `${lagMs} ms late`);
      const pieces = await read(file, {}, [1, 7, 3000]);
      assert.ok(
        Buffer.from(pieces.samples.buffer).equals(Buffer.from(samples.buffer)),
        "other samples in small pieces",
      );
    });

    test(`${name} that is truncated yields what is present, or a message that nothing is`, async () => {
      const file = byFfmpeg(options);

      const part = await read(file.subarray(0, file.length * 0.75));
      assert.ok(part.samples.length > 0.3 * seconds * rate && part.samples.length < 0.9 * seconds * rate);
      for (const length of [12, 40, 100]) {
        await read(file.subarray(0, length)).catch((error: unknown) =>
          assert.ok(error instanceof AppError, String(error)),
        );
      }
    });

    test(`${name} with damage is read or refused`, async () => {
      const file = byFfmpeg(options);
      for (let position = 20; position < file.length; position += Math.ceil(file.length / 12)) {
        const spoilt = Buffer.from(file);
        spoilt.fill(0x5a, position, position + 40);
        await read(spoilt).catch((error: unknown) => assert.ok(error instanceof AppError, String(error)));
      }
    });
  }

  test("is refused while it arrives when it is too long", async () => {
    for (const options of ["-f flac", "-c:a libvorbis -f ogg", "-c:a libopus -f webm"]) {
      await rejectsWith("payload_too_large", byFfmpeg(options), { limits: { maxSeconds: 1 } });
    }
  });

  test("that contains an unsupported codec is a 415 that names it", async () => {
    const others: [string, RegExp][] = [
      ["-c:a aac -movflags frag_keyframe+empty_moov -f mp4", /MP4 with AAC.*Opus/],
      ["-c:a libvorbis -f webm", /WebM with VORBIS.*Opus/],
      ["-c:a aac -f adts", /is AAC\. Send WAV, MP3, FLAC/],
    ];
    for (const [options, message] of others) {
      assert.match((await rejectsWith("unsupported_media_type", byFfmpeg(options))).message, message);
    }
  });
});

test("our own Ogg Opus decodes to its length and its sound", async () => {
  const encoder = await createEncoder({ format: "opus", sampleRate: 24_000, stream: false });
  const file = joinBytes([encoder.push(chirp(24_000, seconds)), encoder.end()]);
  const { samples } = await read(file);
  assert.ok(Math.abs(samples.length / 48_000 - seconds) < 0.05);
  assert.ok(Math.abs(chirpLag(samples, 48_000, seconds)) < 48);
});

test("a failed upload is reported as such, not as a damaged file", async () => {
  const { readAudio } = await import("../../src/audio/read-audio.ts");
  const encoder = await createEncoder({ format: "opus", sampleRate: 24_000, stream: false });
  const file = joinBytes([encoder.push(chirp(24_000, seconds)), encoder.end()]);
  const broken = new AppError("client_closed", "Gone.");
  async function* breaking(): AsyncGenerator<Uint8Array, void, undefined> {
    yield file.subarray(0, 3_000);
    await Promise.resolve();
    throw broken;
  }
  const reading = (async () => {
    for await (const samples of (await readAudio(breaking(), { decoders })).open()) samples satisfies Float32Array;
  })();
  await assert.rejects(reading, (error) => error === broken);
});
