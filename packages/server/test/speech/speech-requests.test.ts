/** What the speech operation refuses, and how it fails, with a scripted model. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { outcomeOf } from "../../src/finished-call.ts";
import { AppError } from "../../src/errors.ts";
import type { SpeechCall, SpeechModel, SpeechPiece } from "../../src/engines/engine.ts";
import { speechEngine, startTestSpeech } from "../support/test-speech.ts";

function piece(seconds = 0.1): SpeechPiece {
  return { sampleRate: 16_000, samples: new Float32Array(16_000 * seconds), marks: [], sentence: undefined };
}

interface Script {
  readonly givesMarks?: boolean;
  speak(call: SpeechCall): AsyncGenerator<SpeechPiece, void, undefined>;
}

async function serverWith(script: Script, options: Partial<Parameters<typeof startTestSpeech>[0]> = {}) {
  const model: SpeechModel = {
    givesMarks: script.givesMarks ?? true,
    voices: async () => [{ name: "anna", languages: ["en-US"] }],
    speak: (call) => script.speak(call),
  };
  return startTestSpeech({ engines: [speechEngine("scripted", model)], ...options });
}

const request = { model: "scripted", voice: "anna", input: "Hello." };

async function* onePiece(): AsyncGenerator<SpeechPiece, void, undefined> {
  yield piece();
}

describe("a bad request", async () => {
  const server = await serverWith({ speak: onePiece }, { maxInputCharacters: 50 });
  after(() => server[Symbol.asyncDispose]());

  const refused: [changes: object, param: string | null, message?: RegExp][] = [
    [{ model: undefined }, "model"],
    [{ input: undefined }, "input"],
    [{ input: "" }, "input"],
    [{ input: 5 }, "input"],
    [{ input: "x".repeat(51) }, "input", /51 characters; expected at most 50/],
    [{ voice: undefined }, "voice"],
    [{ voice: "" }, "voice"],
    [{ voice: { id: "x" } }, "voice"],
    [{ voice: "bob" }, "voice", /it must be one of "anna"/],
    [{ response_format: "aac" }, "response_format", /"aac".*"wav", "mp3", "pcm"/],
    [{ response_format: "WAV" }, "response_format"],
    [{ speed: 0.24 }, "speed", /0\.25 to 4/],
    [{ speed: 4.01 }, "speed"],
    [{ speed: "fast" }, "speed"],
    [{ sample_rate: 11_025 }, "sample_rate"],
    [{ sample_rate: "8000" }, "sample_rate"],
    [{ enable_word_boundary: "yes" }, "enable_word_boundary"],
    [{ boundary_types: [] }, "boundary_types"],
    [{ boundary_types: ["word", "letter"] }, "boundary_types[1]"],
    [{ boundary_types: "word" }, "boundary_types"],
    [{ speech_synthesis_language: "english!" }, "speech_synthesis_language"],
    [{ speech_synthesis_language: "de-DE" }, "speech_synthesis_language"],
    [{ stream: "yes" }, "stream"],
    [{ stream_format: "ndjson" }, "stream_format"],
    [{ stream_format: "sse", enable_word_boundary: true }, "stream_format"],
    [{ timeout: 0 }, "timeout"],
    [{ timeout: -1 }, "timeout"],
    [{ extra_body: [] }, "extra_body"],
    [{ extra_body: { boundary_types: [] } }, "extra_body.boundary_types"],
    [{ extra_body: { sample_rate: 1 } }, "extra_body.sample_rate"],
    [{ extra_body: { speed: 9 } }, "speed"],
  ];
  for (const [changes, param, message] of refused) {
    test(`${JSON.stringify(changes).slice(0, 80)} is a 400 that names ${param}`, async () => {
      const response = await server.post({ ...request, ...changes });
      const { error } = (await response.json()) as { error: { type: string; param: string; message: string } };
      assert.deepEqual([response.status, error.type, error.param], [400, "invalid_request_error", param]);
      if (message !== undefined) assert.match(error.message, message);
    });
  }

  test("an unknown model is a 404", async () => {
    const response = await server.post({ ...request, model: "nothing" });
    assert.equal(response.status, 404);
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, "model_not_found");
  });

  test("nulls, nested parameters and unknown fields are accepted", async () => {
    const response = await server.post({
      ...request,
      speed: null,
      stream: null,
      response_format: null,
      sample_rate: 8_000,
      anything: { else: 1 },
      extra_body: { sample_rate: 48_000, enable_word_boundary: null },
    });
    assert.deepEqual([response.status, response.headers.get("x-sample-rate")], [200, "8000"]);
  });
});

describe("a failing engine", () => {
  async function* failing(error: AppError, after: number): AsyncGenerator<SpeechPiece, void, undefined> {
    for (let count = 0; count < after; count++) yield piece();
    throw error;
  }
  const broken = new AppError("unsupported_parameter", "It broke.", { param: "speed" });

  test("is an HTTP error before the first piece, streamed or not", async () => {
    await using server = await serverWith({ speak: () => failing(broken, 0) });
    for (const stream of [false, true]) assert.equal((await server.post({ ...request, stream })).status, 400);
    assert.deepEqual(server.finishedSpeeches.map(outcomeOf), ["unsupported_parameter", "unsupported_parameter"]);
  });

  test("is an HTTP error at any time of a batch call", async () => {
    await using server = await serverWith({ speak: () => failing(broken, 3) });
    assert.equal((await server.post(request)).status, 400);
  });

  test("resets the connection of a stream of audio", async () => {
    await using server = await serverWith({ speak: () => failing(broken, 3) });
    const whole = server.post({ ...request, stream: true }).then((response) => response.arrayBuffer());
    await assert.rejects(whole);
    assert.equal(server.finished[0]!.outcome, "unsupported_parameter");
  });

  test("is the last line of a stream of lines", async () => {
    await using server = await serverWith({ speak: () => failing(broken, 1) });
    const response = await server.post({
      ...request,
      stream: true,
      enable_word_boundary: true,
      boundary_types: ["word"],
    });
    const lines = (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    assert.deepEqual(
      lines.map(({ type }) => type),
      ["audio", "error"],
    );
    const error = {
      message: "It broke.",
      type: "invalid_request_error",
      param: "speed",
      code: "unsupported_parameter",
    };
    assert.deepEqual(lines[1], { type: "error", error });
  });

  test("is an event without a final one in a stream of events", async () => {
    await using server = await serverWith({ speak: () => failing(broken, 1) });
    const text = await (await server.post({ ...request, stream_format: "sse" })).text();
    assert.match(text, /data: \{"error":.*\}\n\n$/);
    assert.doesNotMatch(text, /speech\.audio\.done|\[DONE\]/);
  });

  test("that gives no marks refuses word boundaries", async () => {
    await using server = await serverWith({ givesMarks: false, speak: onePiece });
    const response = await server.post({ ...request, enable_word_boundary: true });
    const { error } = (await response.json()) as { error: { param: string; code: string } };
    assert.deepEqual(
      [response.status, error.param, error.code],
      [400, "enable_word_boundary", "unsupported_parameter"],
    );
  });
});

describe("time and cancellation", () => {
  /** Speaks until it is aborted; reports when it has ended. */
  function endless() {
    const { promise: ended, resolve } = Promise.withResolvers<number>();
    let pieces = 0;
    async function* speak({ signal }: SpeechCall): AsyncGenerator<SpeechPiece, void, undefined> {
      try {
        for (;;) {
          signal.throwIfAborted();
          pieces++;
          yield piece(1);
          await setImmediate(undefined, { signal });
        }
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      } finally {
        resolve(pieces);
      }
    }
    return { speak, ended, pieces: () => pieces };
  }

  test("a request's timeout is a 408, or a reset once the audio has begun", async () => {
    async function* silent({ signal }: SpeechCall): AsyncGenerator<SpeechPiece, void, undefined> {
      await delay(60_000, undefined, { signal, ref: false }).catch(() => {
        throw signal.reason;
      });
      yield piece();
    }
    await using server = await serverWith({ speak: silent });
    const response = await server.post({ ...request, timeout: 0.05 });
    assert.equal(response.status, 408);
    const { speak } = endless();
    await using talking = await serverWith({ speak });
    const streamed = await talking.post({ ...request, stream: true, timeout: 0.3 });
    await assert.rejects(streamed.arrayBuffer());
    assert.equal(outcomeOf(talking.finishedSpeeches[0]!), "timeout");
  });

  for (const form of [{ stream: true }, { stream: true, enable_word_boundary: true, boundary_types: ["word"] }, {}]) {
    test(`a client that disconnects stops the engine: ${JSON.stringify(form)}`, async () => {
      const { speak, ended, pieces } = endless();
      await using server = await serverWith({ speak });
      const controller = new AbortController();
      const leaving = server.post({ ...request, ...form }, { signal: controller.signal });
      leaving.catch(() => {});
      if ("stream" in form) {
        const reader = (await leaving).body!.getReader();
        await reader.read();
        reader.closed.catch(() => {});
      } else while (pieces() < 3) await setImmediate();
      controller.abort();
      await ended;
      await server.untilFinished(1);
      assert.equal(server.finished[0]!.status, 499);
      assert.equal(outcomeOf(server.finishedSpeeches[0]!), "client_closed");
    });
  }

  test("a client that does not read stops the engine from running ahead", async () => {
    const { speak, pieces } = endless();
    await using server = await serverWith({ speak });
    const controller = new AbortController();
    const response = await server.post({ ...request, stream: true }, { signal: controller.signal });
    // Without back-pressure, each turn of the event loop would produce another piece of 32 KB.
    for (let turn = 0; turn < 2_048; turn++) await setImmediate();
    assert.ok(pieces() < 1_000, `${pieces()} pieces are ahead`);
    controller.abort();
    assert.equal(response.status, 200);
  });
});

describe("limits", () => {
  test("calls count as requests and by their characters", async () => {
    await using server = await serverWith(
      { speak: onePiece },
      { limits: { requests_per_minute: 2, tokens_per_minute: 100 } },
    );
    assert.equal(
      (await server.post({ ...request, input: "x".repeat(100) })).headers.get("x-ratelimit-remaining-tokens"),
      "75",
    );
    assert.equal((await server.post(request)).status, 200);
    const third = await server.post(request);
    assert.equal(third.status, 429);
    assert.ok(Number(third.headers.get("retry-after")) > 0);
  });
});
