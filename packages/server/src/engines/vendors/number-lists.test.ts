import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { takeNumberLists } from "./number-lists.ts";

/** The value with 32-bit floats in its lists of numbers. */
function rounded(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isNumbers = value.length > 0 && value.every((each) => typeof each === "number");
    return isNumbers ? value.map((each: number) => Math.fround(each)) : value.map(rounded);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rounded(each)]));
}

/** The opposite of taking lists out. */
function restored(value: unknown, lists: readonly Float32Array[]): unknown {
  if (Array.isArray(value)) {
    const [index] = value as unknown[];
    return value.length === 1 && typeof index === "number"
      ? [...lists[index]!]
      : value.map((each) => restored(each, lists));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, restored(each, lists)]));
}

describe("lists of numbers in JSON", () => {
  test("are taken out, and nothing else is changed", async () => {
    const leaf = fc.oneof(
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
      fc.jsonValue(),
    );
    const value = fc.dictionary(fc.string(), fc.oneof(leaf, fc.array(leaf)));
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(undefined, 2), async (each, space) => {
        const text = JSON.stringify(each, undefined, space);
        // Text that looks like a list is rewritten too; the adapters read no text.
        const strings = text.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
        fc.pre(!strings.some((found) => found.includes("[")));
        const { text: rest, lists } = await takeNumberLists(text);
        assert.deepEqual(restored(JSON.parse(rest), lists), rounded(JSON.parse(text)));
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test("leave text that only looks like one valid", async () => {
    for (const text of [
      `{"a":"[1, 2","b":[3]}`,
      `["[1]",[2]]`,
      `{"a":"[1,\\"2]"}`,
      `[[1,2],[3,null]]`,
      `[1,]`,
      `[`,
      ``,
    ]) {
      const { text: rest, lists } = await takeNumberLists(text);
      assert.equal(isJson(rest), isJson(text), text);
      assert.ok(lists.every((list) => list.length > 0));
    }
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
