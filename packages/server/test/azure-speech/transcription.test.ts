/** Azure's fast transcription, from a scripted server. */
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AzureSpeechSettings } from "../../src/config/engines/azure-speech.ts";
import type { TranscribedSegment, TranscriptionCall } from "../../src/engines/engine.ts";
import { sine } from "../audio/signals.ts";
import { recordedAudio } from "../support/recorded-audio.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";
import { azureKey, startAzure } from "./azure-server.ts";

const recording = recordedAudio(sine(440, 16_000, 2), 16_000);

const answer = {
  durationMilliseconds: 2_000,
  combinedPhrases: [{ text: "Good morning. Hello?" }],
  phrases: [
    {
      speaker: 2,
      offsetMilliseconds: 0,
      durationMilliseconds: 900,
      text: "Good morning.",
      words: [
        { text: "Good", offsetMilliseconds: 0, durationMilliseconds: 400 },
        { text: "morning.", offsetMilliseconds: 400, durationMilliseconds: 500 },
      ],
      locale: "en-US",
      confidence: 0.5,
    },
    {
      speaker: 1,
      offsetMilliseconds: 1_100,
      durationMilliseconds: 700,
      text: "Hello?",
      words: [{ text: "Hello?", offsetMilliseconds: 1_100, durationMilliseconds: 700 }],
      locale: "en-US",
      confidence: 0.9,
    },
  ],
};

interface Asked {
  readonly path: string | undefined;
  readonly key: unknown;
  readonly definition: unknown;
  readonly audioBytes: number;
}

type Answering = (response: ServerResponse, index: number) => void;

async function azureWith(answering: Answering, settings: Partial<AzureSpeechSettings> = {}) {
  const asked: Asked[] = [];
  const http = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const headers = { "content-type": request.headers["content-type"]! };
    const form = await new Response(Uint8Array.from(body), { headers }).formData();
    const definition: unknown = JSON.parse(form.get("definition") as string);
    const key = request.headers["ocp-apim-subscription-key"];
    asked.push({ path: request.url, key, definition, audioBytes: (form.get("audio") as File).size });
    answering(response, asked.length - 1);
  };
  const azure = await startAzure({ http: (request, response) => void http(request, response) }, settings);
  return Object.assign(azure, {
    asked,
    transcribe: (changes: Partial<TranscriptionCall> = {}) =>
      azure.engine.transcription!("azure-transcription")!.transcribe({
        audio: recording,
        language: "en-US",
        prompt: undefined,
        temperature: undefined,
        chunking: undefined,
        words: true,
        partials: false,
        signal: new AbortController().signal,
        requestId: "req_1",
        ...changes,
      }),
  });
}

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answering =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };

describe("a recording", () => {
  test("is transcribed with times, confidence and speakers", async () => {
    await using azure = await azureWith(json(answer), { max_speakers: 4 });
    const segments = (await Array.fromAsync(azure.transcribe())) as TranscribedSegment[];
    assert.deepEqual(
      segments.map(({ text, startMs, endMs, speaker, avgLogprob }) => [text, startMs, endMs, speaker, avgLogprob]),
      [
        ["Good morning.", 0, 900, 0, Math.log(0.5)],
        ["Hello?", 1_100, 1_800, 1, Math.log(0.9)],
      ],
    );
    assert.deepEqual(segments[0]!.words![1], { text: "morning.", startMs: 400, endMs: 900, confidence: undefined });
    assert.deepEqual(azure.asked, [
      {
        path: "/speechtotext/transcriptions:transcribe?api-version=2024-11-15",
        key: azureKey,
        definition: {
          locales: ["en-US"],
          profanityFilterMode: "None",
          diarization: { enabled: true, maxSpeakers: 4 },
        },
        audioBytes: 44 + 64_000,
      },
    ]);
  });

  test("without speech has no segments, and without diarization no speakers", async () => {
    await using azure = await azureWith((response, index) =>
      index === 0
        ? json({ phrases: [] })(response, index)
        : json({ phrases: [{ text: "Hi.", offsetMilliseconds: 1, durationMilliseconds: 2 }] })(response, index),
    );
    assert.deepEqual(await Array.fromAsync(azure.transcribe()), []);
    const [segment] = (await Array.fromAsync(azure.transcribe())) as TranscribedSegment[];
    assert.deepEqual([segment!.text, segment!.speaker, segment!.words], ["Hi.", undefined, []]);
    assert.deepEqual(azure.asked[0]!.definition, { locales: ["en-US"], profanityFilterMode: "None" });
  });

  test("has the language that the service identified if the call names none", async () => {
    const phrase = { text: "Oui.", offsetMilliseconds: 1, durationMilliseconds: 2, locale: "fr-FR" };
    await using azure = await azureWith(json({ phrases: [phrase] }));
    for (const [language, found] of [
      [undefined, "fr-FR"],
      ["fr-CA", undefined],
    ] as const) {
      const [segment] = (await Array.fromAsync(azure.transcribe({ language }))) as TranscribedSegment[];
      assert.equal(segment!.language, found);
    }
    assert.deepEqual(
      azure.asked.map(({ definition }) => (definition as { locales?: string[] }).locales),
      [undefined, ["fr-CA"]],
    );
  });

  test("works end to end through the server", async () => {
    await using azure = await azureWith(json(answer), { max_speakers: 2 });
    await using server = await startTestTranscription({ engines: [azure.engine] });
    const form = formOf({ model: "azure-transcription", response_format: "verbose_json", file: toneFile(2) });
    const response = await server.post(form);
    const told = (await response.json()) as { text: string; speakers: string[] };
    assert.equal(response.status, 200, JSON.stringify(told));
    assert.equal(told.text, "Good morning. Hello?");
    assert.deepEqual(told.speakers, ["Guest-1", "Guest-2"]);
  });
});

describe("a service that fails", () => {
  const part = { text: "Hi.", offsetMilliseconds: 0, durationMilliseconds: 1 };
  const failures: [what: string, answering: Answering, code: string, message?: RegExp][] = [
    ["a refused key", json({ error: { code: "401", message: "Access denied" } }, 401), "upstream_failed"],
    ["a limited rate", json({}, 429, { "retry-after": "2" }), "rate_limited"],
    ["bad input", json({ code: "InvalidArgument", message: "No such locale" }, 400), "invalid_request", /locale/],
    ["a failure", json("", 500), "upstream_failed"],
    ["an overload", json("", 503), "overloaded"],
    ["an answer that is no JSON", json("{"), "upstream_failed"],
    ["an answer of another kind", json({ text: "Hi." }), "upstream_failed"],
    ["a phrase without times", json({ phrases: [{ text: "Hi." }] }), "upstream_failed"],
    ["a word without text", json({ phrases: [{ ...part, words: [{}] }] }), "upstream_failed"],
    ["an answer that is cut", (response) => void response.destroy(), "upstream_failed"],
    ["silence", () => {}, "upstream_timeout"],
    ["an answer that stalls", (response) => void response.writeHead(200).write("{"), "upstream_timeout"],
  ];
  for (const [what, answering, code, message = /./] of failures) {
    test(`${what} is the error ${code}`, async () => {
      await using azure = await azureWith(answering, { total_timeout_ms: 1_000 });
      await assert.rejects(Array.fromAsync(azure.transcribe()), { code, message });
    });
  }

  test("is notified when a call is cancelled", async () => {
    const gone = Promise.withResolvers<void>();
    await using azure = await azureWith((response) => response.once("close", gone.resolve));
    const controller = new AbortController();
    const call = Array.fromAsync(azure.transcribe({ signal: controller.signal }));
    call.catch(() => {});
    while (azure.asked.length === 0) await delay(10);
    controller.abort();
    await assert.rejects(call, { code: "client_closed" });
    await gone.promise;
  });

  test("has no other models, and each supports only its own task", async () => {
    await using azure = await azureWith(json(answer));
    assert.throws(() => azure.engine.transcription!("whisper-1"), { code: "model_not_found" });
    assert.equal(azure.engine.transcription!("azure-speech"), undefined);
    assert.equal(azure.engine.speech!("azure-transcription"), undefined);
    const models = await azure.engine.listModels(new AbortController().signal);
    assert.deepEqual(
      models.map(({ id }) => id),
      ["azure-speech", "azure-transcription"],
    );
  });
});
