import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { interpolate } from "./interpolate.ts";

const env = { KEY: "secret", EMPTY: "", TRICKY: "$& ${KEY} $1" };

describe("a string with variables", () => {
  const cases: readonly [text: string, result: string][] = [
    ["plain $KEY {KEY} $", "plain $KEY {KEY} $"],
    ["${KEY}", "secret"],
    ["Bearer ${KEY}!${KEY}", "Bearer secret!secret"],
    ["${KEY:-other}", "secret"],
    ["${MISSING:-other}", "other"],
    ["${MISSING:-}", ""],
    ["${MISSING:-http://x:1/y}", "http://x:1/y"],
    ["${EMPTY}", ""],
    ["${EMPTY:-other}", "other"],
    ["$${KEY}", "${KEY}"],
    ["${TRICKY}", "$& ${KEY} $1"],
  ];
  for (const [text, result] of cases) {
    test(`${text} becomes ${JSON.stringify(result)}`, () => {
      assert.deepEqual(interpolate(text, env), { text: result, faults: [] });
    });
  }

  test("is an error when a variable is not set and has no default", () => {
    const { faults } = interpolate("${ONE} ${KEY} ${TWO}", env);
    assert.equal(faults.length, 2);
    assert.match(faults[0] ?? "", /uses the environment variable ONE, which is not set/);
  });

  for (const text of ["${", "${}", "${1A}", "${KEY", "${KEY-x}", "a ${ b"]) {
    test(`is an error when it has a broken reference: ${text}`, () => {
      assert.match(interpolate(text, env).faults.join(), /`\$\{` that is not followed by a variable name/);
    });
  }

  test("without a dollar sign and a brace is unchanged", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("${")),
        (text) => assert.deepEqual(interpolate(text, env), { text, faults: [] }),
      ),
    );
  });

  test("can hold any text when its braces are escaped", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.equal(interpolate(text.replaceAll("${", "$${"), {}).text, text.replaceAll("$${", "${"));
      }),
    );
  });
});
