/** Matchers: operators, and shortcuts that must agree with the regular-expression engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { neverYield } from "../regex/yield-budget.ts";
import type { MatchOperator } from "../syntax/ast.ts";
import { compileMatcher } from "./matcher.ts";

function matches(operator: MatchOperator, wanted: string, value: string): boolean {
  const compiled = compileMatcher({ name: "x", operator, value: wanted });
  assert.ok("matches" in compiled);
  assert.equal(compiled.matchesEmpty, compiled.matches("", neverYield));
  const found = compiled.matches(value, neverYield);
  assert.ok(typeof found === "boolean");
  return found;
}

describe("matchers", () => {
  for (const [operator, wanted, yes, no] of [
    ["=", "a.c", "a.c", "abc"],
    ["!=", "a", "b", "a"],
    ["=~", "a.c", "abc", "xabc"],
    ["=~", ".*", "", null],
    ["=~", ".+", "x", ""],
    ["=~", "a|b|", "", "c"],
    ["=~", String.raw`10\.0\.0\.1:80|b\|c`, "b|c", "10x0.0.1:80"],
    ["=~", "a.b", "a\nb", "ab"],
    ["=~", "(?i)get", "GET", "GETS"],
    ["=~", "(?P<verb>get|put)[[:digit:]]+", "put12", "put"],
    ["!~", "a.*", "b", "abc"],
    ["=~", "é|😀", "😀", "e"],
  ] as const) {
    test(`${operator} ${wanted} matches ${JSON.stringify(yes)}${no === null ? "" : `, not ${JSON.stringify(no)}`}`, () => {
      assert.equal(matches(operator, wanted, yes), true);
      if (no !== null) assert.equal(matches(operator, wanted, no), false);
    });
  }

  test("a list of words has the meaning of the regular expression", () => {
    const characters = fc.constantFrom("a", "b", "|", "\\.", "\\|", "-", " ", "1", "é");
    const list = fc.array(characters, { maxLength: 8 }).map((parts) => parts.join(""));
    const value = fc.array(fc.constantFrom("a", "b", ".", "|", "-", " ", "1", "é"), { maxLength: 4 });
    fc.assert(
      fc.property(list, value, (expression, parts) => {
        const text = parts.join("");
        assert.equal(matches("=~", expression, text), RE2JS.matches(expression, text));
      }),
    );
  });

  test("an expression that would hang a backtracking engine is evaluated", () => {
    assert.equal(matches("=~", "(a+)+$", `${"a".repeat(50_000)}!`), false);
  });

  test("broken and overlong expressions are problems, not exceptions", () => {
    for (const value of ["(", "a{2000}", "a{1000}".repeat(600)]) {
      assert.ok("problem" in compileMatcher({ name: "x", operator: "=~", value }));
    }
  });
});
