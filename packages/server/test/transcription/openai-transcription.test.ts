/** Transcription by a scripted server with OpenAI's API. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { Value } from "typebox/value";
import { readAudio } from "../../src/audio/read-audio.ts";
import { openAiCompatibleEngine, type OpenAiCompatibleSettings } from "../../src/config/engines/openai-compatible.ts";
import { silentLogger } from "../../src/logger.ts";
import type {
  RecordedAudio,
  TranscribedDelta,
  TranscribedSegment,
  TranscriptionCall,
} from "../../src/engines/engine.ts";
import { createOpenAiCompatibleEngine } from "../../src/engines/openai-compatible/openai-compatible-engine.ts";
import { sine } from "../audio/signals.ts";
import { recordedAudio } from "../support/recorded-audio.ts";
import { startScriptedUpstream, type Script, type ScriptedExchange } from "../support/scripted-upstream.ts";
import { readFrames } from "../support/test-chat.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";

const manyWords = Array.from({ length: 200_000 }, () => ({ word: "a" }));
const recording = recordedAudio(sine(440, 16_000, 2), 16_000);

interface RemoteCall extends Partial<TranscriptionCall> {
  readonly model?: string;
}

async function engineAt(script: Script, settings: Partial<OpenAiCompatibleSettings> = {}) {
  const upstream = await startScriptedUpstream(script);
  const defaults = { type: "openai_compatible", base_url: `${upstream.url}/v1`, api_key: "sk-upstream", ...settings };
  const complete = Value.Parse(openAiCompatibleEngine, Value.Default(openAiCompatibleEngine, defaults));
  const engine = createOpenAiCompatibleEngine("remote", complete, { logger: silentLogger });
  return {
    upstream,
    engine,
    transcribe({ model = "whisper-1", ...changes }: RemoteCall = {}) {
      return engine.transcription!(model)!.transcribe({
        audio: recording,
        language: "en-US",
        prompt: undefined,
        temperature: undefined,
        chunking: undefined,
        words: false,
        partials: false,
        signal: new AbortController().signal,
        requestId: "req_1",
        ...changes,
      });
    },
    async [Symbol.asyncDispose]() {
      await upstream.close();
      await engine.close();
    },
  };
}

function formData({ body, headers }: ScriptedExchange): Promise<FormData> {
  return new Response(Uint8Array.from(body), { headers: { "content-type": headers["content-type"]! } }).formData();
}

async function fieldsOf(exchange: ScriptedExchange): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of await formData(exchange)) {
    if (typeof value === "string") fields[name] = name in fields ? [fields[name], value].flat() : value;
  }
  return fields;
}

function textsOf(items: readonly (TranscribedDelta | TranscribedSegment)[]): string[] {
  return items.map(({ kind, text }) => `${kind}: ${text}`);
}

const verbose = {
  task: "transcribe",
  language: "english",
  duration: 2,
  text: "Good morning. Hello?",
  segments: [
    { id: 0, start: 0, end: 0.9, text: " Good morning.", avg_logprob: -0.25, tokens: [1, 2] },
    { id: 1, start: 1.1, end: 1.8, text: " Hello?", avg_logprob: -0.5, tokens: [3] },
  ],
  words: [
    { word: "Good", start: 0, end: 0.4 },
    { word: "morning", start: 0.4, end: 0.9 },
    { word: "Hello", start: 1.1, end: 1.7 },
  ],
};

describe("a recording", () => {
  test("is sent as a WAV file of known length, with the fields that the model supports", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "" }));
    await Array.fromAsync(
      remote.transcribe({
        words: true,
        prompt: 'Names: "Zoë"\r\n--x',
        temperature: 0.5,
        chunking: { prefixPaddingMs: 300, silenceDurationMs: 700 },
      }),
    );
    const [exchange] = remote.upstream.exchanges;
    assert.equal(exchange!.path, "/v1/audio/transcriptions");
    assert.equal(exchange!.headers.authorization, "Bearer sk-upstream");
    assert.equal(exchange!.headers["x-request-id"], "req_1");
    assert.equal(exchange!.headers["content-length"], String(exchange!.body.length));
    assert.deepEqual(await fieldsOf(exchange!), {
      model: "whisper-1",
      language: "en",
      response_format: "verbose_json",
      prompt: 'Names: "Zoë"\r\n--x',
      temperature: "0.5",
      "timestamp_granularities[]": ["segment", "word"],
      "chunking_strategy[type]": "server_vad",
      "chunking_strategy[prefix_padding_ms]": "300",
      "chunking_strategy[silence_duration_ms]": "700",
    });
    const file = (await formData(exchange!)).get("file") as File;
    assert.deepEqual([file.name, file.type, file.size], ["audio.wav", "audio/wav", 44 + 2 * 32_000]);
    const wav = Buffer.from(await file.arrayBuffer());
    assert.deepEqual([wav.readUInt32LE(4), wav.readUInt32LE(40)], [36 + 64_000, 64_000]);
  });

  test("of a high rate is resampled to 16 000 Hz, one of a low rate is unchanged", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "" }));
    for (const [rate, sentRate] of [
      [44_100, 16_000],
      [8_000, 8_000],
    ] as const) {
      await Array.fromAsync(remote.transcribe({ audio: recordedAudio(sine(440, rate, 1.5), rate) }));
      const file = (await formData(remote.upstream.exchanges.at(-1)!)).get("file") as File;
      const bytes = Buffer.from(await file.arrayBuffer());
      const input = await readAudio(Readable.from([bytes]), { mediaType: "audio/wav" });
      const count = (await Array.fromAsync(input.open())).reduce((sum, { length }) => sum + length, 0);
      assert.deepEqual([input.sampleRate, count], [sentRate, 1.5 * sentRate]);
    }
  });

  test("whose segments and words have no times gets them from its length and from what has", async () => {
    const words = [{ word: "It" }, { word: "is" }, { word: "1", score: 0.5 }, { word: "Hi", start: 1.5, end: 1.7 }];
    const answers = [
      { text: "It is 1. Hi.", segments: [{ text: "It is 1." }, { text: " Hi.", start: 1.5, end: 2 }], words },
      { text: "It is 1. Hi.", words },
    ];
    for (const [index, answer] of answers.entries()) {
      await using remote = await engineAt((exchange) => exchange.answer(answer));
      const segments = (await Array.fromAsync(remote.transcribe({ words: true }))) as TranscribedSegment[];
      assert.equal(segments.map(({ text }) => text).join(""), "It is 1. Hi.");
      const times = segments.flatMap((each) => each.words ?? []).map(({ startMs, endMs }) => [startMs, endMs]);
      assert.deepEqual(times, [
        [0, 600],
        [600, 1_200],
        [1_200, 1_500],
        [1_500, 1_700],
      ]);
      if (index === 0) assert.deepEqual([segments[0]!.startMs, segments[0]!.endMs], [0, 1_500]);
    }
  });

  test("may be streamed with pings between its events", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.beginEvents();
      await exchange.send('event: ping\ndata: x\n\ndata: {"type":"ping"}\n\ndata:\n\ndata: {}\n\ndata: 5\n\n');
      await exchange.sendEvents({ type: "transcript.text.delta", delta: "Hello" });
      await exchange.sendEvents({ type: "transcript.text.done", text: "Hello" });
      exchange.end();
    });
    const items = await Array.fromAsync(remote.transcribe({ model: "gpt-4o-transcribe", partials: true }));
    assert.deepEqual(textsOf(items), ["delta: Hello", "segment: Hello"]);
  });

  test("without samples is not sent", async () => {
    await using remote = await engineAt(() => assert.fail("not asked"));
    assert.deepEqual(
      await Array.fromAsync(remote.transcribe({ audio: recordedAudio(new Float32Array(0), 8_000) })),
      [],
    );
  });

  test("is sent at the pace of the server, never whole in memory", async () => {
    let opened = 0;
    let read = 0;
    const long: RecordedAudio = {
      sampleRate: 16_000,
      async *open() {
        opened++;
        for (let index = 0; index < 4_000; index++) {
          if (opened === 2) read = index;
          yield new Float32Array(16_000);
        }
      },
    };
    const server = createServer((socket) => socket.pause());
    await once(server.listen(0, "127.0.0.1"), "listening");
    server.once("connection", () => server.close());
    const { port } = server.address() as AddressInfo;
    await using deaf = await engineAt(() => {}, { base_url: `http://127.0.0.1:${port}`, total_timeout_ms: 2_000 });
    await assert.rejects(Array.fromAsync(deaf.transcribe({ audio: long })), { code: "upstream_timeout" });
    assert.ok(read > 0 && read < 1_000, `${read} s of the recording were read though nobody took them`);
  });
});

describe("a batch answer", () => {
  test("of a model with times has segments and words", async () => {
    await using remote = await engineAt((exchange) => exchange.answer(verbose));
    const segments = (await Array.fromAsync(remote.transcribe({ words: true }))) as TranscribedSegment[];
    assert.deepEqual(
      segments.map(({ text, startMs, endMs, avgLogprob, words }) => [
        text,
        startMs,
        endMs,
        avgLogprob,
        words!.map((word) => word.text),
      ]),
      [
        [" Good morning.", 0, 900, -0.25, ["Good", "morning"]],
        [" Hello?", 1_100, 1_800, -0.5, ["Hello"]],
      ],
    );
  });

  test("may have as many parts without times as its recording is long, and times that are no numbers", async () => {
    const segments = Array.from({ length: 1_100 }, (_, index) => ({
      text: "a",
      start: index === 1_099 ? 1e308 : undefined,
    }));
    await using remote = await engineAt((exchange) => exchange.answer({ text: "a", segments }));
    const read = (await Array.fromAsync(remote.transcribe())) as TranscribedSegment[];
    assert.equal(read.length, 1_100);
    assert.ok(read.every(({ startMs, endMs }) => startMs >= 0 && startMs <= endMs && endMs <= 2_000));
  });

  test("of a model without times is one segment over the whole recording", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "Hello.", usage: { type: "tokens" } }));
    const [only, ...more] = await Array.fromAsync(remote.transcribe({ model: "gpt-4o-mini-transcribe" }));
    assert.deepEqual(more, []);
    assert.deepEqual(only, {
      kind: "segment",
      text: "Hello.",
      startMs: 0,
      endMs: 2_000,
      words: undefined,
      avgLogprob: undefined,
      speaker: undefined,
      language: undefined,
    });
    assert.equal((await fieldsOf(remote.upstream.exchanges[0]!))["response_format"], "json");
    assert.equal(remote.engine.transcription!("gpt-4o-transcribe")!.givesWords, false);
  });

  test("with speakers numbers them in the order in which they are heard", async () => {
    const segments = ["B", "A", "B", "unknown"].map((speaker, index) => ({
      type: "transcript.text.segment",
      id: `seg_${index}`,
      start: index,
      end: index + 1,
      text: `Part ${index}.`,
      speaker,
    }));
    await using remote = await engineAt((exchange) => exchange.answer({ text: "…", segments }));
    const read = (await Array.fromAsync(
      remote.transcribe({ model: "gpt-4o-transcribe-diarize", prompt: "left out" }),
    )) as TranscribedSegment[];
    assert.deepEqual(
      read.map(({ speaker }) => speaker),
      [0, 1, 0, "unknown"],
    );
    assert.deepEqual(await fieldsOf(remote.upstream.exchanges[0]!), {
      model: "gpt-4o-transcribe-diarize",
      language: "en",
      response_format: "diarized_json",
      chunking_strategy: "auto",
    });
  });

  test("has the configured form, whatever the model's name", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "Hi." }), {
      transcription_forms: { "whisper-1": "json" },
    });
    await Array.fromAsync(remote.transcribe());
    assert.equal((await fieldsOf(remote.upstream.exchanges[0]!))["response_format"], "json");
  });
});

describe("a streamed answer", () => {
  const streamed = { model: "gpt-4o-transcribe", partials: true };

  test("is passed on as it arrives, however its bytes are split", async () => {
    const events = [
      { type: "transcript.text.delta", delta: "Grüße" },
      { type: "transcript.text.delta", delta: ", Zoë" },
      { type: "transcript.text.done", text: "Grüße, Zoë.", usage: {} },
    ];
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    await using remote = await engineAt(async (exchange) => {
      exchange.beginEvents();
      await exchange.drip(Array.from(bytes, (byte) => Buffer.of(byte)));
      exchange.end();
    });
    const items = await Array.fromAsync(remote.transcribe(streamed));
    assert.deepEqual(textsOf(items), ["delta: Grüße", "delta: , Zoë", "segment: Grüße, Zoë."]);
    assert.equal((await fieldsOf(remote.upstream.exchanges[0]!))["stream"], "true");
  });

  test("keeps the text already sent when the final text differs", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(
        { type: "transcript.text.delta", delta: " helo" },
        { type: "transcript.text.done", text: "Hello." },
      );
    });
    assert.deepEqual(textsOf(await Array.fromAsync(remote.transcribe(streamed))), ["delta:  helo", "segment:  helo"]);
  });

  test("with speakers is sent segment by segment", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(
        { type: "transcript.text.delta", delta: "Good mor", segment_id: "seg_0" },
        { type: "transcript.text.segment", id: "seg_0", start: 0, end: 1, text: "Good morning.", speaker: "A" },
        { type: "transcript.text.segment", id: "seg_1", start: 1, end: 2, text: "And you?", speaker: "B" },
        { type: "transcript.text.done", text: "Good morning. And you?" },
      );
    });
    const items = await Array.fromAsync(remote.transcribe({ model: "gpt-4o-transcribe-diarize", partials: true }));
    assert.deepEqual(
      items.map((item) => item.kind === "segment" && [item.text, item.speaker, item.startMs]),
      [
        ["Good morning.", 0, 0],
        ["And you?", 1, 1_000],
      ],
    );
  });

  test("of vLLM is read too", async () => {
    const part = (content: string) => ({ object: "transcription.chunk", choices: [{ index: 0, delta: { content } }] });
    await using remote = await engineAt(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(part("Hello"), part(" there"), "[DONE]");
    });
    const items = await Array.fromAsync(remote.transcribe({ model: "voxtral-mini", partials: true }));
    assert.deepEqual(textsOf(items), ["delta: Hello", "delta:  there", "segment: Hello there"]);
  });

  test("that comes as one JSON object is read as one segment", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "Hello." }));
    assert.deepEqual(textsOf(await Array.fromAsync(remote.transcribe(streamed))), ["segment: Hello."]);
  });

  const broken: [what: string, script: Script, code: string, settings?: Partial<OpenAiCompatibleSettings>][] = [
    ["ends early", (exchange) => exchange.end(), "upstream_failed"],
    ["is cut", (exchange) => exchange.cut(), "upstream_failed"],
    ["stalls", (exchange) => exchange.stall(), "upstream_timeout", { idle_timeout_ms: 200 }],
    ["is garbled", (exchange) => exchange.sendEvents("{oops"), "upstream_failed"],
    ["has a delta without text", (e) => e.sendEvents({ type: "transcript.text.delta" }), "upstream_failed"],
    ["is too large", (e) => e.send("x".repeat(5_000)), "upstream_failed", { max_event_bytes: 2_000 }],
    ["fails", (e) => e.sendEvents({ error: { message: "slow down", code: "429" } }), "rate_limited"],
    ["fails by an event", (e) => e.sendEvents({ type: "error", message: "oops" }), "upstream_failed"],
  ];
  for (const [what, end, code, settings] of broken) {
    test(`that ${what} in the middle is the error ${code}, after what was sent before`, async () => {
      await using remote = await engineAt(async (exchange) => {
        exchange.beginEvents();
        await exchange.sendEvents({ type: "transcript.text.delta", delta: "Hel" });
        await end(exchange);
      }, settings);
      const got: string[] = [];
      await assert.rejects(
        async () => {
          for await (const item of remote.transcribe(streamed)) got.push(item.text);
        },
        { code },
      );
      assert.ok(got.join("") === "Hel" || what === "is cut", `got ${got.join("")}`);
    });
  }
});

describe("a server that fails", () => {
  const failures: [what: string, script: Script, code: string, changes?: RemoteCall][] = [
    ["a refusal", (e) => e.answer({ error: { message: "Too long", param: "file" } }, 400), "invalid_request"],
    ["refused credentials", (e) => e.answer({ error: { message: "Bad key" } }, 401), "upstream_failed"],
    ["a file that is too large", (e) => e.answer({ error: { message: "25 MB" } }, 413), "payload_too_large"],
    ["a limited rate", (e) => e.answer({}, 429, { "retry-after": "3" }), "rate_limited"],
    ["a failure", (e) => e.answer("broken", 500), "upstream_failed"],
    ["an answer that is no JSON", (e) => e.answer("{"), "upstream_failed"],
    ["an answer of another kind", (e) => e.answer({ choices: [] }), "upstream_failed"],
    ["an answer without the words", (e) => e.answer({ text: "Hi." }), "upstream_failed", { words: true }],
    [
      "an answer with more words than anyone can say",
      (e) => e.answer({ text: "a", words: manyWords }),
      "upstream_failed",
    ],
    ["silence", (e) => e.stall(), "upstream_timeout"],
    ["a reset", (e) => e.cut(), "upstream_failed"],
  ];
  for (const [what, script, code, changes] of failures) {
    test(`${what} is the error ${code}`, async () => {
      await using remote = await engineAt(script, { total_timeout_ms: 1_500 });
      await assert.rejects(Array.fromAsync(remote.transcribe(changes)), { code });
    });
  }

  test("detects the language of a call that names none, and its answer is reported", async () => {
    for (const [answered, found] of [
      ["french", "fr"],
      ["Haitian Creole", "ht"],
      ["pt_br", "pt-BR"],
      ["", undefined],
      ["no language", undefined],
      ["en-us-x", undefined],
      [7, undefined],
    ] as const) {
      await using remote = await engineAt((exchange) => exchange.answer({ ...verbose, language: answered }));
      const segments = (await Array.fromAsync(remote.transcribe({ language: undefined }))) as TranscribedSegment[];
      assert.deepEqual(new Set(segments.map(({ language }) => language)), new Set([found]), String(answered));
      assert.equal((await fieldsOf(remote.upstream.exchanges[0]!))["language"], undefined);
    }
  });

  test("a parameter that it would drop is refused by name, and the language is omitted", async () => {
    await using remote = await engineAt((exchange) => exchange.answer({ text: "" }), {
      unsupported_parameters: ["prompt", "language"],
    });
    await assert.rejects(Array.fromAsync(remote.transcribe({ prompt: "Zoë" })), { param: "prompt" });
    await Array.fromAsync(remote.transcribe());
    assert.equal((await fieldsOf(remote.upstream.exchanges[0]!))["language"], undefined);
  });

  test("is notified when a call is cancelled, batch or streamed", async () => {
    await using remote = await engineAt(async (exchange) => {
      if (exchange.index === 0) return exchange.stall();
      exchange.beginEvents();
      await exchange.sendEvents({ type: "transcript.text.delta", delta: "Hel" });
      await exchange.stall();
    });
    const controller = new AbortController();
    const whole = Array.fromAsync(remote.transcribe({ signal: controller.signal }));
    whole.catch(() => {});
    await remote.upstream.until(() => remote.upstream.exchanges.length === 1, "the request came");
    controller.abort();
    await assert.rejects(whole, { code: "client_closed" });
    for await (const _ of remote.transcribe({ model: "gpt-4o-transcribe", partials: true })) break;
    await remote.upstream.until(() => remote.upstream.aborts === 2, "both requests are gone");
  });
});

test("end to end: an upload is transcribed by a remote server, batch and streamed", async () => {
  await using remote = await engineAt(async (exchange) => {
    const { model } = await fieldsOf(exchange);
    if (model === "remote") return exchange.answer(verbose);
    exchange.beginEvents();
    await exchange.sendEvents(
      { type: "transcript.text.delta", delta: "Good" },
      { type: "transcript.text.done", text: "Good day." },
    );
  });
  const { engine } = remote;
  const streaming = { ...engine, name: "streaming", transcription: () => engine.transcription!("gpt-4o-transcribe") };
  const listed = [engine, streaming].map((each) => ({
    ...each,
    listModels: async () => [{ id: each.name, created: 0, ownedBy: "test" }],
  }));
  await using server = await startTestTranscription({ engines: listed });
  const file = toneFile(2);
  const response = await server.post(
    formOf([
      ["model", "remote"],
      ["file", file],
      ["response_format", "verbose_json"],
      ["timestamp_granularities[]", "word"],
    ]),
  );
  const answer = (await response.json()) as { text: string; words: unknown[] };
  assert.equal(response.status, 200, JSON.stringify(answer));
  assert.equal(answer.text, "Good morning. Hello?");
  assert.deepEqual(answer.words[2], { word: "Hello", start: 1.1, end: 1.7, segment: 1 });
  const stream = await server.post(formOf({ model: "streaming", stream: "true", file }));
  const frames = await readFrames(stream);
  const texts = frames.map((frame) => (frame === "[DONE]" ? frame : (frame as { text: string }).text));
  assert.deepEqual(texts, ["Good", " day.", "Good day.", "[DONE]"]);
});
