/** Speech over Azure's protocol, from a scripted server. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AzureSpeechSettings } from "../../src/config/engines/azure-speech.ts";
import type { SpeechCall, SpeechPiece } from "../../src/engines/engine.ts";
import { azureSpeechEndpoint } from "../../src/engines/azure-speech/endpoint.ts";
import { assertMarks } from "../speech/assert-marks.ts";
import { awkwardTexts } from "../speech/awkward-texts.ts";
import { startTestSpeech } from "../support/test-speech.ts";
import {
  azureKey,
  samplesPerCharacter,
  sendAudio,
  sendText,
  speak,
  startAzure,
  textOf,
  voices,
  type AzureScript,
} from "./azure-server.ts";

type Azure = Awaited<ReturnType<typeof startAzure>>;

function call(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  return {
    input,
    voice: "en-US-GuyNeural",
    language: undefined,
    instructions: undefined,
    speed: 1,
    marks: true,
    signal: new AbortController().signal,
    requestId: "req_1",
    ...changes,
  };
}

function say({ engine }: Azure, input: string, changes: Partial<SpeechCall> = {}): Promise<SpeechPiece[]> {
  return Array.fromAsync(engine.speech!("azure-speech")!.speak(call(input, changes)));
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 1_000, "waited in vain");
    await delay(10);
  }
}

describe("a text", () => {
  test("is spoken, and its words have their positions and times", async () => {
    await using azure = await startAzure();
    const text = "Tom & Jerry: it's $3.50 <now>!";
    const [piece, ...more] = await say(azure, text);
    assert.deepEqual(more, []);
    const words = piece!.marks.filter(({ kind }) => kind === "word");
    assert.deepEqual(
      words.map(({ offset, length }) => text.slice(offset, offset + length)),
      ["Tom", "Jerry", "it's", "$3.50", "now"],
    );
    const msPerCharacter = (samplesPerCharacter * 1_000) / 24_000;
    assert.deepEqual(
      words.map(({ startMs }) => Math.round(startMs)),
      [0, 3, 8, 12, 17].map((characters) => Math.round(characters * msPerCharacter)),
    );
    assert.equal(piece!.samples.length, 20 * samplesPerCharacter);
    assert.ok(Math.abs(piece!.samples[31]! - 8_000 / 32_768) < 0.001);
    assert.equal(piece!.sampleRate, 24_000);
    const [turn] = azure.turns;
    assert.match(turn!.ssml, /<voice name="en-US-GuyNeural">Tom &amp; Jerry: it&apos;s \$3\.50 &lt;now&gt;!<\/voice>/);
    assert.equal(turn!.context!.synthesis.audio.outputFormat, "raw-24khz-16bit-mono-pcm");
    assert.equal(turn!.context!.synthesis.audio.metadataOptions["wordBoundaryEnabled"], true);
    assert.equal(azure.sockets[0]!.headers["ocp-apim-subscription-key"], azureKey);
    assert.equal(azure.sockets[0]!.headers["x-request-id"], "req_1");
  });

  test("of many sentences is sent sentence by sentence over one socket", async () => {
    await using azure = await startAzure();
    const text = "One here. Two there! Three?";
    const pieces = await say(azure, text);
    assert.deepEqual(
      pieces.map(({ sentence }) => text.slice(sentence!.offset, sentence!.offset + sentence!.length)),
      ["One here.", "Two there!", "Three?"],
    );
    assert.equal(azure.sockets.length, 1);
    await until(() => azure.sockets[0]!.gone);
  });

  test("may contain anything: markup is spoken, and marks refer to the original text", async () => {
    await using azure = await startAzure();
    for (const text of awkwardTexts) {
      const pieces = await say(azure, text);
      assert.ok(pieces.length > 0);
      assertMarks(text, pieces);
    }
    for (const { ssml } of azure.turns) {
      assert.match(ssml, /^<speak [^<>]*><voice [^<>]*>[^<>]*<\/voice><\/speak>$/);
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      assert.doesNotMatch(textOf(ssml), /[\u0000-\u0008\uD800-\uDFFF]/u);
    }
  });

  test("is spoken faster and slower, with matching word times", async () => {
    await using azure = await startAzure();
    for (const [speed, rate, stretch] of [
      [1.5, ' rate="1.5"', 1],
      [4, ' rate="2"', 2],
      [0.25, ' rate="0.5"', 0.5],
    ] as const) {
      const [piece] = await say(azure, "Hello there", { speed });
      assert.ok(azure.turns.at(-1)!.ssml.includes(`<prosody${rate}>Hello there</prosody>`));
      const expected = (10 * samplesPerCharacter) / stretch;
      assert.ok(Math.abs(piece!.samples.length - expected) < 0.1 * expected, `${speed}: ${piece!.samples.length}`);
      const startMs = (5 * samplesPerCharacter * 1_000) / 24_000 / stretch;
      assert.ok(Math.abs(piece!.marks[1]!.startMs - startMs) < 1);
    }
  });

  test("in a language other than the voice's declares it", async () => {
    await using azure = await startAzure();
    await say(azure, "Bonjour", { voice: "en-US-AvaMultilingualNeural", language: "fr-FR", marks: false });
    assert.match(azure.turns[0]!.ssml, /xml:lang="fr-FR"><voice [^>]*><lang xml:lang="fr-FR">Bonjour<\/lang><\/voice>/);
    assert.equal(azure.turns[0]!.context!.synthesis.audio.metadataOptions["wordBoundaryEnabled"], false);
    await say(azure, "Hello", { language: "en-US" });
    assert.doesNotMatch(azure.turns[1]!.ssml, /<lang/);
  });

  test("with instructions is refused", async () => {
    await using azure = await startAzure();
    await assert.rejects(say(azure, "Hi.", { instructions: "Softly." }), { param: "instructions" });
  });

  test("continues on a new socket after the service closed an idle one", async () => {
    await using azure = await startAzure({
      turn(turn, socket) {
        speak(turn, socket);
        if (azure.turns.length === 2) socket.close(1000, "idle");
      },
    });
    const pieces = azure.engine.speech!("azure-speech")!.speak(call("One here. Two there. Three more. Four."));
    const heard: SpeechPiece[] = [];
    for await (const piece of pieces) {
      heard.push(piece);
      // The second phrase is synthesized while the caller has the first; the third is not requested yet.
      if (heard.length === 1) await until(() => azure.sockets[0]!.gone);
    }
    assert.equal(heard.length, 4);
    assert.equal(azure.sockets.length, 2);
    assert.deepEqual(
      azure.turns.map(({ ssml }) => textOf(ssml)),
      ["One here.", "Two there.", "Three more.", "Four."],
    );
  });

  test("repeats a phrase on a new socket if the service closes the old one instead of answering", async () => {
    await using azure = await startAzure({
      turn(turn, socket) {
        if (azure.turns.length === 2) socket.close(1000, "idle");
        else speak(turn, socket);
      },
    });
    assert.equal((await say(azure, "One here. Two there. Three more.")).length, 3);
    assert.equal(azure.sockets.length, 2);
    assert.deepEqual(
      azure.turns.map(({ ssml }) => textOf(ssml)),
      ["One here.", "Two there.", "Two there.", "Three more."],
    );
  });
});

describe("a service that fails", () => {
  const turnStart: AzureScript["turn"] = (turn, socket) => {
    sendText(socket, turn, "turn.start", {});
    sendAudio(socket, turn, Buffer.alloc(480));
  };
  const failures: [what: string, script: AzureScript, code: string, settings?: Partial<AzureSpeechSettings>][] = [
    ["a refused key", { connect: (socket) => socket.refuse(401) }, "upstream_failed"],
    ["a limited rate", { connect: (socket) => socket.refuse(429, { "retry-after": "7" }) }, "rate_limited"],
    ["an overloaded service", { connect: (socket) => socket.refuse(503) }, "overloaded"],
    ["an answer that is no upgrade", { connect: (socket) => socket.refuse(200) }, "upstream_failed"],
    ["a socket that is cut at once", { connect: (socket) => socket.cut() }, "upstream_failed"],
    ["a handshake that stalls", { connect: () => {} }, "upstream_timeout", { connect_timeout_ms: 200 }],
    ["a closed turn: throttled", { turn: (_, socket) => socket.close(4429, "Too many requests") }, "rate_limited"],
    ["a closed turn: throttled, old style", { turn: (_, s) => s.close(1007, "Throttled due to …") }, "rate_limited"],
    ["a closed turn: bad input", { turn: (_, s) => s.close(1007, "Unsupported voice x") }, "invalid_request"],
    ["a closed turn: busy", { turn: (_, socket) => socket.close(1013, "") }, "overloaded"],
    ["a closed turn", { turn: (_, socket) => socket.close(1000, "") }, "upstream_failed"],
    ["a turn that is cut", { turn: (_, socket) => socket.cut() }, "upstream_failed"],
    ["a turn that never begins", { turn: () => {} }, "upstream_timeout", { first_byte_timeout_ms: 200 }],
    ["a turn that stalls", { turn: turnStart }, "upstream_timeout", { idle_timeout_ms: 200 }],
    ["a turn that takes too long", { turn: turnStart }, "upstream_timeout", { total_timeout_ms: 200 }],
    ["too much sound", { turn: speak }, "upstream_failed", { max_answer_bytes: 1_024 }],
    [
      "bytes that are no frame",
      { turn: (_, socket) => socket.raw(Buffer.from([0xff, 0xff, 1, 2])) },
      "upstream_failed",
    ],
    ["a message without a path", { turn: (_, socket) => socket.sendText("a: b\r\n\r\n{}") }, "upstream_failed"],
    ["a message without an end", { turn: (_, socket) => socket.sendText("Path: audio") }, "upstream_failed"],
    ["bytes shorter than they say", { turn: (_, s) => s.sendBytes(Buffer.from([1, 0, 65])) }, "upstream_failed"],
    ["word times that are not JSON", { turn: (t, s) => sendText(s, t, "audio.metadata", "{") }, "upstream_failed"],
    ["word times of another kind", { turn: (t, s) => sendText(s, t, "audio.metadata", {}) }, "upstream_failed"],
    [
      "half a sample",
      { turn: (t, s) => (sendAudio(s, t, Buffer.alloc(3)), sendText(s, t, "turn.end", {})) },
      "upstream_failed",
    ],
  ];
  for (const [what, script, code, settings] of failures) {
    test(`${what} is the error ${code}`, async () => {
      await using azure = await startAzure(script, settings);
      await assert.rejects(say(azure, "Hello."), { code });
      await until(() => azure.sockets.every(({ gone }) => gone));
    });
  }

  test("passes on its message about throttling and bad input, and reports a refused key to the operator", async () => {
    const told: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: unknown) => void told.push(fields) };
    await using refusing = await startAzure({ connect: (socket) => socket.refuse(401) }, {}, logger);
    await assert.rejects(say(refusing, "Hi."), /rejected its credentials/);
    assert.deepEqual(told, [{ engine: "azure", status: 401 }]);
    await using limited = await startAzure({ connect: (socket) => socket.refuse(429, { "retry-after": "7" }) });
    await assert.rejects(say(limited, "Hi."), { retryAfterMs: 7_000 });
    await using strict = await startAzure({ turn: (_, socket) => socket.close(1007, "Unsupported voice x") });
    await assert.rejects(say(strict, "Hi."), /Unsupported voice x/);
  });

  test("that cannot be reached is the error upstream_failed", async () => {
    const gone = createServer();
    await once(gone.listen(0, "127.0.0.1"), "listening");
    const { port } = gone.address() as AddressInfo;
    await once(gone.close(), "close");
    await using azure = await startAzure({}, { base_url: `http://127.0.0.1:${port}` });
    await assert.rejects(say(azure, "Hi."), { code: "upstream_failed", message: /refused the connection/ });
  });

  test("is cancelled when the caller disconnects: while connecting, while speaking, between two pieces", async () => {
    for (const script of [{ connect: () => {} }, { turn: () => {} }]) {
      await using azure = await startAzure(script);
      const controller = new AbortController();
      const spoken = say(azure, "Hello.", { signal: controller.signal });
      spoken.catch(() => {});
      await until(() => (script.turn === undefined ? azure.sockets : azure.turns).length === 1);
      controller.abort();
      await assert.rejects(spoken, { code: "client_closed" });
      await until(() => azure.sockets[0]!.gone);
    }
    await using azure = await startAzure();
    for await (const _ of azure.engine.speech!("azure-speech")!.speak(call("One. Two. Three."))) break;
    await until(() => azure.sockets[0]!.gone);
  });

  test("respects its limit on concurrent calls", async () => {
    await using azure = await startAzure({ turn: () => {} }, { max_connections: 1 });
    const controller = new AbortController();
    const first = say(azure, "Hello.", { signal: controller.signal });
    first.catch(() => {});
    await until(() => azure.turns.length === 1);
    await assert.rejects(say(azure, "Hello."), { code: "overloaded" });
    controller.abort();
    await assert.rejects(first);
  });
});

describe("the voices", () => {
  test("are those of the resource, the default one and its language first, fetched once", async () => {
    await using azure = await startAzure();
    const model = azure.engine.speech!("azure-speech")!;
    const { signal } = new AbortController();
    const list = await model.voices(signal);
    assert.deepEqual(
      list!.map(({ name }) => name),
      ["en-US-AvaMultilingualNeural", "en-US-GuyNeural", "af-ZA-AdriNeural", "de-DE-KatjaNeural"],
    );
    assert.deepEqual(list![0], {
      name: "en-US-AvaMultilingualNeural",
      languages: ["en-US", "fr-FR", "de-DE"],
      gender: "female",
      description: "Ava Multilingual",
    });
    assert.equal(await model.voices(signal), list);
    assert.equal(azure.counts.voiceLists, 1);
  });

  test("are fetched again after a failure: immediately if none are known, after a pause if old ones can be served", async (t) => {
    let fails = true;
    const voiceList = (response: ServerResponse): void => {
      if (fails) response.writeHead(503).end();
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(voices));
    };
    await using azure = await startAzure({ voiceList });
    const model = azure.engine.speech!("azure-speech")!;
    const { signal } = new AbortController();
    await assert.rejects(model.voices(signal));
    fails = false;
    const list = await model.voices(signal);
    assert.equal(azure.counts.voiceLists, 2);
    fails = true;
    const clock = performance.now.bind(performance);
    let laterMs = 600_000;
    t.mock.method(performance, "now", () => clock() + laterMs);
    for (const _ of [1, 2]) assert.equal(await model.voices(signal), list);
    assert.equal(azure.counts.voiceLists, 3);
    fails = false;
    laterMs += 30_000;
    assert.notEqual(await model.voices(signal), list);
    assert.equal(azure.counts.voiceLists, 4);
  });

  test("are not available with a wrong key", async () => {
    await using azure = await startAzure({}, { api_key: "wrong" });
    await assert.rejects(azure.engine.speech!("azure-speech")!.voices(new AbortController().signal), {
      code: "upstream_failed",
    });
  });

  test("work end to end: a call for `alloy` is spoken by the default voice, with word boundaries", async () => {
    await using azure = await startAzure();
    await using server = await startTestSpeech({ engines: [azure.engine] });
    const body = { model: "azure-speech", input: "Hello there.", voice: "alloy", enable_word_boundary: true };
    const response = await server.post(body);
    const answer = (await response.json()) as { word_boundaries: { text: string; boundary_type: string }[] };
    assert.equal(response.status, 200, JSON.stringify(answer));
    assert.deepEqual(
      answer.word_boundaries.map(({ text, boundary_type: type }) => `${type}: ${text}`),
      ["sentence: Hello there.", "word: Hello", "word: there", "punctuation: ."],
    );
    assert.match(azure.turns[0]!.ssml, /AvaMultilingualNeural/);
    const unknown = await server.post({ ...body, voice: "nobody" });
    assert.equal(unknown.status, 400);
    assert.match(await unknown.text(), /en-US-GuyNeural/);
  });
});

describe("the addresses", () => {
  const settings = { api_key: azureKey } as AzureSpeechSettings;

  test("are derived from the region, or from the resource's own domain", () => {
    const regional = azureSpeechEndpoint({ ...settings, region: "westeurope" });
    assert.equal(regional.speechUrl, "wss://westeurope.tts.speech.microsoft.com/tts/cognitiveservices/websocket/v1");
    assert.equal(regional.voices.origin, "https://westeurope.tts.speech.microsoft.com");
    assert.equal(regional.transcription.origin, "https://westeurope.api.cognitive.microsoft.com");
    const own = azureSpeechEndpoint({ ...settings, base_url: "https://x.cognitiveservices.azure.com/" });
    assert.equal(own.speechUrl, "wss://x.cognitiveservices.azure.com/tts/cognitiveservices/websocket/v1");
    assert.equal(own.transcription.origin, "https://x.cognitiveservices.azure.com");
  });

  test("require one of the two", () => {
    assert.throws(() => azureSpeechEndpoint(settings), { code: "invalid_request" });
    assert.throws(() => azureSpeechEndpoint({ ...settings, region: "a", base_url: "http://b" }), /either region/);
  });
});
