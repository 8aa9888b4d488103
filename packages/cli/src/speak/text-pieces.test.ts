import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { textPieces } from "./text-pieces.ts";

async function* written(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void, void> {
  for (const text of texts) yield typeof text === "string" ? Buffer.from(text) : text;
}

describe("text that is piped in", () => {
  test("loses nothing and cuts no character, however it comes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 60 }), async (text, times) => {
        const whole = Buffer.from(`${text}\n${text.toWellFormed()}`.toWellFormed().repeat(times));
        const pieces = Array.from({ length: Math.ceil(whole.length / 7) }, (_, index) =>
          whole.subarray(index * 7, index * 7 + 7),
        );
        const got = await Array.fromAsync(textPieces(written(...pieces)));
        assert.equal(got.join(""), whole.toString());
        assert.ok(got.every((piece) => piece.isWellFormed() && piece !== ""));
      }),
      { numRuns: 50 },
    );
  });

  test("comes line by line from a slow writer", async () => {
    assert.deepEqual(await Array.fromAsync(textPieces(written("one\nand ", "two\n", "three"))), [
      "one\n",
      "and two\n",
      "three",
    ]);
  });

  test("keeps the paragraphs of a fast writer whole", async () => {
    const paragraph = `${"A sentence\nover two lines. ".repeat(80)}\n\n`;
    const [first, ...rest] = await Array.fromAsync(textPieces(written(paragraph.repeat(3) + "The end\nof it.")));
    assert.equal(first, paragraph.repeat(3));
    assert.deepEqual(rest, ["The end\n", "of it."]);
  });

  test("is cut at sentences where there is no line end, and anywhere where there is neither", async () => {
    const sentences = await Array.fromAsync(textPieces(written("Word by word. ".repeat(10_000))));
    assert.ok(sentences.every((piece) => piece.length <= 50_000 && piece.endsWith(". ")));
    const letters = await Array.fromAsync(textPieces(written("a" + "😀".repeat(40_000))));
    assert.ok(letters.length > 1 && letters.every((piece) => piece.length <= 50_000 && piece.isWellFormed()));
  });
});
