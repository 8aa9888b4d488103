/**
 * The encoders, checked by other software: ffmpeg, mpg123, sox and opusinfo decode what we encode.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createEncoder } from "../../src/audio/create-encoder.ts";
import { type AudioFormat, audioContentTypes, audioFormats, audioSampleRates } from "../../src/audio/encoder.ts";
import { joinBytes, joinSamples, toInt16, toInt16Bytes } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { ffmpegDecode, runOn } from "./programs.ts";
import { chirp, chirpLag, cut, loudness } from "./signals.ts";
import { needs } from "../../../../test/support/needs.ts";

const noFfmpeg = needs("ffmpeg");
const seconds = 1.3;

async function encode(
  samples: Float32Array,
  { format, sampleRate, stream }: { format: AudioFormat; sampleRate: number; stream: boolean },
): Promise<Uint8Array> {
  const encoder = await createEncoder({ format, sampleRate, stream });
  const pieces: Uint8Array[] = cut(samples, [1234, 1, 0, 777, 5000]).map((piece) => encoder.push(piece));
  pieces.push(encoder.end());
  return joinBytes(pieces);
}

interface Heard {
  readonly sampleRate: number;
  readonly samples: Float32Array;
}

/** The samples as ffmpeg decodes them; raw samples need no decoder. */
function hear(bytes: Uint8Array, format: AudioFormat, sampleRate: number): Heard {
  if (format === "pcm") return { sampleRate, samples: fromInt16Bytes(bytes) };
  return ffmpegDecode(bytes, format === "opus" ? "ogg" : format);
}

function fromInt16Bytes(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => view.getInt16(index * 2, true) / 32_768);
}

for (const format of audioFormats) {
  describe(`${format}, decoded by ffmpeg`, { skip: noFfmpeg }, () => {
    for (const sampleRate of audioSampleRates) {
      const outputRate = format === "opus" ? 48_000 : sampleRate;
      const samples = chirp(sampleRate, seconds);
      // A decoder is a process: each recording is decoded once, by the first test that needs it.
      const decoded = new Map<boolean, Promise<Heard>>();
      const heardOf = (stream: boolean): Promise<Heard> => {
        const heard =
          decoded.get(stream) ??
          encode(samples, { format, sampleRate, stream }).then((bytes) => hear(bytes, format, sampleRate));
        decoded.set(stream, heard);
        return heard;
      };
      for (const stream of [false, true]) {
        const kind = stream ? "a stream" : "a whole file";
        test(`${kind} at ${String(sampleRate)} Hz has the correct rate, length and loudness, and no delay`, async () => {
          const heard = await heardOf(stream);
          assert.equal(heard.sampleRate, outputRate);
          // The end of a streamed mp3 can be trimmed to its last frame, not further.
          const frame = format === "mp3" && stream ? (sampleRate > 24_000 ? 1152 : 576) / sampleRate : 0;
          const duration = heard.samples.length / heard.sampleRate;
          assert.ok(duration > seconds - 0.001 && duration < seconds + frame + 0.001, `${String(duration)} s`);
          const lag = chirpLag(heard.samples, heard.sampleRate, seconds);
          assert.ok(Math.abs(lag) <= 1, `lag of ${String(lag)} samples`);
          const gain = loudness(heard.samples.subarray(0, seconds * outputRate)) / loudness(samples);
          assert.ok(gain > 0.9 && gain < 1.1, `gain ${String(gain)}`);
        });
      }

      test(`a stream at ${String(sampleRate)} Hz decodes to the samples of the whole file`, async () => {
        const { samples: streamHeard } = await heardOf(true);
        const { samples: wholeHeard } = await heardOf(false);
        assert.deepEqual(streamHeard.subarray(0, wholeHeard.length), wholeHeard);
      });
    }
  });
}

test("a stream yields bytes within the first second, a batch file only at its end", async () => {
  for (const format of audioFormats) {
    for (const stream of [true, false]) {
      const encoder = await createEncoder({ format, sampleRate: 16_000, stream });
      assert.equal(encoder.contentType, audioContentTypes[format]);
      assert.equal(encoder.delaySeconds, 0);
      assert.equal(encoder.push(chirp(16_000, 1)).length > 0, stream);
      encoder.end();
    }
  }
});

test("no samples produce a valid empty file", { skip: noFfmpeg }, async () => {
  for (const format of ["wav", "mp3", "opus"] as const) {
    for (const stream of [true, false]) {
      const bytes = await encode(new Float32Array(0), { format, sampleRate: 24_000, stream });
      const { samples } = ffmpegDecode(bytes, format === "opus" ? "ogg" : format);
      assert.ok(samples.length <= 1152, `${format}: ${String(samples.length)} samples`);
      assert.ok(loudness(samples) < 1e-4);
    }
  }
});

test("concurrent encoders do not affect each other", async () => {
  const samples = chirp(16_000, 0.7);
  for (const format of audioFormats) {
    const alone = await createEncoder({ format, sampleRate: 16_000, stream: true });
    const expected = joinBytes([...cut(samples, [900]).map(alone.push), alone.end()]);
    const one = await createEncoder({ format, sampleRate: 16_000, stream: true });
    const other = await createEncoder({ format, sampleRate: 48_000, stream: true });
    const pieces: Uint8Array[] = [];
    for (const piece of cut(samples, [900])) {
      pieces.push(one.push(piece));
      other.push(piece);
    }
    other.end();
    pieces.push(one.end());
    // Ogg pages contain a random serial number and a checksum over it, so only their lengths are compared.
    assert.equal(joinBytes(pieces).length, expected.length, format);
    if (format !== "opus") assert.deepEqual(joinBytes(pieces), expected, format);
  }
});

test("a batch WAV has its true sizes and a streamed one has 0xFFFFFFFF", async () => {
  const samples = chirp(8000, 0.5);
  const whole = Buffer.from(await encode(samples, { format: "wav", sampleRate: 8000, stream: false }));
  assert.equal(whole.readUInt32LE(4), whole.length - 8);
  assert.equal(whole.readUInt32LE(40), whole.length - 44);
  const streamed = Buffer.from(await encode(samples, { format: "wav", sampleRate: 8000, stream: true }));
  assert.equal(streamed.readUInt32LE(4), 0xffff_ffff);
  assert.equal(streamed.readUInt32LE(40), 0xffff_ffff);
  assert.deepEqual(streamed.subarray(44), whole.subarray(44));
  assert.deepEqual(whole, Buffer.from(encodeWav(samples, 8000)));
});

test("sox plays a streamed WAV to its end", { skip: needs("sox") }, async () => {
  const samples = chirp(22_050, seconds);
  const bytes = await encode(samples, { format: "wav", sampleRate: 22_050, stream: true });
  const raw = runOn(bytes, "wav", "sox --ignore-length {} -t raw -e signed -b 16 -");
  assert.deepEqual(new Uint8Array(raw), toInt16Bytes(samples));
});

test("mpg123 trims a batch mp3 to the original samples", { skip: needs("mpg123") }, async () => {
  for (const sampleRate of audioSampleRates) {
    const samples = chirp(sampleRate, seconds);
    const bytes = await encode(samples, { format: "mp3", sampleRate, stream: false });
    const raw = runOn(bytes, "mp3", `mpg123 -q -r ${String(sampleRate)} -s {}`);
    assert.equal(raw.length / 2, samples.length);
    const heard = fromInt16Bytes(raw);
    assert.ok(Math.abs(chirpLag(heard, sampleRate, seconds)) <= 1);
  }
});

test("opusinfo reports no fault and the original rate", { skip: needs("opus-tools") }, async () => {
  for (const sampleRate of audioSampleRates) {
    for (const stream of [true, false]) {
      const bytes = await encode(chirp(sampleRate, 2.5), { format: "opus", sampleRate, stream });
      const report = runOn(bytes, "opus", "opusinfo {}").toString();
      assert.doesNotMatch(report, /warning|error|hole|invalid/i);
      assert.match(report, new RegExp(`Original sample rate: ${String(sampleRate)} Hz`));
      assert.match(report, /Playback length: 0m:02\.500s/);
    }
  }
});

test("a rate that a format does not support is refused by name, with the supported ones", async () => {
  await assert.rejects(
    createEncoder({ format: "mp3", sampleRate: 96_000, stream: true }),
    (error: unknown) =>
      error instanceof AppError &&
      error.code === "invalid_request" &&
      error.param === "sample_rate" &&
      error.message.includes("96000") &&
      error.message.includes("44100"),
  );
  for (const sampleRate of [0, -8000, 999, 8000.5, Number.NaN, 400_000]) {
    for (const format of audioFormats) {
      await assert.rejects(createEncoder({ format, sampleRate, stream: true }), AppError);
    }
  }
});

test("samples beyond full scale are clipped, and 16-bit samples survive a round trip", () => {
  assert.deepEqual(
    [...toInt16(Float32Array.of(2, -2, 1, -1, 0, Number.NaN))],
    [32_767, -32_768, 32_767, -32_768, 0, 0],
  );
  const all = Float32Array.from({ length: 65_536 }, (_, index) => (index - 32_768) / 32_768);
  assert.deepEqual(fromInt16Bytes(toInt16Bytes(all)), all);
  assert.deepEqual(joinSamples([all.subarray(0, 9), all.subarray(9)]), all);
});
