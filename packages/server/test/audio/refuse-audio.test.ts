/**
 * Recordings that are damaged, too long, unsupported or not audio at all, and random mutations of valid ones.
 */
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { toInt16Bytes } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError, type ErrorCode } from "../../src/errors.ts";
import { chirp } from "./signals.ts";
import { chunk, formatChunk, read, riff } from "./wav-files.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const sound = chirp(16_000, 0.1);
const soundBytes = toInt16Bytes(sound);
const exactSound = Float32Array.from(sound, (sample) => Math.round(sample * 32_768) / 32_768);
const pcm16 = formatChunk({ tag: 1, bits: 16 });

describe("unreadable audio is refused", () => {
  const data = chunk("data", soundBytes);
  const cases: [string, Uint8Array, ErrorCode, string][] = [
    ["an empty file", Buffer.alloc(0), "invalid_request", "empty"],
    ["text", Buffer.from("Hello, this is no audio."), "invalid_request", "not a supported audio file"],
    ["a few bytes", Buffer.from("RIF"), "invalid_request", "not a supported audio file"],
    ["only the beginning", riff([]), "invalid_request", "ends before"],
    ["a header cut off", riff([pcm16]).subarray(0, 30), "invalid_request", "ends before"],
    ["no samples' chunk", riff([pcm16]), "invalid_request", "ends before"],
    ["no format", riff([data]), "invalid_request", "no format"],
    ["a format too small", riff([chunk("fmt ", Buffer.alloc(8)), data]), "invalid_request", "8 bytes"],
    ["a format too large", riff([chunk("fmt ", Buffer.alloc(16), 0x7fff_ffff)]), "invalid_request", "2147483647"],
    ["no channels", riff([formatChunk({ tag: 1, bits: 16, channels: 0 }), data]), "invalid_request", "0 channels"],
    ["many channels", riff([formatChunk({ tag: 1, bits: 8, channels: 900 }), data]), "invalid_request", "900"],
    ["no rate", riff([formatChunk({ tag: 1, bits: 16, sampleRate: 0 }), data]), "invalid_request", "0 Hz"],
    ["a rate beyond sense", riff([formatChunk({ tag: 1, bits: 16, sampleRate: 4e9 }), data]), "invalid_request", "Hz"],
    ["no bits", riff([formatChunk({ tag: 1, bits: 0 }), data]), "invalid_request", "0 bits"],
    ["bits beyond the block", riff([formatChunk({ tag: 1, bits: 32, blockBytes: 2 }), data]), "invalid_request", "2"],
    ["64-bit PCM", riff([formatChunk({ tag: 1, bits: 64 }), data]), "unsupported_media_type", "64-bit PCM"],
    ["16-bit float", riff([formatChunk({ tag: 3, bits: 16 }), data]), "unsupported_media_type", "16-bit float"],
    ["ADPCM", riff([formatChunk({ tag: 2, bits: 4, blockBytes: 256 }), data]), "unsupported_media_type", "ADPCM"],
    ["MP3 in WAV", riff([formatChunk({ tag: 0x55, bits: 0, blockBytes: 1 }), data]), "unsupported_media_type", "MP3"],
    ["an unknown tag", riff([formatChunk({ tag: 0x1234, bits: 16 }), data]), "unsupported_media_type", "0x1234"],
    [
      "endless chunks",
      riff(Array.from({ length: 2000 }, () => chunk("junk", Buffer.alloc(2)))),
      "invalid_request",
      "1000",
    ],
    ["MP3 without sound", Buffer.from("ID3\u0004 and so on and on"), "invalid_request", "contains no audio"],
    ["Ogg", Buffer.from("OggS and so on and on"), "unsupported_media_type", "Ogg"],
    ["FLAC without sound", Buffer.from("fLaC and so on and on"), "invalid_request", "contains no audio"],
    ["MP4 without sound", Buffer.from("\0\0\0\u0020ftypM4A and so on"), "invalid_request", "MP4"],
    ["WebM without sound", Buffer.from("1a45dfa3934282886d617472", "hex"), "invalid_request", "WebM"],
  ];
  for (const [name, file, code, words] of cases) {
    test(name, async () => {
      await assert.rejects(read(file), (error: unknown) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, code);
        assert.equal(error.param, "file");
        assert.ok(error.message.includes(words), error.message);
        return true;
      });
    });
  }

  test("raw samples with invalid parameters", async () => {
    for (const parameters of ["rate=abc", "rate=0", "rate=-5", "channels=0", "channels=1.5", "rate=16000.5", "rate="]) {
      await assert.rejects(read(soundBytes, { mediaType: `audio/pcm;${parameters}` }), AppError);
    }
  });

  test("audio beyond the maximum length, while it arrives", async () => {
    const upload = { limits: { maxSeconds: 0.05 } };
    await assert.rejects(read(encodeWav(sound, 16_000), upload), (error: unknown) => {
      return error instanceof AppError && error.code === "payload_too_large";
    });
    const exact = { limits: { maxSeconds: 0.1 } };
    assert.deepEqual((await read(encodeWav(sound, 16_000), exact)).samples, exactSound);
  });
});

describe("properties", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 10 });

  test("the same samples result however the bytes are split", async () => {
    const formats = fc.constantFrom(
      ...[8, 16, 24, 32].map((bits) => ({ tag: 1, bits })),
      ...[32, 64].map((bits) => ({ tag: 3, bits })),
      { tag: 6, bits: 8 },
      { tag: 7, bits: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        formats,
        fc.integer({ min: 1, max: 4 }),
        fc.uint8Array({ maxLength: 2000 }),
        sizes,
        async (format, channels, content, lengths) => {
          const file = riff([formatChunk({ ...format, channels }), chunk("data", content)]);
          const whole = await read(file, {}, [file.length]);
          assert.deepEqual((await read(file, {}, lengths)).samples, whole.samples);
          assert.equal(whole.samples.length, Math.floor(content.length / ((format.bits / 8) * channels)));
          assert.ok(whole.samples.every((sample) => sample >= -1 && sample <= 1));
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test("any input is read or refused with an AppError", async () => {
    const file = riff([chunk("LIST", Buffer.from("abc")), pcm16, chunk("data", soundBytes.subarray(0, 200))]);
    const damaged = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      })
      .map((changes) => {
        const bytes = Buffer.from(file);
        for (const [position, value] of changes) bytes[position] = value;
        return bytes;
      });
    const uploads = fc.constantFrom({}, { mediaType: "audio/pcm" }, { mediaType: "audio/L16;rate=9000" });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(damaged, fc.uint8Array({ maxLength: 300 })),
        uploads,
        sizes,
        async (bytes, upload, lengths) => {
          try {
            const { input, samples } = await read(bytes, upload, lengths);
            assert.ok(input.encoding === "MP3" || samples.length <= bytes.length);
          } catch (error) {
            assert.ok(error instanceof AppError, String(error));
          }
        },
      ),
      { numRuns: propertyRuns(1000) },
    );
  });
});
