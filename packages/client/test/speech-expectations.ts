/** The speech cases' scripted answers, and their expected outcomes in both modes. */
import type { Expectation } from "./mode-expectation.ts";
import { brokenBytes, bytes, failure, json } from "./scripted-server.ts";
import type { speechModeCases } from "./speech-mode-cases.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const line = (value: object): string => `${JSON.stringify(value)}\n`;
const audioLine = (text: string): string => line({ type: "audio", data: base64(text) });

const boundary = {
  type: "word_boundary",
  text: "Hello",
  audio_offset_ms: 50.5,
  duration_ms: 310,
  text_offset: 0,
  word_length: 5,
  boundary_type: "word",
};
const voices = json({ object: "list", data: [] });
const refusal = { message: "The engine died.", type: "upstream_error", param: null, code: "upstream_failed" };
const invalid = { name: "InvalidAnswerError", kind: "invalid_answer" };
const incomplete = { name: "IncompleteStreamError", kind: "incomplete_stream" };

export const speechExpectations: Record<
  Exclude<keyof typeof speechModeCases, "speaks while the audio is made">,
  Expectation
> = {
  "speaks a text": {
    answers: [bytes("audio/mpeg", ["whole audio"])],
    outcome: [true, "whole audio", false, "request-8"],
    requests: 1,
    sent: [
      "/v1/audio/speech",
      { model: "m", voice: "v", input: "Hello.", response_format: "mp3", sample_rate: 8000, stream: false },
    ],
  },
  "speaks a text and tells its words": {
    answers: [json({ audio: base64("whole audio"), word_boundaries: [boundary] })],
    outcome: ["whole audio", [boundary]],
    requests: 1,
    sent: ["/v1/audio/speech", { model: "m", voice: "v", input: "Hello.", enable_word_boundary: true, stream: false }],
  },
  "gives audio in chunks of a size": {
    answers: [bytes("audio/wav", ["whole audio"])],
    outcome: ["whol", "e au", "dio", "whole ", "audio", 1],
    requests: 1,
  },
  "writes audio into files": {
    answers: [bytes("audio/wav", ["whole audio"])],
    outcome: ["whole audio", "whole audio", "whole audio", "whole audio"],
    requests: 1,
  },
  "speaks while the audio is made and tells the words": {
    answers: [
      bytes("application/x-ndjson", [line(boundary) + audioLine("one"), line({ type: "new" }), audioLine("two")]),
    ],
    outcome: [boundary, "one", "two"],
    requests: 1,
    sent: ["/v1/audio/speech", { model: "m", voice: "v", input: "Hello.", enable_word_boundary: true, stream: true }],
  },
  "gives streamed audio in chunks of a size": {
    answers: [bytes("application/x-ndjson", [line(boundary), audioLine("on"), audioLine("e two")])],
    outcome: ["one ", "two"],
    requests: 1,
  },
  "writes streamed audio into a file": {
    answers: [bytes("audio/mpeg", ["one ", "two"])],
    outcome: ["one two", "one two"],
    requests: 2,
  },
  "refuses a chunk size that is none": {
    answers: [bytes("audio/mpeg", ["one"])],
    outcome: [
      {
        name: "ConfigurationError",
        kind: "configuration",
        code: "configuration",
        message: "The chunk size is 0; it must be at least 1 byte.",
        cause: undefined,
      },
      { name: "ConfigurationError", kind: "configuration" },
    ],
    requests: 2,
  },
  "throws when audio is a web page": {
    answers: [bytes("text/html", ["<p>Sign in</p>"])],
    outcome: {
      ...invalid,
      code: "invalid_answer",
      message: "The response is not a JSON object (text/html): <p>Sign in</p>",
      cause: undefined,
    },
    requests: 1,
  },
  "throws when JSON has no audio": { answers: [json({ word_boundaries: [] })], outcome: invalid, requests: 1 },
  "throws when audio is not base64": {
    answers: [json({ audio: "*", word_boundaries: [] })],
    outcome: invalid,
    requests: 1,
  },
  "throws when streamed audio is something else": {
    answers: [json({ audio: base64("one"), word_boundaries: [] })],
    outcome: {
      ...invalid,
      code: "invalid_answer",
      message: "The response is application/json; expected a stream of audio.",
      cause: undefined,
    },
    requests: 1,
  },
  "throws when streamed audio is cut": {
    answers: [brokenBytes("audio/mpeg", "one")],
    outcome: incomplete,
    requests: 1,
  },
  "throws when a line of a stream is cut": {
    answers: [bytes("application/x-ndjson", [audioLine("one"), '{"type":"audio","da'])],
    outcome: {
      ...incomplete,
      code: "incomplete_stream",
      message: "The stream ended within a line; the response is incomplete.",
      cause: undefined,
    },
    requests: 1,
  },
  "throws an error among lines of speech": {
    answers: [bytes("application/x-ndjson", [audioLine("one"), line({ type: "error", error: refusal })], true)],
    outcome: {
      name: "StreamError",
      kind: "stream",
      status: 200,
      ...refusal,
      requestId: "request-8",
      body: { type: "error", error: refusal },
      header: null,
    },
    requests: 1,
    cancelled: true,
  },
  "cancels speech by leaving the loop": {
    answers: [bytes("audio/mpeg", ["one"], true)],
    outcome: "one",
    requests: 1,
    cancelled: true,
  },
  "cancels speech by leaving a loop over chunks": {
    answers: [bytes("audio/mpeg", ["one"], true)],
    outcome: "on",
    requests: 1,
    cancelled: true,
  },
  "cancels speech by a signal": {
    answers: [bytes("audio/mpeg", ["one"], true)],
    outcome: { name: "AbortError", kind: "aborted" },
    requests: 1,
    cancelled: true,
  },
  "cancels speech at its time limit": {
    answers: [bytes("audio/mpeg", ["one"], true)],
    outcome: { name: "TimeoutError", kind: "timeout" },
    requests: 1,
    cancelled: true,
  },
  "repeats speech only until its first byte": {
    answers: [failure(503, { "retry-after-ms": "1" }), brokenBytes("audio/mpeg", "one"), bytes("audio/mpeg", ["one"])],
    outcome: incomplete,
    requests: 2,
  },
  "lists voices": { answers: [voices], outcome: [0, "list"], requests: 2 },
};
