import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { spliceJson } from "./json-splice.ts";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";

/** Also in a long text, which is divided and not copied: the result must be the same. */
function splice(text: string, changes: Record<string, unknown>): string {
  const [short, long] = [text, text + " ".repeat(70_000)].map((each) => {
    const { pieces, byteLength } = spliceJson(Buffer.from(each), changes);
    const whole = Buffer.concat(pieces);
    assert.equal(whole.length, byteLength);
    return whole.toString();
  });
  assert.equal(long, short);
  return short!;
}

/** The members as JSON.parse returns them, with the changes applied. */
function expected(text: string, changes: Record<string, unknown>): unknown {
  const members = new Map(Object.entries(JSON.parse(text) as object));
  for (const [name, value] of Object.entries(changes)) {
    members.delete(name);
    if (value !== undefined) members.set(name, JSON.parse(JSON.stringify(value)));
  }
  return Object.fromEntries(members);
}

describe("spliceJson", () => {
  test("sets, adds and removes members and keeps the others' text unchanged", () => {
    const text = '{ "model" : "a", "seed":12345678901234567890,\n"t": 1.0, "extra_body": {"x": [1, "}"]} }';
    assert.equal(
      splice(text, { model: "b", extra_body: undefined, stream: true }),
      '{"seed":12345678901234567890,\n"t": 1.0,"model":"b","stream":true}',
    );
  });

  test("copies none of the text", () => {
    const text = Buffer.from(`{"model":"a","messages":${JSON.stringify(["x".repeat(100_000)])}}`);
    const { pieces } = spliceJson(text, { model: "b" });
    assert.ok(pieces.some((piece) => piece.buffer === text.buffer && piece.length > 100_000));
    assert.ok(pieces.every((piece) => piece.buffer === text.buffer || piece.length < 100));
  });

  test("finds names that contain escapes", () => {
    assert.equal(splice(String.raw`{"mod\u0065l":"a","\"":1}`, { model: "b" }), String.raw`{"\"":1,"model":"b"}`);
  });

  test("keeps the last of equal names, which is the validated one", () => {
    assert.equal(splice(String.raw`{"n":1,"x":0,"n":2,"\u006e":3}`, {}), String.raw`{"x":0,"\u006e":3}`);
    assert.equal(splice('{"model":"a","model":"b"}', { model: "c" }), '{"model":"c"}');
  });

  test("keeps the last of equal names among many", () => {
    const others = Array.from({ length: 20 }, (_, index) => `"m${index}":${index}`).join(",");
    assert.equal(splice(`{"a":1,${others},"a":2,"b":1}`, { b: undefined }), `{${others},"a":2}`);
  });

  test("is not misled by quotes, braces and backslashes in strings, short or long", () => {
    for (const tail of ["\\", '"', '\\"', "}{", '","model":"z', `${"y".repeat(60)}\\\\"`, `${"é".repeat(40)}"\\`]) {
      for (const length of [0, 30, 45, 46, 47, 48, 49, 50, 90]) {
        const text = JSON.stringify({ a: "x".repeat(length) + tail, b: [{ c: tail }], model: "m" });
        assert.deepEqual(JSON.parse(splice(text, { model: "n" })), expected(text, { model: "n" }), text);
      }
    }
  });

  test("empties an object, and fills an empty one", () => {
    assert.equal(splice(" { } ", { a: 1 }), '{"a":1}');
    assert.equal(splice('{"a":1}', { a: undefined }), "{}");
    assert.equal(splice("\uFEFF{}", {}), "{}");
  });

  test("gives the same result for any object as parsing, changing and printing", () => {
    const name = fc.oneof(
      fc.constantFrom("model", "stream", "a", "__proto__", ""),
      fc.string({ unit: "binary", maxLength: 8 }),
    );
    const value = fc.jsonValue({ stringUnit: "binary" });
    const members = fc.array(fc.tuple(name, value, fc.boolean()), { maxLength: 8 });
    const changes = fc.dictionary(name, fc.option(value, { nil: undefined }), { maxKeys: 4, noNullPrototype: true });
    fc.assert(
      fc.property(members, changes, fc.constantFrom("", " ", "\n\t"), (entries, changed, space) => {
        const print = (text: string, escaped: boolean): string =>
          escaped
            ? `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`
            : JSON.stringify(text);
        const body = entries
          .map(([key, each, escaped]) => [print(key, escaped), ":", JSON.stringify(each)].join(space))
          .join(`${space},${space}`);
        const text = `${space}{${space}${body}${space}}${space}`;
        assert.deepEqual(JSON.parse(splice(text, changed)), expected(text, changed));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test("refuses text that is not a JSON object, and always terminates", () => {
    for (const text of [
      "",
      "[]",
      "1",
      "{",
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":"',
      '{"a":[1',
      '{"a":1,}',
      "{a:1}",
      '{"a":}',
    ]) {
      assert.throws(() => spliceJson(Buffer.from(text), {}), { code: "invalid_json" }, text);
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          spliceJson(Buffer.from(`{"a":${text}`), {});
        } catch (error) {
          assert.ok(error instanceof Error && (error.name === "AppError" || error instanceof SyntaxError));
        }
      }),
    );
  });
});
