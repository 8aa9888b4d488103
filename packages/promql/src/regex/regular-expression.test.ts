/** The automata compared with re2js' own matchers on random expressions, and the limits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { compileAutomaton } from "./automaton.ts";
import { maximumExpressionInstructions } from "./bounded-automaton.ts";
import { GroupMatch } from "./capture-groups.ts";
import { compileCost } from "./compile-cost.ts";
import { compileExpression, compileGroupingExpression } from "./regular-expression.ts";
import { runToEnd, neverYield } from "./yield-budget.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const { tree } = fc.letrec<{ tree: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "ab", ".", "é", "😀", "\n", String.raw`\.`, String.raw`\x{e9}`) },
    fc.constantFrom("[ab]", "[^a]", "[a-cé-ü]", "[[:alpha:]]", String.raw`\d`, String.raw`\w`, String.raw`\pL`, "[]a]"),
    fc.constantFrom(
      "^",
      "$",
      String.raw`\b`,
      String.raw`\B`,
      String.raw`\A`,
      String.raw`\z`,
      "(?m:^)",
      "(?m:$)",
      "(?i:k)",
      "(?i)s",
    ),
    fc.constantFrom(String.raw`\Qa.b\E`, "(?-s:.)", "(?i:[a-z])"),
  ),
  tree: fc.oneof(
    { maxDepth: 4 },
    tie("atom"),
    fc.tuple(tie("tree"), tie("tree")).map(([left, right]) => left + right),
    fc.tuple(tie("tree"), tie("tree")).map(([left, right]) => `${left}|${right}`),
    tie("tree").map((inner) => `(${inner})`),
    fc
      .tuple(tie("tree"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{0}"))
      .map(([inner, repeat]) => `(${inner})${repeat}`),
  ),
}));
const text = fc.array(fc.constantFrom("a", "b", "c", ".", "é", "😀", "\n", "1", " ", "k", "K", "S", "ſ", "\ud800"), {
  maxLength: 8,
});

describe("expressions mean what they mean in RE2", () => {
  test("matching", () => {
    fc.assert(
      fc.property(tree, text, (expression, parts) => {
        const compiled = compileExpression(expression);
        assert.ok("matches" in compiled, expression);
        const value = parts.join("");
        assert.equal(compiled.matches(value, neverYield), RE2JS.compile(expression, RE2JS.DOTALL).testExact(value));
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test("groups", () => {
    fc.assert(
      fc.property(tree, text, (expression, parts) => {
        const compiled = compileGroupingExpression(expression);
        assert.ok("groups" in compiled, expression);
        const value = parts.join("");
        const matcher = RE2JS.compile(expression, RE2JS.DOTALL).matcher(value);
        const numbers = Array.from({ length: matcher.groupCount() + 1 }, (_, group) => group);
        const expected = matcher.matches() ? numbers.map((group) => matcher.group(group) ?? "") : undefined;
        assert.deepEqual(compiled.groups(value, numbers, neverYield), expected);
        // Longer texts use this path.
        const pausing = new GroupMatch(compileAutomaton(expression), value, numbers);
        assert.deepEqual(runToEnd(pausing, neverYield), expected);
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test("the estimated cost is at least the size of the program", () => {
    fc.assert(
      fc.property(tree, (expression) => {
        const size = RE2JS.compile(expression, RE2JS.DOTALL).programSize();
        assert.ok(compileCost(expression) >= size, `${expression}: ${compileCost(expression)} < ${size}`);
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  for (const expression of [
    "(",
    "a{2000}",
    "*",
    "a**",
    "[",
    String.raw`\pX`,
    String.raw`\1`,
    "(?=a)",
    "(?<!a)b",
    "[b-a]",
    "\\",
  ]) {
    test(`${expression} is refused with RE2's message`, () => {
      const compiled = compileExpression(expression);
      assert.ok("problem" in compiled);
      assert.match(compiled.problem, /^error parsing regexp: /);
    });
  }
});

describe("limits", () => {
  for (const [title, expression] of [
    ["many repetitions", "a{1000}".repeat(600)],
    ["nested repetitions", "(((a?){100}){100}){100}"],
    ["repetitions of nothing", "((){1000}|){1000}"],
    ["classes of many letters", String.raw`\pL`.repeat(1000)],
    ["a class of many classes", `[${String.raw`\pL`.repeat(1000)}]`],
    ["many ranges without case", `(?i)${"[b-\\x{1e900}]".repeat(100)}`],
    ["repeated quotations", String.raw`(?:\Qabcdefghij\E){1000}(?:\Qabcdefghij\E){1000}`],
    ["a long text", `${"a".repeat(10_001)}.`],
  ] as const) {
    test(`${title} are refused before they are compiled`, () => {
      const compiled = compileExpression(expression);
      assert.ok("problem" in compiled);
      assert.match(compiled.problem, /expression too (?:large|long): .* the limit is 10000/);
    });
  }

  test("an expression at the limit is compiled", () => {
    const compiled = compileExpression(`${"[ab]{990}".repeat(5)}(?:${"a".repeat(100)}.|b){20}`);
    assert.ok("matches" in compiled);
    assert.ok(compiled.instructions <= maximumExpressionInstructions);
  });

  test("a long list of words needs no program", () => {
    const words = Array.from({ length: 5000 }, (_, index) => `host-${index}\\.example`);
    const compiled = compileExpression(words.join("|"));
    assert.ok("matches" in compiled);
    assert.equal(compiled.matches("host-4999.example", neverYield), true);
    assert.equal(compiled.matches("host-5000.example", neverYield), false);
  });
});

/** Counts, and requests a break every so many steps. */
function countingBudget(stepsPerYield: number) {
  let steps = 0;
  const counted = { total: 0, longest: 0, yields: 0 };
  return {
    counted,
    spend(more: number) {
      steps += more;
      counted.total += more;
      counted.longest = Math.max(counted.longest, steps);
      return steps >= stepsPerYield;
    },
    yield() {
      steps = 0;
      counted.yields++;
      return Promise.resolve();
    },
  };
}

describe("a long match", () => {
  // Every character leads to a new state of thousands of instructions.
  const hostile = `${"(.{1,20}a.*){45}".repeat(4)}b`;
  const value = Array.from({ length: 3000 }, (_, index) => "ab"[((index * 7919) >> 4) % 2]).join("");

  test("yields often, and has the same result", async () => {
    const compiled = compileExpression(hostile);
    assert.ok("matches" in compiled);
    const budget = countingBudget(100_000);
    const result = await compiled.matches(value, budget);
    assert.equal(result, RE2JS.compile(hostile, RE2JS.DOTALL).testExact(value));
    assert.ok(budget.counted.yields > 20, `${budget.counted.yields} yields`);
    assert.ok(budget.counted.longest < 1_000_000, `${budget.counted.longest} steps without a yield`);
  });

  test("yields often while it finds groups", async () => {
    const compiled = compileGroupingExpression(hostile);
    assert.ok("groups" in compiled);
    const budget = countingBudget(100_000);
    const result = await compiled.groups(value, [0, 1], budget);
    const matcher = RE2JS.compile(hostile, RE2JS.DOTALL).matcher(value);
    assert.deepEqual(result, matcher.matches() ? [value, matcher.group(1)] : undefined);
    assert.ok(budget.counted.yields > 20, `${budget.counted.yields} yields`);
  });

  test("ends at its deadline", async () => {
    const compiled = compileExpression(hostile);
    assert.ok("matches" in compiled);
    const late = { spend: () => true, yield: () => Promise.reject(new Error("late")) };
    await assert.rejects(async () => compiled.matches(value, late), /late/);
  });
});
