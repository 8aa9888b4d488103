/**
 * Reads recordings: every encoding compared with ffmpeg's output, false sizes, raw samples, the source.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { readAudio } from "../../src/audio/read-audio.ts";
import { joinSamples, toInt16Bytes } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { ffmpegDecode, runOn } from "./programs.ts";
import { chirp, cut, noise } from "./signals.ts";
import { chunk, formatChunk, read, riff } from "./wav-files.ts";
import { needs } from "../../../../test/support/needs.ts";

const sound = chirp(16_000, 0.1);
const soundBytes = toInt16Bytes(sound);
const exactSound = Float32Array.from(sound, (sample) => Math.round(sample * 32_768) / 32_768);
const pcm16 = formatChunk({ tag: 1, bits: 16 });

describe("WAV in every encoding", { skip: needs("ffmpeg") }, () => {
  const codecs = ["pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw"];
  for (const codec of codecs) {
    for (const channels of [1, 2, 6]) {
      test(`${codec} with ${String(channels)} channels decodes as in ffmpeg`, async () => {
        const wave = encodeWav(joinSamples([noise(2000, 0.99), chirp(44_100, 0.05)]), 44_100);
        const file = runOn(wave, "wav", `ffmpeg -v error -i {} -ac ${String(channels)} -c:a ${codec} -f wav -`);
        const { input, samples } = await read(file);
        assert.equal(input.sampleRate, 44_100);
        assert.equal(input.channels, channels);
        const expected = mean(ffmpegDecode(file, "wav").samples, channels);
        assert.equal(samples.length, expected.length);
        for (const [index, sample] of samples.entries()) {
          const difference = Math.abs(sample - (expected[index] ?? 0));
          assert.ok(difference < 1e-6, `sample ${String(index)} is off by ${String(difference)}`);
        }
      });
    }
  }

  test("RF64 with its sizes in the ds64 chunk", async () => {
    const file = runOn(encodeWav(sound, 16_000), "wav", "ffmpeg -v error -i {} -rf64 always -f wav -");
    assert.equal(file.toString("latin1", 0, 4), "RF64");
    assert.deepEqual((await read(file)).samples, exactSound);
  });
});

function mean(samples: Float32Array, channels: number): Float32Array {
  return Float32Array.from({ length: samples.length / channels }, (_, index) => {
    const frame = samples.subarray(index * channels, (index + 1) * channels);
    return frame.reduce((sum, sample) => sum + sample, 0) / channels;
  });
}

describe("WAV whose header is unusual", () => {
  const data = chunk("data", soundBytes);
  const ds64 = Buffer.alloc(28);
  ds64.writeUInt32LE(soundBytes.length, 8);
  const files: Record<string, Uint8Array> = {
    "as it should be": riff([pcm16, data]),
    "extensible format": riff([formatChunk({ tag: 1, bits: 16, extensible: true }), data]),
    "a list of odd length before the samples": riff([chunk("LIST", Buffer.from("INFOabc")), pcm16, data]),
    "a chunk between format and samples": riff([pcm16, chunk("fact", Buffer.alloc(4)), data]),
    "trailing chunk": riff([pcm16, data, chunk("LIST", Buffer.alloc(333, 7))]),
    "streaming sizes": riff([pcm16, chunk("data", soundBytes, 0xffff_ffff)], { size: 0xffff_ffff }),
    "sizes of zero": riff([pcm16, chunk("data", soundBytes, 0)], { size: 0 }),
    "a data size of zero and the header's own size": riff([pcm16, chunk("data", soundBytes, 0)], { size: 36 }),
    "sox's size of a pipe": riff([pcm16, chunk("data", soundBytes, 0x7fff_ffff)], { size: 0x7fff_ffff }),
    RF64: riff([chunk("ds64", ds64), pcm16, chunk("data", soundBytes, 0xffff_ffff), chunk("LIST", ds64)], {
      id: "RF64",
      size: 0xffff_ffff,
    }),
    "no size of a block": riff([formatChunk({ tag: 1, bits: 16, blockBytes: 0 }), data]),
    "bytes after the end": Buffer.concat([riff([pcm16, data]), Buffer.from("tail")]),
  };
  for (const [name, file] of Object.entries(files)) {
    test(`${name}: exactly its samples`, async () => {
      for (const lengths of [[file.length], [1], [7, 4096, 3]]) {
        assert.deepEqual((await read(file, {}, lengths)).samples, exactSound);
      }
    });
  }

  test("a truncated file yields what is present, in whole frames", async () => {
    const file = riff([formatChunk({ tag: 1, bits: 16, channels: 2 }), data]);
    for (const missingBytes of [1, 2, 3, 4, 400]) {
      const { samples } = await read(file.subarray(0, file.length - missingBytes));
      assert.equal(samples.length, Math.floor((soundBytes.length - missingBytes) / 4));
    }
  });

  test("an empty file yields no samples", async () => {
    for (const trailing of [[], [chunk("LIST", Buffer.alloc(10))]]) {
      const file = riff([pcm16, chunk("data", Buffer.alloc(0)), ...trailing]);
      assert.equal((await read(file)).samples.length, 0);
    }
  });

  test("one sample, 16 channels, 384 kHz", async () => {
    const format = formatChunk({ tag: 1, bits: 24, channels: 16, sampleRate: 384_000 });
    const { input, samples } = await read(riff([format, chunk("data", Buffer.alloc(48, 0x20))]));
    assert.equal(input.sampleRate, 384_000);
    assert.equal(samples.length, 1);
    assert.ok(Math.abs((samples[0] ?? 0) - 0x20_20_20 / 2 ** 23) < 1e-7);
  });

  test("NaN becomes silence, and floats beyond full scale are clipped", async () => {
    const content = Buffer.from(Float32Array.of(Number.NaN, Infinity, -3, 0.25).buffer);
    const { samples } = await read(riff([formatChunk({ tag: 3, bits: 32 }), chunk("data", content)]));
    assert.deepEqual(samples, Float32Array.of(0, 1, -1, 0.25));
  });
});

describe("raw samples", () => {
  const swapped = Buffer.from(soundBytes).swap16();

  test("audio/pcm and names in .pcm and .raw are 16-bit little-endian, 16 000 Hz mono", async () => {
    const uploads = [
      { mediaType: "audio/pcm" },
      { fileName: "a.pcm" },
      { fileName: "A.RAW", mediaType: "application/octet-stream" },
      { mediaType: "audio/L16" },
    ];
    for (const upload of uploads) {
      const { input, samples } = await read(soundBytes, upload);
      assert.deepEqual([input.sampleRate, input.channels], [16_000, 1]);
      assert.deepEqual(samples, exactSound);
    }
  });

  test("rate and channels are read from the media type", async () => {
    const { input, samples } = await read(soundBytes, { mediaType: 'Audio/PCM; RATE="8000" ; channels=2' });
    assert.deepEqual([input.sampleRate, input.channels], [8000, 2]);
    assert.deepEqual(samples, mean(exactSound, 2));
  });

  test("audio/L16 in network byte order is detected from its sound", async () => {
    assert.deepEqual((await read(swapped, { mediaType: "audio/L16;rate=16000" })).samples, exactSound);
    assert.deepEqual((await read(swapped, { mediaType: "audio/L16" }, [1])).samples, exactSound);
  });

  test("data that begins like a WAV file is one, whatever its name", async () => {
    const file = encodeWav(sound, 8000);
    const { input } = await read(file, { mediaType: "audio/pcm; rate=48000", fileName: "a.raw" });
    assert.equal(input.sampleRate, 8000);
  });
});

describe("the source", () => {
  async function* watched(bytes: Uint8Array, seen: { closed: boolean; asked: number }): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of cut(bytes, [200])) {
        await Promise.resolve();
        seen.asked += 1;
        yield piece;
      }
    } finally {
      seen.closed = true;
    }
  }

  test("is closed when the file is refused or its reader leaves early, and only what is needed is read", async () => {
    const refused = { closed: false, asked: 0 };
    await assert.rejects(readAudio(watched(Buffer.alloc(5000), refused)), AppError);
    assert.equal(refused.closed, true);

    const left = { closed: false, asked: 0 };
    const input = await readAudio(watched(encodeWav(sound, 16_000), left));
    assert.ok(left.asked <= 2);
    for await (const piece of input.open()) {
      assert.ok(piece.length > 0);
      break;
    }
    assert.equal(left.closed, true);
    assert.ok(left.asked <= 2);
  });

  test("is read to its end, so data after the samples does not block an upload", async () => {
    const seen = { closed: false, asked: 0 };
    const file = riff([pcm16, chunk("data", soundBytes), chunk("LIST", Buffer.alloc(4000))]);
    const input = await readAudio(watched(file, seen));
    for await (const piece of input.open()) assert.ok(piece.length > 0);
    assert.equal(seen.asked, Math.ceil(file.length / 200));
  });

  test("keeps its own error", async () => {
    const failure = new Error("the upload broke off");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield riff([pcm16, chunk("data", soundBytes)]).subarray(0, 1000);
      await Promise.resolve();
      throw failure;
    }
    const input = await readAudio(broken());
    await assert.rejects(async () => {
      for await (const piece of input.open()) assert.ok(piece.length > 0);
    }, failure);
  });
});
