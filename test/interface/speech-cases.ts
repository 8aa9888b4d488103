/** Speech synthesis with the bundled engine. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BadRequestError, TimeoutError, type SpeechParams, type TTSWordBoundaryEvent } from "@sounding/client";
import type { InterfaceCase } from "./interface-case.ts";
import { dataOf, post } from "./raw-request.ts";

const path = "/v1/audio/speech";
const input = "Dr. Grey paid $3.50, then left. Good night!";
const spoken = { model: "flite", voice: "slt", input };
const withBoundaries = { ...spoken, extra_body: { enable_word_boundary: true } } as const;

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.slice(from, to)).toString("latin1");

/** Seconds of a whole WAV file of 16-bit samples. */
function secondsOf(wav: Uint8Array): number {
  const view = Buffer.from(wav);
  assert.deepEqual([ascii(wav, 0, 4), ascii(wav, 8, 12)], ["RIFF", "WAVE"]);
  return (view.byteLength - 44) / 2 / view.readUInt32LE(24);
}

const isRefusal =
  (param: string) =>
  (error: unknown): boolean =>
    error instanceof BadRequestError && error.param?.endsWith(param) === true;

export const speechCases: readonly InterfaceCase[] = [
  {
    name: "a batch response is the complete audio",
    shows: [
      "speech-responses/batch",
      "speech-responses/audio",
      "clients/speech-operations",
      "speech-requests/model",
      "speech-requests/input",
      "speech-requests/voice",
    ],
    async run({ client }) {
      const speech = await client.audio.speech.create(spoken);
      assert.ok(speech.content instanceof Uint8Array);
      assert.ok(secondsOf(speech.content) > 2);
      assert.equal(speech.word_boundaries, undefined);
      const longer = await client.audio.speech.create({ ...spoken, input: `${input} ${input}` });
      assert.ok(secondsOf(longer.content) > 1.8 * secondsOf(speech.content));
      for (const name of ["model", "input", "voice"]) {
        const params = { ...spoken, [name]: undefined } as unknown as SpeechParams;
        await assert.rejects(async () => client.audio.speech.create(params), isRefusal(name), name);
      }
      await assert.rejects(async () => client.audio.speech.create({ ...spoken, voice: "nobody" }), isRefusal("voice"));
    },
  },
  {
    name: "a speech result can be written to a file, streamed to a file and iterated in chunks",
    shows: ["clients/audio-helpers"],
    async run({ client }) {
      const folder = await mkdtemp(join(tmpdir(), "sounding-speech-"));
      try {
        const speech = await client.audio.speech.create(spoken);
        await speech.write_to_file(join(folder, "written.wav"));
        await speech.stream_to_file(join(folder, "streamed.wav"), 1000);
        assert.ok((await readFile(join(folder, "written.wav"))).equals(speech.content));
        assert.ok((await readFile(join(folder, "streamed.wav"))).equals(speech.content));
        const chunks: Uint8Array[] = [];
        for await (const chunk of speech.iter_bytes(1000)) chunks.push(chunk);
        for (const chunk of speech.iter_bytes(1000)) chunks.push(chunk);
        assert.ok(Buffer.concat(chunks).equals(Buffer.concat([speech.content, speech.content])));
        assert.ok(chunks.slice(0, -1).every(({ length }, index) => length === 1000 || index === chunks.length / 2 - 1));
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  },
  {
    name: "a stream sends the audio in chunks",
    shows: ["speech-responses/stream", "clients/speech-operations"],
    async run({ client }) {
      const text = Array.from({ length: 12 }, (_, index) => `This is sentence number ${index}.`).join(" ");
      const params = { ...spoken, input: text, response_format: "pcm" } as const;
      const chunks: Uint8Array[] = [];
      for await (const chunk of await client.audio.speech.with_streaming_response.create(params)) chunks.push(chunk);
      assert.ok(chunks.length > 1 && chunks.every((chunk) => chunk instanceof Uint8Array));
      assert.ok(Buffer.concat(chunks).equals((await client.audio.speech.create(params)).content));
    },
  },
  {
    name: "word boundaries are returned with the audio if they are enabled",
    shows: [
      "word-boundaries/type",
      "word-boundaries/text",
      "word-boundaries/audio_offset_ms",
      "word-boundaries/duration_ms",
      "word-boundaries/text_offset",
      "word-boundaries/word_length",
      "word-boundaries/boundary_type",
      "speech-requests/extra_body",
      "speech-requests/enable_word_boundary",
      "speech-responses/batch-with-word-boundaries",
    ],
    async run({ client, facts }) {
      const speech = await client.audio.speech.create(withBoundaries);
      const lengthMs = secondsOf(speech.content) * 1000;
      const events = speech.word_boundaries!;
      for (const event of events) {
        const { type, text, text_offset, word_length, audio_offset_ms, duration_ms, boundary_type } = event;
        assert.deepEqual([type, text], ["word_boundary", input.slice(text_offset, text_offset + word_length)]);
        assert.ok(audio_offset_ms >= 0 && duration_ms >= 0 && audio_offset_ms + duration_ms <= lengthMs + 1, text);
        assert.ok(["word", "punctuation", "sentence"].includes(boundary_type));
      }
      const texts = (kind: string): string[] =>
        events.filter(({ boundary_type }) => boundary_type === kind).map(({ text }) => text);
      assert.deepEqual(texts("word"), ["Dr.", "Grey", "paid", "$3.50", "then", "left", "Good", "night"]);
      assert.deepEqual(texts("punctuation"), [",", ".", "!"]);
      assert.deepEqual(texts("sentence"), ["Dr. Grey paid $3.50, then left.", "Good night!"]);
      const response = await fetch(`${facts.url}/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${facts.key}`, "content-type": "application/json" },
        body: JSON.stringify(withBoundaries),
      });
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
      const wire = (await response.json()) as { audio: string; word_boundaries: unknown[] };
      assert.ok(Buffer.from(wire.audio, "base64").equals(speech.content));
      assert.deepEqual(wire.word_boundaries, events);
    },
  },
  {
    name: "a stream with word boundaries mixes bytes and events, and is JSON lines on the wire",
    shows: ["clients/speech-operations", "speech-responses/stream-with-word-boundaries"],
    async run({ client, facts }) {
      const items: (Uint8Array | TTSWordBoundaryEvent)[] = [];
      const stream = await client.audio.speech.with_streaming_response.create(withBoundaries);
      for await (const item of stream) items.push(item);
      const audio = items.filter((item) => item instanceof Uint8Array);
      const rate = Buffer.from(audio[0]!).readUInt32LE(24);
      let sentMs = -1;
      for (const item of items) {
        if (item instanceof Uint8Array) sentMs += (item.length / 2 / rate) * 1000;
        else
          assert.ok(sentMs <= item.audio_offset_ms + 1, `${item.text} at ${item.audio_offset_ms} follows ${sentMs} ms`);
      }
      const events = items.filter((item) => !(item instanceof Uint8Array));
      assert.ok(audio.length > 0 && Buffer.concat(audio).length > 10_000);
      assert.deepEqual(events, (await client.audio.speech.create(withBoundaries)).word_boundaries);
      const response = await fetch(`${facts.url}/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${facts.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...withBoundaries, stream: true }),
      });
      assert.match(response.headers.get("content-type") ?? "", /^application\/x-ndjson/);
      const lines = (await response.text()).trimEnd().split("\n");
      const kinds = new Set(lines.map((line) => (JSON.parse(line) as { type: string }).type));
      assert.deepEqual([...kinds].sort(), ["audio", "word_boundary"]);
      const data = lines.map((line) => (JSON.parse(line) as { data?: string }).data ?? "");
      assert.ok(Buffer.concat(data.map((text) => Buffer.from(text, "base64"))).equals(Buffer.concat(audio)));
    },
  },
  {
    name: "a streamed WAV has no sizes, a batch WAV has the true ones, and a header reports the rate",
    shows: ["speech-requests/stream", "speech-responses/sizes-in-wav-headers", "speech-responses/sample-rate-header"],
    withoutClient: true,
    async run({ facts }) {
      const [batch, streamed] = [await post(facts, path, spoken), await post(facts, path, { ...spoken, stream: true })];
      const wavs = [Buffer.from(await batch.arrayBuffer()), Buffer.from(await streamed.arrayBuffer())] as const;
      const sizes = wavs.map((wav) => [wav.readUInt32LE(4), wav.readUInt32LE(40)]);
      assert.deepEqual(sizes[0], [wavs[0].length - 8, wavs[0].length - 44]);
      assert.deepEqual(sizes[1], [0xff_ff_ff_ff, 0xff_ff_ff_ff]);
      assert.ok(wavs[0].subarray(44).equals(wavs[1].subarray(44)));
      for (const [index, { headers }] of [batch, streamed].entries()) {
        assert.equal(headers.get("x-sample-rate"), String(wavs[index]!.readUInt32LE(24)));
      }
    },
  },
  {
    name: "OpenAI's model names are answered on this machine, and a header reports by which model",
    shows: ["models/default-audio-models", "speech-responses/model-header"],
    withoutClient: true,
    async run({ facts }) {
      for (const model of ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "flite"]) {
        const response = await post(facts, path, { ...spoken, model, voice: "alloy" });
        assert.deepEqual([response.status, response.headers.get("x-model")], [200, "flite"]);
      }
    },
  },
  {
    name: "stream_format sse sends OpenAI's events",
    shows: ["speech-responses/openai-events"],
    withoutClient: true,
    async run({ facts }) {
      const params = { ...spoken, response_format: "pcm" };
      const events = (await dataOf(await post(facts, path, { ...params, stream_format: "sse" })))
        .filter((event) => event !== "[DONE]")
        .map((event) => JSON.parse(event) as { type: string; audio?: string });
      assert.equal(events.at(-1)!.type, "speech.audio.done");
      const deltas = events.slice(0, -1);
      assert.ok(deltas.length > 0 && deltas.every(({ type }) => type === "speech.audio.delta"));
      const audio = Buffer.concat(deltas.map((event) => Buffer.from(event.audio!, "base64")));
      assert.ok(audio.equals(Buffer.from(await (await post(facts, path, params)).arrayBuffer())));
    },
  },
  {
    name: "boundary_types selects words, punctuation and sentences; an empty list is refused",
    shows: ["speech-requests/boundary_types"],
    async run({ client }) {
      const kinds = async (boundary_types: readonly string[]): Promise<string[]> => {
        const extra_body = { enable_word_boundary: true, boundary_types } as SpeechParams["extra_body"];
        const { word_boundaries } = await client.audio.speech.create({ ...spoken, extra_body });
        return [...new Set(word_boundaries!.map(({ boundary_type }) => boundary_type))].sort();
      };
      assert.deepEqual(await kinds(["word"]), ["word"]);
      assert.deepEqual(await kinds(["sentence", "punctuation"]), ["punctuation", "sentence"]);
      await assert.rejects(async () => kinds([]), isRefusal("boundary_types"));
      await assert.rejects(async () => kinds(["syllable"]), /boundary_types/);
    },
  },
  {
    name: "response_format is one of four; the default is wav",
    shows: ["speech-requests/response_format", "speech-responses/formats"],
    async run({ client }) {
      const format = async (response_format?: SpeechParams["response_format"]): Promise<Uint8Array> =>
        (await client.audio.speech.create({ ...spoken, response_format })).content;
      const [absent, wav, pcm] = [await format(), await format("wav"), await format("pcm")];
      assert.ok(Buffer.from(absent).equals(wav));
      // Uncompressed: the same samples, with a header or without.
      assert.ok(Buffer.from(wav.slice(44)).equals(pcm));
      const mp3 = await format("mp3");
      assert.ok(mp3.length < wav.length / 2);
      assert.ok(ascii(mp3, 0, 3) === "ID3" || (mp3[0] === 0xff && (mp3[1]! & 0xe0) === 0xe0));
      const opus = await format("opus");
      assert.deepEqual([ascii(opus, 0, 4), ascii(opus, 28, 36)], ["OggS", "OpusHead"]);
      await assert.rejects(async () => format("flac" as "wav"), isRefusal("response_format"));
    },
  },
  {
    name: "speed is from 0.25 to 4; the default is 1",
    shows: ["speech-requests/speed"],
    async run({ client }) {
      const seconds = async (speed?: number): Promise<number> =>
        secondsOf((await client.audio.speech.create({ ...spoken, speed })).content);
      const [usual, one, double, quarter] = [await seconds(), await seconds(1), await seconds(2), await seconds(0.25)];
      assert.equal(usual, one);
      assert.ok(double / one > 0.4 && double / one < 0.6, `${double / one}`);
      assert.ok(quarter / one > 3.4 && quarter / one < 4.6, `${quarter / one}`);
      assert.ok((await seconds(4)) < double);
      for (const wrong of [0.24, 4.01, 0, -1]) {
        await assert.rejects(async () => seconds(wrong), isRefusal("speed"), `${wrong}`);
      }
    },
  },
  {
    name: "sample_rate is one of six",
    shows: ["speech-requests/sample_rate"],
    async run({ client }) {
      for (const sample_rate of [8000, 16_000, 22_050, 24_000, 44_100, 48_000] as const) {
        const { content } = await client.audio.speech.create({ ...spoken, extra_body: { sample_rate } });
        assert.equal(Buffer.from(content).readUInt32LE(24), sample_rate);
      }
      const wrong = { sample_rate: 11_025 } as unknown as SpeechParams["extra_body"];
      await assert.rejects(async () => client.audio.speech.create({ ...spoken, extra_body: wrong }), /sample_rate/);
    },
  },
  {
    name: "a language that the voice does not speak is refused",
    shows: ["speech-requests/speech_synthesis_language"],
    async run({ client }) {
      const say = (speech_synthesis_language: string) =>
        client.audio.speech.create({ ...spoken, extra_body: { speech_synthesis_language } });
      assert.ok((await say("en-US")).content.length > 1000);
      await assert.rejects(async () => say("fr-FR"), /fr-FR/);
    },
  },
  {
    name: "timeout and extra_headers apply to one call",
    shows: ["clients/call-timeout", "clients/call-headers"],
    async run({ client, facts }) {
      const long = { ...spoken, input: `${input} `.repeat(2000), timeout: 0.05 };
      await assert.rejects(async () => client.audio.speech.create(long), TimeoutError);
      assert.ok((await client.audio.speech.create({ ...spoken, timeout: 60 })).content.length > 1000);
      const accounted = (account: string) =>
        client.audio.speech.create({ ...spoken, extra_headers: { "x-account": account } });
      assert.ok((await accounted(facts.organizationName)).content.length > 1000);
      await assert.rejects(async () => accounted("somebody else"), { status: 403 });
    },
  },
];
