import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { ChunkList } from "./chunk-list.ts";

test("the pieces of a body keep their order, and short ones are few", () => {
  const piece = fc.oneof(fc.nat(40), fc.nat(5_000), fc.constant(20_000)).map((length) => Buffer.alloc(length, length));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const list = new ChunkList();
      for (const each of pieces) list.add(each);
      const expected = Buffer.concat(pieces);
      assert.equal(list.length, expected.length);
      assert.deepEqual(Buffer.concat(list.take()), expected);
      assert.deepEqual([list.length, list.take()], [0, []]);
    }),
    { numRuns: propertyRuns(200) },
  );
  const list = new ChunkList();
  for (let byte = 0; byte < 1_000_000; byte += 1) list.add(Buffer.of(byte % 256));
  const chunks = list.take();
  assert.ok(chunks.length < 100, `${chunks.length} chunks`);
  assert.equal(Buffer.concat(chunks)[999_999], 999_999 % 256);
});
