/** Hostile recordings uploaded to a real server, which keeps answering everybody else. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEncoder } from "../../src/audio/create-encoder.ts";
import { joinBytes } from "../../src/audio/samples.ts";
import { endlessFlac, endlessWebm, silentFlac } from "../audio/hostile-files.ts";
import { runOn } from "../audio/programs.ts";
import { sine } from "../audio/signals.ts";
import { scriptedTranscription, transcriptionEngine } from "../support/scripted-transcription.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";
import { needs } from "../../../../test/support/needs.ts";

const server = await startTestTranscription({
  engines: [transcriptionEngine("scripted", scriptedTranscription())],
  decoderWorkers: 1,
  maxAudioSeconds: 60,
});
after(() => server[Symbol.asyncDispose]());

const upload = (bytes: Uint8Array): Promise<Response> =>
  server.post(formOf({ model: "scripted", file: new Blob([new Uint8Array(bytes)]) }));

async function answerTo(bytes: Uint8Array): Promise<[status: number, message: string]> {
  const response = await upload(bytes);
  const { error, text } = (await response.json()) as { error?: { message: string }; text?: string };
  return [response.status, error?.message ?? text ?? ""];
}

const encoder = await createEncoder({ format: "opus", sampleRate: 24_000, stream: false });
const goodOgg = joinBytes([encoder.push(sine(440, 24_000, 1)), encoder.end()]);

test("a WebM file without end is a 400, and the next good one is transcribed", { skip: needs("ffmpeg") }, async () => {
  const [status, message] = await answerTo(endlessWebm);
  assert.equal(status, 400);
  assert.match(message, /^The WebM file is damaged: /);
  const wave = Buffer.from(await toneFile().arrayBuffer());
  const good = runOn(wave, "wav", "ffmpeg -v error -i {} -c:a libopus -f webm -");
  assert.deepEqual(await answerTo(good), [200, "hello world"]);
});

test("a decoder that makes no progress is a 400; others are answered while it works, and the next one after it", async () => {
  const state = { over: false };
  const endless = answerTo(endlessFlac()).finally(() => (state.over = true));
  let answeredMeanwhile = 0;
  while (!state.over) {
    assert.equal((await server.get("/v1/models")).status, 200);
    assert.equal((await server.post(formOf({ model: "scripted", file: toneFile() }))).status, 200);
    if (!state.over) answeredMeanwhile += 1;
  }
  assert.ok(answeredMeanwhile > 0);
  assert.deepEqual(await endless, [400, "The FLAC file is damaged: its decoder makes no progress."]);
  assert.deepEqual(await answerTo(goodOgg), [200, "hello world"]);
});

test("a recording that expands beyond the longest that is allowed is a 413", async () => {
  const bomb = silentFlac({ frames: 580, channels: 1 });
  assert.deepEqual(await answerTo(bomb), [
    413,
    "The audio is longer than 60 seconds, which is the limit. Send a shorter recording.",
  ]);
});

test("a client that disconnects frees the decoder", async () => {
  const leaving = new AbortController();
  const sent = Promise.withResolvers<void>();
  let pulled = 0;
  const boundary = "b";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nscripted\r\n--${boundary}\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.ogg"\r\n\r\n`;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 1;
      if (pulled === 1) controller.enqueue(Buffer.concat([Buffer.from(head), goodOgg.subarray(0, 200)]));
      // Nothing more ever arrives.
      else sent.resolve();
    },
  });
  const slow = fetch(`${server.url}/v1/audio/transcriptions`, {
    method: "POST",
    body,
    duplex: "half",
    signal: leaving.signal,
    headers: { ...server.headers, "content-type": `multipart/form-data; boundary=${boundary}` },
  });
  const left = assert.rejects(slow);
  await sent.promise;
  const answered = answerTo(goodOgg);
  leaving.abort();
  await left;
  assert.deepEqual(await answered, [200, "hello world"]);
});
