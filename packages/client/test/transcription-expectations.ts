/** The transcription cases' scripted answers, and their expected outcomes in both modes. */
import type { Expectation } from "./mode-expectation.ts";
import { done, events, failure, formOf, json, type Answer } from "./scripted-server.ts";
import type { transcriptionModeCases } from "./transcription-mode-cases.ts";

const audio = "RIFF some audio\r\n--sounding";

/** Answers with the form that it received. */
const echo: Answer = async (response, request) => {
  const form = await formOf(request);
  return json({ text: JSON.stringify([...form.entries()].filter(([name]) => name !== "file")) })(response, request);
};

const fileEcho: Answer = async (response, request) => {
  const file = (await formOf(request)).get("file") as File;
  const content = (await file.text()) === audio ? "whole" : "spoilt";
  return json({ text: `${file.name} ${file.type} ${content}` })(response, request);
};

const segment = { id: 0, seek: 0, start: 0, end: 1, text: "Six feet", avg_logprob: 0, compression_ratio: 4 };
const verbose = {
  task: "transcribe",
  language: "en-US",
  duration: 1.5,
  text: "Six feet",
  segments: [segment],
  words: [{ word: "Six", start: 0, end: 0.4 }],
};
const streamed = [
  { type: "transcript.text.delta", delta: "Six ", text: "Six ", logprobs: null },
  { type: "transcript.text.delta", delta: "feet", text: "feet", logprobs: null },
  { type: "transcript.word", word: "Six", start: 0, end: 0.4 },
  { type: "transcript.segment", segment },
  { type: "transcript.text.done", text: "Six feet", logprobs: null },
];
const octets = "application/octet-stream";
const configuration = { name: "ConfigurationError", kind: "configuration" };

export const transcriptionExpectations: Record<keyof typeof transcriptionModeCases, Expectation> = {
  "transcribes a recording": {
    answers: [echo],
    outcome: [
      JSON.stringify([
        ["timeout", "60"],
        ["model", "m"],
        ["language", "fr-FR"],
        ["hints", '{"a":[1]}'],
      ]),
      200,
    ],
    requests: 1,
  },
  "transcribes with times": { answers: [json(verbose)], outcome: [1.5, 1, ["Six"]], requests: 1 },
  "transcribes while the recording is understood": {
    answers: [events([...streamed, done])],
    outcome: ["Six ", "feet", "Six", "Six feet", "Six feet"],
    requests: 1,
  },
  "sends files of every kind": {
    answers: [fileEcho],
    outcome: [
      ...["path", "URL", "stream"].map(() => `a "b".wav ${octets} whole`),
      ...["descriptor", "handle", "Uint8Array", "Buffer", "ArrayBuffer", "DataView"].map(() => `audio ${octets} whole`),
      "audio audio/wav whole",
      "f.wav audio/x-wav whole",
      `audio ${octets} whole`,
      "g\r\n.pcm audio/l16; rate=8000 whole",
    ],
    requests: 13,
  },
  "sends a file again for another attempt": {
    answers: [
      failure(503, { "retry-after-ms": "1" }),
      fileEcho,
      (response) => void response.destroy(),
      failure(429, { "retry-after-ms": "1" }),
      fileEcho,
    ],
    outcome: [`a "b".wav ${octets} whole`, `audio ${octets} whole`],
    requests: 5,
  },
  "sends what can be read once but once": {
    answers: [failure(503, { "retry-after-ms": "1" })],
    outcome: { name: "ServerError", kind: "status" },
    requests: 1,
  },
  "throws when a file cannot be read": {
    answers: [json({ text: "never" })],
    outcome: ["configuration", true, configuration, configuration, configuration, configuration],
    requests: 0,
  },
  "cancels a transcription by leaving the loop": {
    answers: [events(streamed.slice(0, 1), true)],
    outcome: "transcript.text.delta",
    requests: 1,
    cancelled: true,
  },
  "throws when a stream of a transcription ends too early": {
    answers: [events(streamed)],
    outcome: { name: "IncompleteStreamError", kind: "incomplete_stream" },
    requests: 1,
  },
};
