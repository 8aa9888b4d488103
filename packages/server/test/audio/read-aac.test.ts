/** Reads AAC and Apple Lossless with ffmpeg: phone memos with their index at the end, damaged files, and a server without ffmpeg. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { FfmpegDecoder } from "../../src/audio/ffmpeg-decoder.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { readAudio } from "../../src/audio/read-audio.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { runOn } from "./programs.ts";
import { chirp, chirpLag, cut } from "./signals.ts";
import { decoders } from "./wav-files.ts";
import { needs } from "../../../../test/support/needs.ts";

const seconds = 3;
const rate = 16_000;
const directory = mkdtempSync(join(tmpdir(), "sounding-aac-"));
const searchPath = process.env["PATH"];
const ffmpeg = new FfmpegDecoder({ program: "ffmpeg", searchPath, directory });

after(() => rmSync(directory, { recursive: true }));

/** ffmpeg writes to a file, so that the index of an MP4 file is at its end. */
function encode(options: string, sampleRate = 44_100): Buffer {
  const output = join(directory, "encoded");
  runOn(encodeWav(chirp(sampleRate, seconds), sampleRate), "wav", `ffmpeg -v error -y -i {} ${options} ${output}`);
  const bytes = readFileSync(output);
  rmSync(output);
  return bytes;
}

async function read(bytes: Uint8Array, upload: Parameters<typeof readAudio>[1] = {}): Promise<Float32Array> {
  const source = async function* () {
    yield* cut(bytes, [4_000]);
  };
  const input = await readAudio(source, { decoders, ffmpeg, ...upload });
  const collected: Float32Array[] = [];
  for await (const piece of input.open(rate)) collected.push(piece);
  return joinSamples(collected);
}

const isError =
  (code: string, message = /./) =>
  (error: unknown): boolean =>
    error instanceof AppError && error.code === code && message.test(error.message);

describe("AAC", { skip: needs("ffmpeg") }, () => {
  const files: [name: string, options: string, sampleRate?: number][] = [
    ["M4A with its index at the end", "-c:a aac -b:a 64k -f ipod"],
    ["M4A with its index at the front", "-c:a aac -movflags +faststart -f ipod", 48_000],
    ["MP4 in fragments", "-c:a aac -movflags frag_keyframe+empty_moov -f mp4"],
    ["stereo", "-c:a aac -ac 2 -f ipod"],
    ["8000 Hz", "-c:a aac -f ipod", 8_000],
    ["AAC without a container", "-c:a aac -f adts"],
    ["Apple Lossless", "-c:a alac -f ipod"],
  ];
  for (const [name, options, sampleRate] of files) {
    test(`is read at its place in time: ${name}`, async () => {
      const samples = await read(encode(options, sampleRate));
      // The encoder fills up its last frames.
      assert.ok(samples.length >= rate * seconds - 10 && samples.length < rate * (seconds + 0.3), `${samples.length}`);
      // Without an edit list, nothing says how much of the beginning the encoder has added.
      const lag = chirpLag(samples, rate, seconds);
      const most = /adts|empty_moov/.test(options) ? rate * 0.06 : rate * 0.003;
      assert.ok(Math.abs(lag) <= most, `a lag of ${lag} samples`);
    });
  }

  test("that is truncated yields what it contains", async () => {
    const file = encode("-c:a aac -movflags +faststart -f ipod");
    const samples = await read(file.subarray(0, file.length / 2));
    assert.ok(samples.length > rate && samples.length < 2.5 * rate, `${samples.length}`);
  });

  test("that is damaged yields sound or a refusal, and leaves no file", async () => {
    const file = encode("-c:a aac -f ipod");
    for (let position = 12; position < file.length; position += Math.ceil(file.length / 10)) {
      const spoilt = Buffer.from(file);
      spoilt.fill(0xff, position, position + 60);
      await read(spoilt).catch((error: unknown) => assert.ok(isError("invalid_request")(error), String(error)));
    }
    await assert.rejects(read(file.subarray(0, file.length / 2)), isError("invalid_request", /MP4/));
    await assert.rejects(read(encode("-c:a ac3 -f mp4")), isError("invalid_request", /no AAC or Apple Lossless/));
    assert.deepEqual(readdirSync(directory), []);
  });

  test("that is too long is refused", async () => {
    const limits = { maxSeconds: 1 };
    await assert.rejects(read(encode("-c:a aac -f ipod"), { limits }), isError("payload_too_large"));
  });

  test("is not decoded for a call that is cancelled, and its reason is the error", async () => {
    const controller = new AbortController();
    const reason = new AppError("client_closed", "gone");
    const file = encode("-c:a aac -f ipod");
    const source = async function* () {
      yield file;
      controller.abort(reason);
    };
    const { signal } = controller;
    await assert.rejects(
      ffmpeg.open({ source: source(), container: "MP4", limits: { maxSeconds: 10 }, owner: "", signal }),
      (error) => error === reason,
    );
    assert.ok((await read(file)).length > 0, "its place is free again");
  });

  test("is refused without ffmpeg, with the conversion", async () => {
    const absent = new FfmpegDecoder({ program: "no-such-ffmpeg", searchPath, directory });
    for (const options of ["-c:a aac -movflags +faststart -f ipod", "-c:a aac -f adts"]) {
      const refusal = isError("unsupported_media_type", /AAC.*install it there, or convert.*ffmpeg -i/);
      await assert.rejects(read(encode(options), { ffmpeg: absent }), refusal);
    }
  });
});
