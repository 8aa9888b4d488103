/** Where JSON is wrong. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseJsonText } from "./json-text.ts";

describe("parseJsonText", () => {
  test("parses JSON", () => {
    assert.deepEqual(parseJsonText(' {"a": [1, -2.5e3, true, null, "\\u0041"]} ').value, {
      a: [1, -2500, true, null, "A"],
    });
  });

  for (const [text, problem] of [
    ["", "line 1, column 1: expected a value, found the end of the text"],
    ['{"a": 1,}', 'line 1, column 9: expected a name in quotes, found "}"'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: expected "," or "}", found "\\""'],
    ["[1, 2", 'line 1, column 6: expected "," or "]", found the end of the text'],
    ["{a: 1}", 'line 1, column 2: expected a name in quotes or "}", found "a"'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
    ['{"a": "x\ny"}', 'line 1, column 9: expected the closing ", found "\\n"'],
    ['["\\x"]', 'line 1, column 3: expected an escape such as \\n or \\u0041, found "\\\\"'],
    ["[1] 2", 'line 1, column 5: expected the end of the text, found "2"'],
    ["[01]", 'line 1, column 3: expected "," or "]", found "1"'],
    ["'a'", `line 1, column 1: expected a value, found "'"`],
  ] as const) {
    test(`finds what is wrong in ${JSON.stringify(text)}`, () => {
      assert.equal(parseJsonText(text).problem, `Not JSON at ${problem}.`);
    });
  }

  test("does not run out of stack", () => {
    assert.match(parseJsonText("[".repeat(200_000)).problem ?? "", /column 200001: expected a value or "\]"/);
  });
});
