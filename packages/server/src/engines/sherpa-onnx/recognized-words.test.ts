import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Recognition } from "./protocol.ts";
import { recognizedWords } from "./recognized-words.ts";

function recognition(text: string, tokens: readonly [token: string, start: number][], more: object = {}): Recognition {
  return {
    text,
    tokens: tokens.map(([token]) => token),
    startTimes: tokens.map(([, start]) => start),
    durations: [],
    logProbabilities: [],
    language: "",
    parts: [],
    ...more,
  };
}

function told(found: Recognition, range = { begin: 0, end: 10 }): (readonly [string, number, number])[] {
  return recognizedWords(found, range)!.map(({ text, startMs, endMs }) => [text, startMs, endMs] as const);
}

describe("words from tokens", () => {
  test("parts of words are joined, however a model writes the space before a word", () => {
    const expected = [
      ["Hello,", 1_000, 1_500],
      ["wide", 1_500, 1_800],
      ["world.", 2_000, 2_700],
    ];
    const text = "Hello, wide world.";
    const starts = [1, 1.2, 1.3, 1.5, 2, 2.4];
    for (const tokens of [
      ["▁Hel", "lo", ",", "▁wide", "▁world", "."],
      [" Hel", "lo", ",", " wide", " world", "."],
      ["Hel", "lo", ",", "wide", "world", "."],
    ]) {
      assert.deepEqual(
        told(
          recognition(
            text,
            tokens.map((token, index) => [token, starts[index]!]),
          ),
        ),
        expected,
      );
    }
  });

  test("a pause ends a word, and so does its duration if it is known", () => {
    const tokens: [string, number][] = [
      ["▁one", 1],
      ["▁two", 5],
    ];
    assert.deepEqual(told(recognition("one two", tokens)), [
      ["one", 1_000, 1_300],
      ["two", 5_000, 5_300],
    ]);
    assert.deepEqual(told(recognition("one two", tokens, { durations: [0.5, 0.1] }), { begin: 100, end: 110 }), [
      ["one", 101_000, 101_500],
      ["two", 105_000, 105_100],
    ]);
  });

  test("parts of characters belong to the word that contains them", () => {
    const found = recognition("naïve café", [
      [" na", 0],
      ["\uFFFD", 0.1],
      ["\uFFFD", 0.2],
      ["ve", 0.3],
      [" caf", 1],
      ["\uFFFD", 1.2],
      ["\uFFFD", 1.3],
    ]);
    assert.deepEqual(told(found), [
      ["naïve", 0, 600],
      ["café", 1_000, 1_600],
    ]);
  });

  test("scripts without spaces have words, and punctuation belongs to the word before it", () => {
    const signs = Array.from("今天天气很好。");
    const found = recognition(
      "今天天气很好。",
      signs.map((sign, index) => [sign, index]),
    );
    const words = told(found);
    assert.equal(words.map(([text]) => text).join(""), "今天天气很好。");
    assert.ok(words.length >= 3);
    assert.equal(words[0]![1], 0);
    assert.ok(words.at(-1)![0].endsWith("。"));
  });

  test("confidence is the tokens' mean probability; without times there are no words", () => {
    const tokens: [string, number][] = [
      ["▁a", 0],
      ["b", 1],
      ["▁c", 2],
    ];
    const logProbabilities = [Math.log(0.5), Math.log(0.5), null];
    const words = recognizedWords(recognition("ab c", tokens, { logProbabilities }), { begin: 0, end: 5 })!;
    assert.ok(Math.abs(words[0]!.confidence! - 0.5) < 1e-9);
    assert.equal(words[1]!.confidence, undefined);
    assert.equal(recognizedWords(recognition("ab c", tokens, { startTimes: [] }), { begin: 0, end: 5 }), undefined);
  });

  test("for any model output, words come from its text, in time order and within the segment", () => {
    const token = fc.tuple(fc.string({ unit: "grapheme", maxLength: 4 }), fc.double({ min: -1, max: 20, noNaN: true }));
    const arbitrary = fc.record({ text: fc.string({ unit: "grapheme" }), tokens: fc.array(token, { minLength: 1 }) });
    fc.assert(
      fc.property(arbitrary, ({ text, tokens }) => {
        const words = recognizedWords(recognition(text.trim(), tokens), { begin: 3, end: 9 })!;
        assert.equal(words.map((word) => word.text).join(""), text.replaceAll(/\s+/g, ""));
        let before = 3_000;
        for (const { startMs, endMs } of words) {
          assert.ok(startMs >= before && endMs >= startMs && endMs <= 9_000, JSON.stringify(words));
          before = endMs;
        }
      }),
    );
  });
});
