import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { IncompleteStreamError, InvalidAnswerError } from "./errors.ts";
import { createNdjsonDecoder } from "./ndjson.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function decodeAll(pieces: readonly Uint8Array[]): object[] {
  const decoder = createNdjsonDecoder();
  return [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()];
}

/** The bytes cut at these places, in any order and beyond the end too. */
function cutAt(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return cuts.slice(1).map((end, index) => whole.subarray(cuts[index], end));
}

const lineEnds = fc.constantFrom("\n", "\r\n", "\n\n", "\r\n \r\n");
const objects = fc.array(fc.tuple(fc.object(), lineEnds));

describe("the decoder of lines of JSON", () => {
  test("gives every object as it was, wherever the bytes are cut and whichever line ends there are", () => {
    fc.assert(
      fc.property(objects, fc.array(fc.nat()), fc.boolean(), (lines, places, openEnd) => {
        const text = lines.map(([object, end]) => JSON.stringify(object) + end).join("");
        const sent = openEnd ? text.trimEnd() : text;
        const expected = lines.map(([object]) => JSON.parse(JSON.stringify(object)) as object);
        assert.deepEqual(decodeAll(cutAt(bytes(sent), places)), expected);
      }),
    );
  });

  test("tells a stream that is cut anywhere within a line from a whole one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, place) => {
        const line = bytes(JSON.stringify({ type: "audio", data: text }));
        const cut = line.subarray(0, 1 + (place % (line.length - 1)));
        assert.throws(() => decodeAll([bytes('{"whole":true}\n'), cut]), IncompleteStreamError);
      }),
    );
  });

  test("gives the objects before a line that is none", () => {
    const decoder = createNdjsonDecoder();
    const seen: object[] = [];
    assert.throws(
      () => {
        for (const object of decoder.push(bytes('{"a":1}\n<html>\n'))) seen.push(object);
      },
      (error) => error instanceof InvalidAnswerError && /<html>/.test(error.message),
    );
    assert.deepEqual(seen, [{ a: 1 }]);
  });
});
