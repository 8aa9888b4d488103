/** The client's transcriptions, asynchronous and synchronous, against the real server with a scripted model. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { runnersFor } from "../packages/client/test/both-modes.ts";
import {
  delta,
  listen,
  scriptedTranscription,
  spoken,
  transcriptionEngine,
} from "../packages/server/test/support/scripted-transcription.ts";
import { testSecret } from "../packages/server/test/support/test-http.ts";
import { startTestTranscription } from "../packages/server/test/support/test-transcription.ts";
import type { modeCases } from "./support/transcription-cases.ts";

const model = scriptedTranscription({
  async *transcribe(call) {
    await listen(call);
    if (call.partials) yield delta("six");
    yield spoken("six feet");
    yield spoken("or more", { startMs: 1_000 });
  },
});
const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)] });
after(() => server[Symbol.asyncDispose]());
const runners = await runnersFor(new URL("./support/transcription-cases.ts", import.meta.url), {
  url: server.url,
  key: testSecret,
});

const text = "six feet or more";
const badRequest = (param: string | null): object => ({ name: "BadRequestError", status: 400, param });

const outcomes: Record<keyof typeof modeCases, unknown> = {
  "gives the text alone": { text },
  "gives times": [
    "transcribe",
    "en-US",
    2,
    ["six feet", "or more"],
    [
      ["six", 0],
      ["feet", 0.1],
      ["or", 1],
      ["more", 1.1],
    ],
  ],
  "reads a file by its path": text,
  "streams text alone": [["text.delta", "text.delta", "text.delta", "text.done"], text, text],
  "streams words and segments": [
    ["text.delta", "text.delta", "word", "word", "segment", "text.delta", "word", "word", "segment", "text.done"],
    text,
    text,
  ],
  "lets extra_body override": ["duration", "language", "segments", "task", "text"],
  // Each once as a batch and once streaming.
  "refuses what breaks a rule": [
    badRequest("timestamp_granularities"),
    badRequest("response_format"),
    badRequest("chunking_strategy.silence_duration_ms"),
    badRequest("file"),
    { name: "NotFoundError", status: 404, param: "model" },
  ].flatMap((refusal) => [refusal, refusal]),
  "finds the models that transcribe": [["scripted", "whisper-1"], 0],
};

for (const { mode, run } of runners) {
  describe(`the ${mode} client and the server's transcription`, { timeout: 120_000 }, () => {
    for (const [name, outcome] of Object.entries(outcomes)) {
      test(name, async () => assert.deepEqual(await run(name), outcome));
    }
  });
}
