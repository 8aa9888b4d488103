/** `POST /v1/audio/speech` from outside, spoken by Flite. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import OpenAI from "openai";
import type { WordBoundary } from "../../src/api/speech.ts";
import { silentLogger } from "../../src/logger.ts";
import { createFliteEngine } from "../../src/engines/flite/engine.ts";
import { testSecret } from "../support/test-http.ts";
import { startTestSpeech } from "../support/test-speech.ts";
import { runOn } from "../audio/programs.ts";
import { fliteEngineSettings } from "./engine-settings.ts";
import { decode, probe } from "./decoders.ts";
import { needs } from "../../../../test/support/needs.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";

const engine = createFliteEngine("flite", { ...fliteEngineSettings, preload: false }, { logger: silentLogger });
const server = await startTestSpeech({ engines: [engine], voices: { narrator: ["nobody", "rms"] } });
after(() => server[Symbol.asyncDispose]());

const text = "Hello there, world. This is a test of speech!";
const spoken = { model: "flite", voice: "rms", input: text };

/** Never shows the bytes: a diff of two recordings takes hours. */
function assertSame(one: Buffer, other: Buffer): void {
  assert.ok(one.equals(other), `${one.length} and ${other.length} bytes differ`);
}

async function bytesOf(response: Response): Promise<Buffer> {
  assert.equal(response.status, 200, await response.clone().text());
  return Buffer.from(await response.arrayBuffer());
}

type Line = { type: "audio"; data: string } | WordBoundary;

async function linesOf(response: Response): Promise<Line[]> {
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  const lines = (await response.text()).split("\n");
  assert.equal(lines.pop(), "");
  return lines.map((line) => JSON.parse(line) as Line);
}

describe("formats", { skip: needs("ffmpeg") }, () => {
  const types = { wav: "audio/wav", mp3: "audio/mpeg", pcm: "audio/pcm", opus: "audio/ogg; codecs=opus" } as const;
  const codecs = { wav: "pcm_s16le", mp3: "mp3", opus: "opus" } as const;

  // The voice that takes a fifth of the others' time.
  const quick = { ...spoken, voice: "kal16" };
  const short = { ...quick, input: "Hello there." };

  for (const rate of [8_000, 16_000, 22_050, 24_000, 44_100, 48_000]) {
    let pcm: Buffer;
    for (const format of ["pcm", "wav", "mp3", "opus"] as const) {
      test(`${format} at ${rate} Hz has the correct type, rate and length, batch and streamed`, async () => {
        pcm ??= await bytesOf(await server.post({ ...short, response_format: "pcm", sample_rate: rate }));
        // Each decoder is a process: both deliveries are decoded at one rate, some of the others in rotation.
        for (const stream of rate === 24_000 ? [false, true] : [rate % 2_000 === 0]) {
          const response = await server.post({ ...short, response_format: format, sample_rate: rate, stream });
          assert.equal(response.headers.get("content-type"), types[format]);
          assert.equal(response.headers.get("x-sample-rate"), String(rate));
          const audio = await bytesOf(response);
          if (format === "pcm") {
            assertSame(audio, pcm);
            continue;
          }
          const { codec_name: codec, sample_rate: found, channels } = probe(audio);
          assert.deepEqual([codec, Number(found), channels], [codecs[format], format === "opus" ? 48_000 : rate, 1]);
          if (!isThorough && ![8_000, 24_000, 44_100].includes(rate)) continue;
          const seconds = decode(audio, rate).length / rate;
          // A streamed MP3 cannot mark its end, and ffmpeg does not find the mark of a whole one that it reads from a pipe.
          const frame = (rate > 24_000 ? 1_152 : 576) / rate;
          const tolerance = format === "mp3" ? frame + (stream ? 0.15 : 0) : 0.02;
          assert.ok(
            Math.abs(seconds - pcm.length / 2 / rate) < tolerance,
            `${seconds} s, not ${pcm.length / 2 / rate} s`,
          );
        }
      });
    }
  }

  test("without sample_rate the answer has the engine's own rate, without response_format it is WAV", async () => {
    const response = await server.post(spoken);
    assert.equal(response.headers.get("x-sample-rate"), "16000");
    const audio = await bytesOf(response);
    assert.equal(audio.readUInt32LE(4), audio.length - 8);
    assert.equal(audio.readUInt32LE(24), 16_000);
  });

  for (const format of ["wav", "mp3", "opus"] as const) {
    test(`${format} decodes to the same samples batch and streamed, without clicks between pieces`, async () => {
      const long = { ...quick, input: `${text} `.repeat(3), response_format: format, sample_rate: 24_000 };
      const whole = decode(await bytesOf(await server.post(long)), 24_000);
      const streamed = decode(await bytesOf(await server.post({ ...long, stream: true })), 24_000);
      // A player trims an MP3's initial silence only if a header declares it, which a stream cannot have.
      const from = whole.length >> 1;
      const lag = Array.from({ length: format === "mp3" ? 3_000 : 1 }, (_, index) => index).find((each) =>
        whole.subarray(from, from + 500).every((sample, index) => sample === streamed[from + index + each]),
      );
      assert.ok(lag !== undefined, "the middle is found in the stream");
      const same = whole.filter((sample, index) => sample === streamed[index + lag]).length;
      assert.ok(same / whole.length > 0.999, `${same} of ${whole.length} samples are the same`);
    });
  }

  for (const [format, program, software, command] of [
    ["wav", "sox", "sox", "sox {} -n stat"],
    ["mp3", "mpg123", "mpg123", "mpg123 -q -t {}"],
    ["opus", "opusinfo", "opus-tools", "opusinfo {}"],
  ] as const) {
    test(`streamed ${format} is accepted by ${program}`, { skip: needs(software) }, async () => {
      for (const rate of [8_000, 22_050, 48_000]) {
        const streamed = { ...quick, response_format: format, sample_rate: rate, stream: true };
        const printed = runOn(await bytesOf(await server.post(streamed)), format, command).toString();
        if (format === "opus") assert.match(printed, /Playback length: 0m:0[2-5]/);
      }
    });
  }

  test("a streamed WAV has open sizes and the same samples", async () => {
    const whole = await bytesOf(await server.post(spoken));
    const streamed = await bytesOf(await server.post({ ...spoken, stream: true }));
    assert.equal(streamed.readUInt32LE(4), 0xffffffff);
    assertSame(streamed.subarray(44), whole.subarray(44));
  });
});

describe("word boundaries", () => {
  const expected = [
    ["sentence", "Hello there, world."],
    ["word", "Hello"],
    ["word", "there"],
    ["punctuation", ","],
    ["word", "world"],
    ["punctuation", "."],
    ["sentence", "This is a test of speech!"],
    ...["This", "is", "a", "test", "of", "speech"].map((word) => ["word", word]),
    ["punctuation", "!"],
  ];

  test("a batch answer is JSON with the audio and every boundary", async () => {
    const response = await server.post({ ...spoken, extra_body: { enable_word_boundary: true } });
    assert.equal(response.headers.get("content-type"), "application/json");
    const answer = (await response.json()) as { audio: string; word_boundaries: WordBoundary[] };
    assert.deepEqual(
      answer.word_boundaries.map((each) => [each.boundary_type, each.text]),
      expected,
    );
    assertSame(Buffer.from(answer.audio, "base64"), await bytesOf(await server.post(spoken)));
    let offset = 0;
    for (const each of answer.word_boundaries) {
      assert.equal(each.type, "word_boundary");
      assert.equal(text.slice(each.text_offset, each.text_offset + each.word_length), each.text);
      assert.ok(each.audio_offset_ms >= offset);
      offset = each.audio_offset_ms;
    }
    const [first, second] = answer.word_boundaries.filter((each) => each.boundary_type === "sentence");
    assert.ok(first!.audio_offset_ms + first!.duration_ms <= second!.audio_offset_ms);
  });

  test("a stream has one JSON object per line, each boundary before its audio, and the same audio as the batch answer", async () => {
    const request = { ...spoken, response_format: "pcm", stream: true, enable_word_boundary: true };
    const lines = await linesOf(await server.post(request));
    let samples = 0;
    let last = 0;
    const audio: Buffer[] = [];
    for (const line of lines) {
      if (line.type === "audio") {
        audio.push(Buffer.from(line.data, "base64"));
        samples += audio.at(-1)!.length / 2;
        assert.ok(line.data.length <= 32_000);
      } else {
        assert.ok(line.audio_offset_ms >= last && line.audio_offset_ms >= (samples / 16_000) * 1000 - 0.1);
        last = line.audio_offset_ms;
      }
    }
    assert.deepEqual(
      lines.flatMap((line) => (line.type === "audio" ? [] : [[line.boundary_type, line.text]])),
      expected,
    );
    assertSame(Buffer.concat(audio), await bytesOf(await server.post({ ...spoken, response_format: "pcm" })));
  });

  test("boundary_types selects among them", async () => {
    const request = { ...spoken, enable_word_boundary: true, boundary_types: ["punctuation"] };
    const answer = (await (await server.post(request)).json()) as { word_boundaries: WordBoundary[] };
    assert.deepEqual(
      answer.word_boundaries.map((each) => each.text),
      [",", ".", "!"],
    );
  });

  test("times scale with the speed", async () => {
    const timeOfSpeech = async (speed: number): Promise<number> => {
      const response = await server.post({ ...spoken, speed, enable_word_boundary: true, boundary_types: ["word"] });
      const { word_boundaries: words } = (await response.json()) as { word_boundaries: WordBoundary[] };
      return words.at(-1)!.audio_offset_ms;
    };
    const [slow, fast] = [await timeOfSpeech(0.5), await timeOfSpeech(2)];
    assert.ok(slow / fast > 3.5 && slow / fast < 4.5);
  });
});

describe("voices", () => {
  test("the catalogue lists them, by model and by language", async () => {
    const all = (await (await server.get("/v1/audio/voices")).json()) as { object: string; data: { name: string }[] };
    assert.equal(all.object, "list");
    assert.deepEqual(
      all.data.map(({ name }) => name),
      ["slt", "rms", "awb", "kal16"],
    );
    const scottish = (await (await server.get("/v1/audio/voices?model=flite&language=en-GB")).json()) as typeof all;
    assert.deepEqual(
      scottish.data.map(({ name }) => name),
      ["awb"],
    );
    assert.equal((await server.get("/v1/audio/voices?model=nothing")).status, 404);
  });

  const standIns: [asked: string, voice: string][] = [
    ["alloy", "slt"],
    ["onyx", "rms"],
    ["en-US-JennyNeural", "slt"],
    ["en-US-GuyNeural", "rms"],
    ["en-GB-RyanNeural", "awb"],
    ["KAL16", "kal16"],
    ["narrator", "rms"],
  ];
  for (const [asked, voice] of standIns) {
    test(`${asked} is spoken by ${voice}`, async () => {
      const [one, other] = [asked, voice].map((name) => server.post({ ...spoken, input: "Yes.", voice: name }));
      assertSame(await bytesOf(await one!), await bytesOf(await other!));
    });
  }

  const refused: [what: string, changes: object, param: string, message: RegExp][] = [
    ["an unknown voice", { voice: "nobody" }, "voice", /"nobody"; it must be one of "slt", "rms", "awb", "kal16"/],
    [
      "a language that the voice lacks",
      { speech_synthesis_language: "fr-FR" },
      "speech_synthesis_language",
      /speaks en-US/,
    ],
    ["a well-known voice of another language", { voice: "fr-FR-DeniseNeural" }, "voice", /no voice for fr-FR/],
    ["instructions", { instructions: "Whisper." }, "instructions", /does not support instructions/],
  ];
  for (const [what, changes, param, message] of refused) {
    test(`${what} is refused`, async () => {
      const response = await server.post({ ...spoken, ...changes });
      const { error } = (await response.json()) as { error: { message: string; param: string } };
      assert.deepEqual([response.status, error.param], [400, param]);
      assert.match(error.message, message);
    });
  }

  test("a language that the voice supports is accepted", async () => {
    await bytesOf(await server.post({ ...spoken, speech_synthesis_language: "en-US" }));
  });
});

describe("OpenAI's client", () => {
  const client = new OpenAI({ apiKey: testSecret, baseURL: `${server.url}/v1`, maxRetries: 0 });

  test("gets audio, batch and as a stream", async () => {
    const whole = await client.audio.speech.create({
      model: "tts-1",
      voice: "alloy",
      input: "Hello.",
      response_format: "mp3",
    });
    const bytes = Buffer.from(await whole.arrayBuffer());
    assert.equal(whole.headers.get("content-type"), "audio/mpeg");
    assert.ok(bytes.length > 2_000);
    const streamed = await client.audio.speech.create(
      { model: "flite", voice: "alloy", input: text, response_format: "pcm" },
      { body: { model: "flite", voice: "alloy", input: text, response_format: "pcm", stream: true } },
    );
    let length = 0;
    for await (const chunk of streamed.body!) length += chunk.length;
    assert.ok(length > 60_000);
  });

  test("gets OpenAI's events with stream_format sse", async () => {
    const request = { ...spoken, response_format: "pcm" as const, stream_format: "sse" as const };
    const response = await client.audio.speech.create(request);
    assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
    const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
    const events = frames.map((frame) => JSON.parse(frame.replace(/^data: /, "")) as { type: string; audio?: string });
    const last = events.pop();
    assert.deepEqual(last, {
      type: "speech.audio.done",
      usage: { input_tokens: 12, output_tokens: 0, total_tokens: 12 },
    });
    assert.ok(events.every(({ type }) => type === "speech.audio.delta"));
    const audio = Buffer.concat(events.map((event) => Buffer.from(event.audio!, "base64")));
    assertSame(audio, await bytesOf(await server.post({ ...spoken, response_format: "pcm" })));
  });
});
