/** OpenAI's official SDK for Node, unchanged, transcribes: batch, verbose and streaming. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import OpenAI, { BadRequestError, NotFoundError } from "openai";
import type { TranscriptionCall } from "../../src/engines/engine.ts";
import {
  delta,
  listen,
  scriptedTranscription,
  spoken,
  transcriptionEngine,
} from "../support/scripted-transcription.ts";
import { testSecret } from "../support/test-http.ts";
import { startTestTranscription, toneFile } from "../support/test-transcription.ts";

async function* greeting(call: TranscriptionCall) {
  await listen(call);
  if (call.partials) yield delta("good");
  yield spoken("good morning");
}

const model = scriptedTranscription({ transcribe: greeting });
const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)] });
after(() => server[Symbol.asyncDispose]());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: testSecret, maxRetries: 0 });
const file = new File([toneFile(2)], "talk.wav", { type: "audio/wav" });

describe("OpenAI's SDK", () => {
  test("gets a batch answer", async () => {
    assert.equal((await client.audio.transcriptions.create({ file, model: "whisper-1" })).text, "good morning");
  });

  test("gets segments and words", async () => {
    const answer = await client.audio.transcriptions.create({
      file,
      model: "scripted",
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
      language: "en",
      chunking_strategy: { type: "server_vad", silence_duration_ms: 500 },
    });
    assert.equal(answer.duration, 2);
    assert.deepEqual(
      answer.words!.map(({ word }) => word),
      ["good", "morning"],
    );
    assert.equal(answer.segments![0]!.text, "good morning");
    assert.deepEqual(model.calls.at(-1)!.chunking, { prefixPaddingMs: 4_000, silenceDurationMs: 500 });
  });

  test("gets events, and word probabilities if it includes them", async () => {
    const stream = await client.audio.transcriptions.create({
      file,
      model: "scripted",
      stream: true,
      response_format: "json",
      include: ["logprobs"],
    });
    let joined = "";
    let whole: string | undefined;
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") joined += event.delta;
      if (event.type !== "transcript.text.done") continue;
      whole = event.text;
      assert.deepEqual(
        event.logprobs!.map(({ token }) => token),
        ["good", "morning"],
      );
    }
    assert.deepEqual([joined, whole], ["good morning", "good morning"]);
  });

  test("throws errors that match our statuses", async () => {
    await assert.rejects(client.audio.transcriptions.create({ file, model: "none" }), NotFoundError);
    const wrong = client.audio.transcriptions.create({ file, model: "scripted", response_format: "srt" });
    await assert.rejects(wrong, (error) => error instanceof BadRequestError && error.param === "response_format");
  });
});
