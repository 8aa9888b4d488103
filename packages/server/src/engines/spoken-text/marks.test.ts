import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toAscii } from "./ascii-text.ts";
import { toMarks } from "./marks.ts";

/** Every token is spoken for a second; those in `silent` are not spoken. */
function marked(source: string, tokens: string[], silent: string[] = []) {
  const spoken = tokens.map((text, index) =>
    silent.includes(text) ? { text, start: undefined, end: undefined } : { text, start: index, end: index + 1 },
  );
  return toMarks(toAscii(source, 0), spoken, tokens.length + 0.5).map(
    ({ kind, offset, length, startMs, durationMs }) => [
      kind,
      source.slice(offset, offset + length),
      startMs,
      durationMs,
    ],
  );
}

describe("marks", () => {
  test("the full stop of an abbreviation is part of the word, that of a sentence is not", () => {
    assert.deepEqual(marked("Dr. Who.", ["Dr", "Who"]), [
      ["word", "Dr.", 0, 1000],
      ["word", "Who", 1000, 1000],
      ["punctuation", ".", 2000, 500],
    ]);
  });

  test("punctuation is heard as the pause after its word, or begins with the word after it", () => {
    const ascii = toAscii("Yes, (no)", 0);
    const tokens = [
      { text: "Yes", start: 0.1, end: 0.5 },
      { text: "no", start: 0.75, end: 1 },
    ];
    const marks = toMarks(ascii, tokens, 1.3);
    assert.deepEqual(
      marks.map(({ startMs, durationMs }) => [startMs, durationMs]),
      [
        [100, 400],
        [500, 250],
        [750, 0],
        [750, 250],
        [1000, 300],
      ],
    );
  });

  test("of several signs the one that causes the pause lasts as long as it does", () => {
    const times = (text: string) =>
      toMarks(
        toAscii(text, 0),
        [
          { text: "Yes", start: 0, end: 1 },
          { text: "no", start: 2, end: 3 },
        ],
        4,
      )
        .filter(({ kind }) => kind === "punctuation")
        .map(({ offset, length, startMs, durationMs }) => [text.slice(offset, offset + length), startMs, durationMs]);
    assert.deepEqual(times('"Yes", "no".'), [
      ['"', 0, 0],
      ['"', 1000, 0],
      [",", 1000, 1000],
      ['"', 2000, 0],
      ['"', 3000, 0],
      [".", 3000, 1000],
    ]);
    for (const dash of ["—", "-"]) {
      assert.deepEqual(times(`Yes ${dash} no !`), [
        [dash, 1000, 1000],
        ["!", 3000, 1000],
      ]);
    }
  });

  test("an emoji that is spoken as several words is one mark over the emoji", () => {
    assert.deepEqual(marked("👨‍👩‍👧!", ["man", "woman", "girl"]), [
      ["word", "👨‍👩‍👧", 0, 3000],
      ["punctuation", "!", 3000, 500],
    ]);
  });

  test("letters with accents and other scripts keep their positions", () => {
    assert.deepEqual(marked("Cafe\u0301 Привет", ["Cafe", "Privet"]), [
      ["word", "Cafe\u0301", 0, 1000],
      ["word", "Привет", 1000, 1000],
    ]);
  });

  test("what is not spoken separately belongs to the word before", () => {
    assert.deepEqual(marked("$3 million", ["$3", "million"], ["million"]), [["word", "$3 million", 0, 1000]]);
  });

  test("several characters produced from one are one mark", () => {
    assert.deepEqual(marked("Wait… so", ["Wait", "so"]), [
      ["word", "Wait", 0, 1000],
      ["punctuation", "…", 1000, 0],
      ["word", "so", 1000, 1000],
    ]);
  });
});
