import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../json-object.ts";
import { mergeMembers } from "./pass-through.ts";

describe("pass-through members", () => {
  test("are merged into the body, object by object", () => {
    const body: JsonObject = { a: 1, nested: { b: 2 } };
    mergeMembers(body, { c: [3], nested: { d: 4 } }, "Vendor");
    assert.deepEqual(body, { a: 1, nested: { b: 2, d: 4 }, c: [3] });
  });

  test("replace nothing", () => {
    const merge = (members: JsonObject) => () => mergeMembers({ a: 1, nested: { b: 2 } }, members, "Vendor");
    assert.throws(merge({ a: 2 }), { code: "unsupported_parameter", param: "a" });
    assert.throws(merge({ nested: { b: 3 } }), { code: "unsupported_parameter", param: "nested.b" });
    assert.throws(merge({ nested: 5 }), { code: "unsupported_parameter", param: "nested" });
  });

  test("cannot reach the prototype", () => {
    const body: JsonObject = {};
    mergeMembers(body, JSON.parse('{"__proto__":{"polluted":true}}') as JsonObject, "Vendor");
    assert.equal(body["polluted"], undefined);
    assert.equal(JSON.stringify(body), '{"__proto__":{"polluted":true}}');
    mergeMembers(body, JSON.parse('{"constructor":{"prototype":{"polluted":true}}}') as JsonObject, "Vendor");
    assert.equal(({} as JsonObject)["polluted"], undefined);
  });
});
