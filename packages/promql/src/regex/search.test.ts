/** Searches compared with re2js' own matcher on random expressions and texts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { compileSearch } from "./search.ts";
import { neverYield } from "./yield-budget.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const atom = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("a", "b", "ab", "é", "😀", "\n", String.raw`\.`, "s", "k", ".", ".*", ".+", "error"),
  },
  fc.constantFrom("[ab]", "[^a]", String.raw`\d`, String.raw`\w+`, String.raw`\pL`, "(?i:k)", "(?s:.)", "(a|b)", "a*?"),
  fc.constantFrom("^", "$", String.raw`\b`, String.raw`\B`, String.raw`\A`, String.raw`\z`, "(?m:^)", "(?m:$)"),
);
const expression = fc
  .tuple(
    fc.constantFrom("", "", "(?i)", "(?s)"),
    fc.array(fc.array(atom, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
  )
  .map(([flags, alternatives]) => flags + alternatives.map((atoms) => atoms.join("")).join("|"));
const text = fc
  .array(
    fc.constantFrom(
      "a",
      "b",
      "ab",
      ".",
      "é",
      "É",
      "😀",
      "\n",
      "1",
      " ",
      "k",
      "K",
      "\u212A",
      "S",
      "ſ",
      "error",
      "ERROR",
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("a search", () => {
  test("finds what RE2 finds", () => {
    fc.assert(
      fc.property(expression, text, (pattern, value) => {
        const search = compileSearch(pattern);
        assert.ok("isIn" in search, pattern);
        assert.equal(search.isIn(value, neverYield), RE2JS.compile(pattern).matcher(value).find(), pattern);
      }),
      { numRuns: propertyRuns(5000) },
    );
  });

  test("refuses what RE2 refuses", () => {
    for (const pattern of ["(", "a**", "(?=a)", String.raw`\1`, "(?i)a|(", "a{2000}"]) {
      const search = compileSearch(pattern);
      assert.ok("problem" in search, pattern);
      assert.match(search.problem, /^error parsing regexp: /);
    }
  });

  test("pauses in a long text, and goes on to the end", async () => {
    const search = compileSearch("(x+x+)+y");
    assert.ok("isIn" in search);
    let yields = 0;
    const budget = { spend: () => true, yield: () => Promise.resolve(void yields++) };
    assert.equal(await search.isIn("x".repeat(100_000), budget), false);
    assert.ok(yields > 50, `${yields} yields`);
    assert.equal(await search.isIn(`${"x".repeat(100_000)}y`, budget), true);
  });
});
