/** OpenAI's response formats that are not JSON, with OpenAI's SDK: allowed by a setting, because the contract does not list them. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import OpenAI, { BadRequestError } from "openai";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import {
  listen,
  scriptedTranscription,
  segment,
  spoken,
  transcriptionEngine,
} from "../support/scripted-transcription.ts";
import { testSecret } from "../support/test-http.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";

const model = scriptedTranscription({
  async *transcribe(call) {
    await listen(call);
    yield spoken("good morning", { startMs: 3_661_500 });
    yield segment("fish & <chips>", { startMs: 3_663_000, endMs: 3_664_250, speaker: 0 });
    // Too long for one subtitle.
    yield spoken(Array.from({ length: 20 }, (_, index) => `word${index + 10}`).join(" "), { startMs: 3_670_000 });
  },
});
const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)], textFormats: true });
after(() => server[Symbol.asyncDispose]());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: testSecret, maxRetries: 0 });
const file = new File([toneFile(1)], "talk.wav", { type: "audio/wav" });
const nothing = new File([encodeWav(new Float32Array(0), 16_000)], "silence.wav", { type: "audio/wav" });

const ask = (response_format: "text" | "srt" | "vtt", recording = file): Promise<unknown> =>
  client.audio.transcriptions.create({ file: recording, model: "scripted", response_format });

describe("OpenAI's text formats", () => {
  test("text is the text and a line break", async () => {
    const { text } = await client.audio.transcriptions.create({ file, model: "scripted" });
    assert.equal(await ask("text"), `${text}\n`);
  });

  test("srt has a cue for each segment, and several for a long one", async () => {
    const srt = (await ask("srt")) as string;
    const [first, second, third, fourth, ...more] = srt.split("\n\n");
    assert.equal(first, "1\n01:01:01,500 --> 01:01:01,700\ngood morning");
    assert.equal(second, "2\n01:01:03,000 --> 01:01:04,250\nGuest-1: fish & <chips>");
    assert.match(third!, /^3\n01:01:10,000 --> 01:01:11,180\nword10 .* word21$/);
    assert.match(fourth!, /^4\n01:01:11,200 --> .*\nword22 .* word29\n$/);
    assert.deepEqual(more, []);
  });

  test("vtt has the same cues, with its characters escaped", async () => {
    const vtt = (await ask("vtt")) as string;
    const [head, first, second] = vtt.split("\n\n");
    assert.equal(head, "WEBVTT");
    assert.equal(first, "01:01:01.500 --> 01:01:01.700\ngood morning");
    assert.equal(second, "01:01:03.000 --> 01:01:04.250\n<v Guest-1>fish &amp; &lt;chips&gt;");
  });

  test("have their media types", async () => {
    const types = await Promise.all(
      ["text", "srt", "vtt"].map(async (response_format) => {
        const response = await server.post(formOf({ model: "scripted", response_format, file }));
        return response.headers.get("content-type");
      }),
    );
    assert.deepEqual(types, [
      "text/plain; charset=utf-8",
      "application/x-subrip; charset=utf-8",
      "text/vtt; charset=utf-8",
    ]);
  });

  test("are empty without speech, while json has null", async () => {
    assert.equal(await ask("text", nothing), "");
    assert.equal(await ask("srt", nothing), "");
    assert.equal(await ask("vtt", nothing), "WEBVTT\n");
    const { text } = await client.audio.transcriptions.create({ file: nothing, model: "scripted" });
    assert.equal(text, null);
  });

  test("cannot be streamed, and have no granularities", async () => {
    const stream = client.audio.transcriptions.create({
      file,
      model: "scripted",
      response_format: "srt",
      stream: true,
    });
    await assert.rejects(stream, (error) => error instanceof BadRequestError && error.param === "response_format");
    const timed = { timestamp_granularities: ["word" as const], response_format: "vtt" as const };
    const refused = client.audio.transcriptions.create({ file, model: "scripted", ...timed });
    await assert.rejects(
      refused,
      (error) => error instanceof BadRequestError && error.param === "timestamp_granularities",
    );
  });

  test("are refused by default, with the setting that allows them; other values always are", async () => {
    await using strict = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)] });
    for (const response_format of ["text", "srt", "vtt"]) {
      const response = await strict.post(formOf({ model: "scripted", response_format, file }));
      assert.equal(response.status, 400);
      assert.match(await response.text(), /expected one of .*verbose_json.*transcription\.text_formats/);
    }
    assert.equal((await server.post(formOf({ model: "scripted", response_format: "xml", file }))).status, 400);
  });
});
