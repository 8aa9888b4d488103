/** Which tags a call has: those of `metadata`, then those of the header, within the bounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dictionary, assert as check, property, string } from "fast-check";
import { tagsInHeader, tagsOfCall } from "./request-tags.ts";

const headers = (tags: string): { readonly "x-tags": string } => ({ "x-tags": tags });

describe("the tags of a call", () => {
  for (const [header, expected] of [
    ["team=search", { team: "search" }],
    [" team = search , campaign=autumn%20sale", { team: "search", campaign: "autumn sale" }],
    ["a=b=c,%2C=%3D", { a: "b=c", ",": "=" }],
    ["team=one,team=two", { team: "two" }],
    ["team,=x,empty=,bad=100%", { bad: "100%" }],
    ["session_id=s-1,team=search", { team: "search" }],
    [`${"n".repeat(65)}=x,v=${"v".repeat(513)}`, {}],
    ["__proto__=x", JSON.parse('{"__proto__":"x"}') as object],
  ] as const) {
    test(`in the header ${JSON.stringify(header.slice(0, 60))} are ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(tagsInHeader(headers(header)), expected);
    });
  }

  test("are at most 16, those of metadata first, which takes precedence", () => {
    const many = Array.from({ length: 20 }, (_, index) => `n${index}=header`).join();
    const tags = tagsOfCall(headers(many), { n0: "metadata", other: "x", number: 1 })!;
    assert.equal(Object.keys(tags).length, 16);
    assert.deepEqual([tags["n0"], tags["other"], tags["n1"], tags["number"]], ["metadata", "x", "header", undefined]);
    assert.deepEqual(tagsOfCall(headers("n0=header"), { n0: 1 }), {});
  });

  test("are none without a header and without metadata", () => {
    assert.equal(tagsOfCall({}, undefined), undefined);
    assert.equal(tagsInHeader({ "x-tags": "" }), undefined);
  });

  test("are read as they were written, and nothing that is sent fails", () => {
    const text = string({ minLength: 1, maxLength: 60 }).filter((each) => each.trim() === each && each.isWellFormed());
    check(
      property(dictionary(text, text, { maxKeys: 16 }), string(), (tags, garbage) => {
        const { session_id: _, ...expected } = tags;
        const header = Object.entries(tags)
          .map((pair) => pair.map(encodeURIComponent).join("="))
          .join(", ");
        if (header !== "") assert.deepEqual({ ...tagsInHeader(headers(header)) }, { ...expected });
        tagsInHeader(headers(garbage));
      }),
    );
  });
});
