/** `POST /v1/audio/transcriptions` from outside: batch and streaming responses of a scripted model. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { TranscriptionCall } from "../../src/engines/engine.ts";
import {
  delta,
  listen,
  scriptedTranscription,
  segment,
  spoken,
  transcriptionEngine,
  type TranscriptionScript,
} from "../support/scripted-transcription.ts";
import { readFrames } from "../support/test-chat.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";

async function serverWith(script: TranscriptionScript = {}, options: { sentences?: boolean; silenceText?: "" } = {}) {
  const model = scriptedTranscription(script);
  const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)], ...options });
  return Object.assign(server, { calls: model.calls });
}

const request = { model: "scripted", file: toneFile(2) };

/** Two segments by two speakers, the first of them with deltas. */
async function* dialogue(call: TranscriptionCall) {
  await listen(call);
  if (call.partials) {
    yield delta("good");
    yield delta(" mor");
  }
  yield { ...spoken("good morning", { confidence: 0.25 }), speaker: 0 };
  yield { ...spoken("and to you", { startMs: 1_200, confidence: 1 }), speaker: "unknown" as const };
}

describe("a batch answer", async () => {
  const server = await serverWith({ transcribe: dialogue });
  after(() => server[Symbol.asyncDispose]());
  const ask = async (fields: Record<string, string>) => {
    const response = await server.post(formOf({ ...request, ...fields }));
    assert.equal(response.status, 200, await response.clone().text());
    return response.json();
  };

  test("is the text alone in json, which is the default", async () => {
    assert.deepEqual(await ask({}), { text: "good morning and to you" });
    assert.deepEqual(await ask({ response_format: "json" }), { text: "good morning and to you" });
  });

  test("has segments, times and speakers in verbose_json", async () => {
    assert.deepEqual(await ask({ response_format: "verbose_json" }), {
      task: "transcribe",
      language: "en-US",
      duration: 2,
      text: "good morning and to you",
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 0.2,
          text: "good morning",
          avg_logprob: -1.3863,
          compression_ratio: 5.5,
          speaker_id: "Guest-1",
        },
        {
          id: 1,
          seek: 1.2,
          start: 1.2,
          end: 1.5,
          text: "and to you",
          avg_logprob: 0,
          compression_ratio: 2.6667,
          speaker_id: "Unknown",
        },
      ],
      speakers: ["Guest-1", "Unknown"],
    });
  });

  test("has words on request, each with its segment", async () => {
    const answer = (await ask({ response_format: "verbose_json", timestamp_granularities: '["word"]' })) as {
      words: unknown[];
      segments: unknown[];
    };
    assert.equal(answer.segments.length, 2);
    assert.deepEqual(answer.words.slice(1, 3), [
      { word: "morning", start: 0.1, end: 0.18, confidence: 0.25, segment: 0 },
      { word: "and", start: 1.2, end: 1.28, confidence: 1, segment: 1 },
    ]);
  });

  test("has the words' probabilities if include requests them", async () => {
    const answer = (await ask({ "include[]": "logprobs" })) as { logprobs: unknown[] };
    assert.equal(answer.logprobs.length, 5);
    assert.deepEqual(answer.logprobs[0], { token: "good", bytes: [103, 111, 111, 100], logprob: -1.3863 });
  });
});

describe("a stream", async () => {
  const server = await serverWith({ transcribe: dialogue });
  after(() => server[Symbol.asyncDispose]());
  const ask = async (fields: Record<string, string>) => {
    const response = await server.post(formOf({ ...request, stream: "true", ...fields }));
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    return (await readFrames(response)) as { type: string; delta?: string; text?: string; segment?: unknown }[];
  };

  test("is deltas and the whole text without granularities, then [DONE]", async () => {
    const deltas = ["good", " mor", "ning", " and to you"].map((text) => ({
      type: "transcript.text.delta",
      delta: text,
      text,
      logprobs: null,
    }));
    assert.deepEqual(await ask({}), [
      ...deltas,
      { type: "transcript.text.done", text: "good morning and to you", logprobs: null },
      "[DONE]",
    ]);
  });

  test("has word and segment events on request", async () => {
    const granularities = { response_format: "verbose_json", timestamp_granularities: '["word","segment"]' };
    const frames = await ask(granularities);
    assert.deepEqual(
      frames.map(({ type }) => type?.replace("transcript.", "")),
      "text.delta text.delta text.delta word word segment text.delta word word word segment text.done "
        .split(" ")
        .map((type) => type || undefined),
    );
    assert.deepEqual(frames[3], {
      type: "transcript.word",
      word: "good",
      start: 0,
      end: 0.08,
      confidence: 0.25,
      segment: 0,
    });
    assert.equal((frames[5]!.segment as { id: number }).id, 0);
    const only = await ask({ response_format: "verbose_json", timestamp_granularities: '["segment"]' });
    assert.ok(only.every(({ type }) => type !== "transcript.word"));
  });

  test("has the same text as the batch answer, and as its deltas joined", async () => {
    const frames = await ask({});
    const joined = frames.map(({ delta: text = "" }) => text).join("");
    const whole = (await (await server.post(formOf(request))).json()) as { text: string };
    assert.deepEqual([joined, frames.at(-2)!.text], [whole.text, whole.text]);
  });
});

// oxlint-disable-next-line require-yield
async function* silence(call: TranscriptionCall): AsyncGenerator<never, void, undefined> {
  await listen(call);
}

describe("a recording without speech", async () => {
  const server = await serverWith({
    transcribe: silence,
  });
  after(() => server[Symbol.asyncDispose]());

  test("is null in json, and an empty text without segments in verbose_json", async () => {
    assert.deepEqual(await (await server.post(formOf(request))).json(), { text: null });
    const verbose = await server.post(formOf({ ...request, response_format: "verbose_json" }));
    assert.deepEqual(await verbose.json(), {
      task: "transcribe",
      language: "en-US",
      duration: 2,
      text: "",
      segments: [],
    });
  });

  test("is an empty text in json if the server is set so", async () => {
    await using other = await serverWith({ transcribe: silence }, { silenceText: "" });
    assert.deepEqual(await (await other.post(formOf(request))).json(), { text: "" });
  });

  test("is one event with an empty text in a stream", async () => {
    const response = await server.post(formOf({ ...request, stream: "true" }));
    assert.deepEqual(await readFrames(response), [
      { type: "transcript.text.done", text: "", logprobs: null },
      "[DONE]",
    ]);
  });

  test("without any audio is answered without an engine", async () => {
    const before = server.calls.length;
    const response = await server.post(formOf({ ...request, file: toneFile(0) }));
    assert.deepEqual([response.status, await response.json()], [200, { text: null }]);
    assert.equal(server.calls.length, before);
  });
});

describe("the language of a transcription", () => {
  /** A model that detects the language of each segment. */
  const detects = async function* (call: TranscriptionCall) {
    await listen(call);
    yield { ...spoken("oui"), language: call.language ?? "de" };
    yield { ...spoken("bonjour tout le monde", { startMs: 500 }), language: call.language ?? "fr" };
  };
  const reported = async (server: Awaited<ReturnType<typeof serverWith>>, fields: Record<string, string>) => {
    const response = await server.post(formOf({ ...request, response_format: "verbose_json", ...fields }));
    return ((await response.json()) as { language: string }).language;
  };

  test("is the one of most of the speech if the request names none, in batch, streams and telemetry", async () => {
    await using server = await serverWith({ transcribe: detects });
    assert.equal(await reported(server, {}), "fr-FR");
    assert.equal(await reported(server, { language: "auto" }), "fr-FR");
    const frames = await readFrames(await server.post(formOf({ ...request, stream: "true" })));
    const text = "oui bonjour tout le monde";
    assert.deepEqual(frames.slice(-2), [
      { type: "transcript.text.done", text, logprobs: null, language: "fr-FR" },
      "[DONE]",
    ]);
    await server.untilFinished(3);
    assert.deepEqual(
      server.finishedTranscriptions.map(({ language }) => language),
      ["fr-FR", "fr-FR", "fr-FR"],
    );
    assert.deepEqual(
      server.calls.map(({ language }) => language),
      [undefined, undefined, undefined],
    );
  });

  test("is the requested one, with its region, if the model agrees", async () => {
    await using server = await serverWith({ transcribe: detects });
    assert.equal(await reported(server, { language: "fr-CA" }), "fr-CA");
    const frames = await readFrames(await server.post(formOf({ ...request, language: "fr-CA", stream: "true" })));
    assert.deepEqual(frames.at(-2), {
      type: "transcript.text.done",
      text: "oui bonjour tout le monde",
      logprobs: null,
    });
  });

  test("is en-US where neither the request nor the model names one", async () => {
    await using server = await serverWith({ transcribe: dialogue });
    assert.equal(await reported(server, { language: "auto" }), "en-US");
    await server.untilFinished(1);
    assert.equal(server.finishedTranscriptions[0]!.language, "en-US");
  });
});

describe("what a model receives", () => {
  test("is the language with its region, the prompt, and how the recording is segmented", async () => {
    await using server = await serverWith();
    await server.post(
      formOf({
        ...request,
        language: "fr",
        prompt: "Sounding",
        temperature: "0.2",
        chunking_strategy: '{"type": "server_vad", "silence_duration_ms": 700, "threshold": 0.5}',
        response_format: "verbose_json",
        "timestamp_granularities[]": "word",
      }),
    );
    const [{ language, prompt, temperature, chunking, words, partials } = assert.fail()] = server.calls;
    assert.deepEqual(
      { language, prompt, temperature, chunking, words, partials },
      {
        language: "fr-FR",
        prompt: "Sounding",
        temperature: 0.2,
        chunking: { prefixPaddingMs: 4_000, silenceDurationMs: 700 },
        words: true,
        partials: false,
      },
    );
  });

  test("is the audio itself, from the beginning and as often as it asks, at the rate that it requests", async () => {
    const heard: number[] = [];
    await using server = await serverWith({
      async *transcribe(call) {
        heard.push(call.audio.sampleRate);
        for (const rate of [undefined, 8_000, 16_000]) {
          let count = 0;
          for await (const samples of call.audio.open(rate)) count += samples.length;
          heard.push(count);
        }
        yield segment("again");
      },
    });
    await server.post(formOf(request));
    assert.deepEqual(heard, [16_000, 32_000, 16_000, 32_000]);
  });
});

test("sentences are built from segments if the settings say so, the same in a stream", async () => {
  await using server = await serverWith({ transcribe: dialogue }, { sentences: true });
  const text = "Good morning. And to you.";
  assert.deepEqual(await (await server.post(formOf(request))).json(), { text });
  const frames = (await readFrames(await server.post(formOf({ ...request, stream: "true" })))) as { delta?: string }[];
  assert.equal(frames.map(({ delta: part = "" }) => part).join(""), text);
});

test("models that transcribe are listed, and their aliases answer", async () => {
  await using server = await serverWith();
  const list = (await (await server.get("/v1/models")).json()) as { data: { id: string }[] };
  assert.deepEqual(
    list.data.map(({ id }) => id),
    ["scripted", "whisper-1"],
  );
  const answer = await server.post(formOf({ ...request, model: "whisper-1" }));
  assert.deepEqual(await answer.json(), { text: "hello world" });
});
