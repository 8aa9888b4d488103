/** The input of a speech call, divided by the word boundaries of the server. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SpokenInput } from "./spoken-input.ts";

function boundary(input: string, text: string, startMs: number) {
  const word = { text, text_offset: input.indexOf(text), word_length: text.length };
  return { type: "word_boundary", boundary_type: "word", audio_offset_ms: startMs, duration_ms: 100, ...word } as const;
}

describe("SpokenInput", () => {
  const input = "“It’s $3.50, 🎧 right?”\n\nYes.";

  test("keeps every character of the input, whatever has been spoken", () => {
    const spoken = new SpokenInput(input);
    for (const [index, word] of ["It’s", "$3.50", "🎧", "right", "Yes"].entries()) {
      spoken.add(boundary(input, word, index * 100));
      const shown = spoken.pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
      assert.equal(shown + spoken.rest, input);
    }
    assert.equal(spoken.rest, ".");
    assert.deepEqual(
      spoken.words.map(({ text, start, end }) => [text, start, end]),
      [
        ["It’s", 0, 0.1],
        ["$3.50", 0.1, 0.2],
        ["🎧", 0.2, 0.3],
        ["right", 0.3, 0.4],
        ["Yes", 0.4, 0.5],
      ],
    );
    const numbers = spoken.pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.word]));
    assert.deepEqual(numbers, [0, 1, 2, 3, 4]);
  });

  test("ignores a boundary within text that is already spoken", () => {
    const spoken = new SpokenInput(input);
    spoken.add(boundary(input, "$3.50", 0));
    spoken.add(boundary(input, "It’s", 100));
    assert.deepEqual(
      spoken.words.map(({ text }) => text),
      ["$3.50"],
    );
  });
});
