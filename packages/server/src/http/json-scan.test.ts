import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { JsonScan, maxJsonDepth, maxJsonEscapes, maxJsonNameBytes } from "./json-scan.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Values and names of members. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return 1 + names + Object.values(value).reduce<number>((sum, each) => sum + countOf(each), 0);
}

function wrapped(text: string, depth: number): string {
  return "[".repeat(depth) + text + "]".repeat(depth);
}

function scanned(text: string, maxValues = 1_000_000): number {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(bytes, maxValues);
  scan.run(bytes.length);
  return scan.values;
}

describe("the depth of JSON text", () => {
  test("is that of its value, regardless of brackets in strings", () => {
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
        const text = JSON.stringify(value);
        const depth = depthOf(value);
        const deepest = maxJsonDepth - depth;
        assert.equal(scanned(wrapped(text, deepest)), countOf(value) + deepest);
        assert.throws(() => scanned(wrapped(text, deepest + 1)), { code: "invalid_json", message: /nested more than/ });
      }),
    );
  });

  test("is also found in text that no parser accepts", () => {
    scanned('"never ends');
    scanned(`]]]]${"[".repeat(maxJsonDepth)}`);
    assert.throws(() => scanned("[".repeat(100_000)), { code: "invalid_json" });
  });
});

describe("the number of values and names in JSON text", () => {
  test("is counted up to the limit, regardless of the step size", () => {
    const long = JSON.stringify("x\n".repeat(500));
    const text = Buffer.from(`{ "a\\"": [1, -2.5e3 ,"x",[],{}], "long": ${long}, "b":true }`);
    for (let step = 1; step < text.length; step += 1) {
      const scan = new JsonScan(text, 12);
      for (let end = step; end < text.length + step; end += step) scan.run(Math.min(end, text.length));
      assert.equal(scan.values, 12);
    }
    assert.throws(() => scanned(text.toString(), 11), {
      code: "payload_too_large",
      message: /more than 11 JSON values/,
    });
  });

  test("has a limit for escapes too, which are slow to parse", () => {
    scanned(`"${String.raw`\n`.repeat(maxJsonEscapes)}"`);
    assert.throws(() => scanned(`"${String.raw`\n`.repeat(maxJsonEscapes + 1)}"`), {
      code: "payload_too_large",
      message: /more than 524288 escapes/,
    });
  });

  test("has a limit for the total length of all names", () => {
    const long = "n".repeat(maxJsonNameBytes / 2);
    scanned(`{"${long}":1,"${long}":"${long}"}`);
    assert.throws(() => scanned(`{"${long}":1,"${long}x":1}`), { code: "payload_too_large", message: /member names/ });
  });
});
