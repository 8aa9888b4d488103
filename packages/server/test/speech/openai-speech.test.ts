/** Speech from a scripted server with OpenAI's API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Value } from "typebox/value";
import { openAiCompatibleEngine, type OpenAiCompatibleSettings } from "../../src/config/engines/openai-compatible.ts";
import { createEncoder } from "../../src/audio/create-encoder.ts";
import { silentLogger } from "../../src/logger.ts";
import type { SpeechCall, SpeechPiece } from "../../src/engines/engine.ts";
import { createOpenAiCompatibleEngine } from "../../src/engines/openai-compatible/openai-compatible-engine.ts";
import { startScriptedUpstream, type Script } from "../support/scripted-upstream.ts";

async function engineAt(script: Script, settings: Partial<OpenAiCompatibleSettings> = {}) {
  const upstream = await startScriptedUpstream(script);
  const defaults = { type: "openai_compatible", base_url: `${upstream.url}/v1`, api_key: "sk-upstream", ...settings };
  const complete = Value.Parse(openAiCompatibleEngine, Value.Default(openAiCompatibleEngine, defaults));
  const engine = createOpenAiCompatibleEngine("remote", complete, { logger: silentLogger });
  return {
    upstream,
    speak: (input: string, changes: Partial<SpeechCall> = {}) => engine.speech!("tts-9")!.speak(call(input, changes)),
    async [Symbol.asyncDispose]() {
      await upstream.close();
      await engine.close();
    },
  };
}

function call(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  const signal = new AbortController().signal;
  const rest = { language: undefined, instructions: undefined, speed: 1, marks: false, requestId: "req_1" };
  return { input, voice: "nova", signal, ...rest, ...changes };
}

/** 16-bit samples 0, 1, 2 … */
function ramp(count: number): Buffer {
  const bytes = Buffer.alloc(2 * count);
  for (let index = 0; index < count; index++) bytes.writeInt16LE(index % 30_000, 2 * index);
  return bytes;
}

function samplesOf(pieces: readonly SpeechPiece[]): number[] {
  return pieces.flatMap(({ samples }) => Array.from(samples, (sample) => Math.round(sample * 32_768)));
}

describe("speech from an OpenAI-compatible server", () => {
  test("is requested as PCM and read whole, however its bytes are split", async () => {
    const pcm = ramp(1_000);
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.drip([0, 1, 2, 5, 998].map((start, index, starts) => pcm.subarray(start, starts[index + 1])));
      exchange.end();
    });
    const pieces = await Array.fromAsync(remote.speak("Hello.", { speed: 1.5, instructions: "Slowly." }));
    assert.deepEqual(
      samplesOf(pieces),
      Array.from({ length: 1_000 }, (_, index) => index),
    );
    assert.ok(pieces.every(({ sampleRate }) => sampleRate === 24_000));
    const [request] = remote.upstream.exchanges;
    assert.equal(request!.path, "/v1/audio/speech");
    assert.equal(request!.headers.authorization, "Bearer sk-upstream");
    assert.equal(request!.headers["x-request-id"], "req_1");
    assert.deepEqual(request!.json, {
      model: "tts-9",
      input: "Hello.",
      voice: "nova",
      response_format: "pcm",
      speed: 1.5,
      instructions: "Slowly.",
    });
  });

  test("is read whole if its body, or a chunk of it, arrives in several reads", async () => {
    const pcm = ramp(1_000);
    const halves = [pcm.subarray(0, 999), pcm.subarray(999)];
    await using remote = await engineAt(async (exchange) => {
      if (exchange.index === 0) {
        exchange.begin(200, { "content-type": "audio/pcm", "content-length": String(pcm.length) });
        await exchange.drip(halves);
        exchange.end();
        return;
      }
      // One chunk of HTTP in two segments.
      exchange.begin(200, { "content-type": "audio/pcm" });
      for (const bytes of [`${pcm.length.toString(16)}\r\n`, ...halves, "\r\n0\r\n\r\n"]) await exchange.raw(bytes);
    });
    for (let call = 0; call < 2; call += 1)
      assert.equal(samplesOf(await Array.fromAsync(remote.speak("Hello."))).length, 1_000);
  });

  test("may be returned as WAV, or at the rate in a header", async () => {
    const encoder = await createEncoder({ format: "wav", sampleRate: 22_050, stream: false });
    encoder.push(new Float32Array(50).fill(0.25));
    const wav = encoder.end();
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(
        200,
        exchange.index === 0 ? { "content-type": "audio/wav" } : { "content-type": "audio/L16; rate=8000" },
      );
      await exchange.send(exchange.index === 0 ? wav : ramp(50));
      exchange.end();
    });
    const asWav = await Array.fromAsync(remote.speak("Hi."));
    assert.deepEqual([asWav[0]!.sampleRate, samplesOf(asWav).length, samplesOf(asWav)[0]], [22_050, 50, 8_192]);
    const asPcm = await Array.fromAsync(remote.speak("Hi."));
    assert.deepEqual([asPcm[0]!.sampleRate, samplesOf(asPcm).length], [8_000, 50]);
  });

  test("may have the rate in quotes, under a name in any case", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(200, { "content-type": 'audio/pcm; Rate = "22050"' });
      await exchange.send(ramp(50));
      exchange.end();
    });
    assert.equal((await Array.fromAsync(remote.speak("Hi.")))[0]!.sampleRate, 22_050);
  });

  for (const type of ["audio/mpeg", "audio/pcm", "application/octet-stream"]) {
    test(`is no noise if the engine sends MP3 without a tag as ${type}, but a failure`, async () => {
      const encoder = await createEncoder({ format: "mp3", sampleRate: 24_000, stream: true });
      encoder.push(new Float32Array(24_000).map((_, index) => Math.sin(index / 10)));
      const mp3 = encoder.end();
      assert.equal(mp3[0], 0xff);
      await using remote = await engineAt(async (exchange) => {
        exchange.begin(200, { "content-type": type });
        await exchange.send(mp3);
        exchange.end();
      });
      await assert.rejects(Array.fromAsync(remote.speak("Hi.")), { code: "upstream_failed" });
    });
  }

  test("is requested in several parts for a long text, none above the server's limit", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.send(ramp(10));
      exchange.end();
    });
    await Array.fromAsync(remote.speak("A sentence of some length. ".repeat(400)));
    const inputs = remote.upstream.exchanges.map(({ json }) => (json as { input: string }).input);
    assert.ok(inputs.length === 3 && inputs.every((input) => input.length <= 4_000));
    assert.equal(inputs.join(" "), "A sentence of some length. ".repeat(400).trim());
  });

  test("has estimated marks on request", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.send(ramp(24_000));
      exchange.end();
    });
    const text = "Hello there. Bye!";
    const pieces = await Array.fromAsync(remote.speak(text, { marks: true }));
    assert.deepEqual(
      pieces.map(({ sentence }) => sentence?.offset),
      [0, 13],
    );
    const words = pieces.flatMap(({ marks }) => marks.map(({ offset, length }) => text.slice(offset, offset + length)));
    assert.deepEqual(words, ["Hello", "there", ".", "Bye", "!"]);
  });

  const failures: [what: string, script: Script, code: string][] = [
    ["a refusal", (exchange) => exchange.answer({ error: { message: "No such voice" } }, 400), "invalid_request"],
    ["a failure", (exchange) => exchange.answer("broken", 500), "upstream_failed"],
    ["an answer that is no audio", (exchange) => exchange.answer({ hello: 1 }), "upstream_failed"],
    ["an empty answer", (exchange) => (exchange.begin(200), exchange.end()), "upstream_failed"],
  ];
  for (const [what, script, code] of failures) {
    test(`${what} is the error ${code}`, async () => {
      await using remote = await engineAt(script);
      await assert.rejects(Array.fromAsync(remote.speak("Hi.")), { code });
    });
  }

  test("a truncated answer fails, and leaving cancels the request", async () => {
    await using remote = await engineAt(async (exchange) => {
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.send(ramp(10));
      if (exchange.index === 0) exchange.cut();
    });
    await assert.rejects(Array.fromAsync(remote.speak("Hi.")), { code: "upstream_failed" });
    for await (const _ of remote.speak("Hi.")) break;
    await remote.upstream.until(() => remote.upstream.exchanges[1]?.gone === true, "the request is gone");
  });

  test("a parameter that the server would drop is refused by name", async () => {
    await using remote = await engineAt(() => assert.fail("not asked"), { unsupported_parameters: ["speed"] });
    await assert.rejects(Array.fromAsync(remote.speak("Hi.", { speed: 2 })), {
      code: "unsupported_parameter",
      param: "speed",
    });
  });
});
