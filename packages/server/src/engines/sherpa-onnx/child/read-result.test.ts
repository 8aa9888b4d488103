import assert from "node:assert/strict";
import { test } from "node:test";
import { readResult } from "./read-result.ts";

test("a result is read, including NaN and control characters", () => {
  const json = `{"lang": "<|en|>", "text": "one\ntwo [nan, inf]", "timestamps": [0.00, 1.20], "durations": [],
    "tokens":["one", "two"], "ys_log_probs": [-inf, -0.5], "words": []}`;
  assert.deepEqual(readResult(json), {
    text: "one two [nan, inf]",
    tokens: ["one", "two"],
    startTimes: [0, 1.2],
    durations: [],
    logProbabilities: [null, -0.5],
    language: "<|en|>",
    origin: 0,
    parts: [],
  });
  const parts =
    '{"segment_timestamps": [0.00, 4.50], "segment_durations": [4.50, 0.00], "segment_texts": [" One.", " Two"]}';
  assert.deepEqual(readResult(parts).parts, [
    { text: " One.", start: 0, end: 4.5 },
    { text: " Two", start: 4.5, end: undefined },
  ]);
  assert.deepEqual(
    [10, 4.51, 4.5].map((seconds) => readResult(parts, seconds).parts[0]!.end),
    [4.5, undefined, undefined],
  );
  const stream = readResult('{ "text": "", "tokens": [], "ys_probs": [nan], "start_time": 5.12, "is_final": false}');
  assert.deepEqual([stream.origin, stream.logProbabilities], [5.12, []]);
  assert.throws(() => readResult("no result"), SyntaxError);
});
