/** Every operation of the client, asynchronous and synchronous, against the real server and its own engines. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { runnersFor } from "../packages/client/test/both-modes.ts";
import type { modeCases } from "./support/client-cases.ts";
import { needs } from "./support/needs.ts";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";

const server = await startServer("", { telemetry: true });
after(() => server[Symbol.asyncDispose]());
await untilTelemetryReady(server);
const { key, operatorKey, url } = server;
const facts = { operatorKey };
const runners = await runnersFor(new URL("./support/client-cases.ts", import.meta.url), { key, url, facts });

const badRequest = (param: string): object => ({
  name: "BadRequestError",
  status: 400,
  code: null,
  param,
});
const noModel = { name: "NotFoundError", status: 404, code: "model_not_found", param: "model" };
const words = ["Dr.", "Lee", "paid", "$3.50", "twice"];

const outcomes: Record<keyof typeof modeCases, unknown> = {
  "lists and finds models": [true, "flite"],
  "refuses an unknown key": { name: "AuthenticationError", status: 401, code: "invalid_api_key", param: null },
  "answers whole and in pieces alike": [true, true, "chat.completion"],
  "refuses an unknown model": noModel,
  "speaks whole and in pieces alike": [true, true],
  "speaks in every format": ["RIFF", true, "OggS"],
  "tells the words of whole speech": [words, words, true],
  "tells the words while it speaks": [["punctuation", "sentence", "word"], true],
  // Each once as a batch and once streaming.
  "refuses speech that breaks a rule": [
    badRequest("speed"),
    badRequest("response_format"),
    badRequest("boundary_types"),
    badRequest("voice"),
    noModel,
  ].flatMap((refusal) => [refusal, refusal]),
  "lists voices by language": ["awb", "kal16", "rms", "slt"],
  "transcribes what it speaks": [true, "transcribe", true, true, true],
  "leaves streams early, and calls again": ["timeout", "flite"],
  "administers budgets": [
    ["trial budget", 1.5, "day", 0, 1.5],
    [["trial budget"], 2, [80]],
    [true, true],
    { name: "NotFoundError", status: 404, code: "not_found", param: null },
  ],
  "reads telemetry": [
    ["success", "streams", true],
    ["success", "vector", true],
    ["success", true, true],
  ],
};

for (const { mode, run } of runners) {
  describe(`the ${mode} client and the real server`, { timeout: 120_000 }, () => {
    for (const [name, outcome] of Object.entries(outcomes)) {
      const skip = name === "transcribes what it speaks" && needs("pocketsphinx");
      test(name, { skip }, async () => assert.deepEqual(await run(name), outcome));
    }
  });
}
