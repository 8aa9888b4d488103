import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { checkedChunkSize, chunksOf, createChunker } from "./chunks.ts";
import { ConfigurationError } from "./errors.ts";

const pieces = fc.array(fc.uint8Array({ maxLength: 40 }));
const sizes = fc.integer({ min: 1, max: 50 });

test("chunks have the size that was asked for, but for the last, and lose no byte", () => {
  fc.assert(
    fc.property(pieces, sizes, (pieces, size) => {
      const chunker = createChunker(size);
      const streamed = [...pieces.flatMap((piece) => [...chunker.push(piece)]), ...chunker.end()];
      const whole = Buffer.concat(pieces);
      for (const chunks of [streamed, [...chunksOf(whole, size)]]) {
        assert.deepEqual(Buffer.concat(chunks), whole);
        assert.ok(chunks.slice(0, -1).every(({ length }) => length === size));
        assert.ok(chunks.every(({ length }) => length > 0 && length <= size));
      }
    }),
  );
});

test("a size that is none is refused", () => {
  for (const size of [0, -1, 1.5, Number.NaN, Infinity]) {
    assert.throws(() => checkedChunkSize(size), ConfigurationError);
  }
});
