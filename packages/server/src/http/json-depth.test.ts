import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { isNestedDeeper } from "./json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the depth of JSON text", () => {
  test("is that of its value, whatever its strings hold", () => {
    const strings = fc.string({ unit: fc.constantFrom("[", "{", "}", "]", '"', "\\", "a", "é") });
    const values = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        strings,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(strings, tie("value"), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(values, (value) => {
        const text = Buffer.from(JSON.stringify(value));
        const depth = depthOf(value);
        assert.equal(isNestedDeeper(text, depth), false);
        if (depth > 0) assert.equal(isNestedDeeper(text, depth - 1), true);
      }),
    );
  });

  test("is told of a text that no parser would take", () => {
    assert.equal(isNestedDeeper(Buffer.from('"never ends'), 2), false);
    assert.equal(isNestedDeeper(Buffer.from("]]]][[[["), 3), false);
    assert.equal(isNestedDeeper(Buffer.from("[".repeat(100_000)), 500), true);
  });
});
