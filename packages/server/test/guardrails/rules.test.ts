import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, integer, property, string } from "fast-check";
import { createRulesChecker } from "../../src/guardrails/rules-checker.ts";
import type { RulesGuardrailSettings } from "../../src/config/guardrails.ts";

type Rule = Partial<RulesGuardrailSettings["rules"][number]>;

function checkerOf(rules: readonly Rule[], maxMatchCharacters = 20) {
  return createRulesChecker("house", {
    type: "rules",
    max_match_characters: maxMatchCharacters,
    check: ["input", "output"],
    replacement: "#",
    rules: rules.map((rule) => ({ category: "hate", words: [], patterns: [], action: "block", ...rule })),
  });
}

/** What leaves when the pieces come one after the other. */
function streamed(rules: readonly Rule[], pieces: readonly string[]) {
  const filter = checkerOf(rules).filter(new AbortController().signal);
  const left: string[] = [];
  const found: string[] = [];
  for (const [index, piece] of [...pieces, ""].entries()) {
    const filtered = filter.push(piece, index === pieces.length);
    assert.ok(!(filtered instanceof Promise));
    left.push(filtered.text);
    found.push(...filtered.findings.map(({ action, category }) => `${action} ${category}`));
  }
  return { text: left.join(""), found, left };
}

/** The text in pieces that end at the places. */
function cutAt(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((left, right) => left - right);
  return [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

describe("words", () => {
  for (const [words, text, expected] of [
    [["bomb"], "A bomb.", "A #."],
    [["bomb"], "A BoMb", "A #"],
    [["bomb"], "bombard, abomb, bomb_, bombé", "bombard, abomb, bomb_, bombé"],
    [["kill you"], "I kill  \n you!", "I #!"],
    [["foo bar", "bar baz"], "a foo bar baz z", "a # z"],
    [["foo", "foo bar"], "foo bar", "#"],
    [["c++", "a.b"], "C++ a.b axb", "# # axb"],
    [["Straße"], "die STRAßE, die Straßen", "die #, die Straßen"],
    [["爆弾"], "これは爆弾です", "これは#です"],
    [["😀"], "a😀b", "a😀b"],
    [["😀"], "a 😀 b", "a # b"],
  ] as const) {
    test(`${JSON.stringify(words)} in ${JSON.stringify(text)}, whole and cut anywhere`, async () => {
      const rules: Rule[] = [{ words: [...words], action: "redact" }];
      const [judged] = await checkerOf(rules).judge([text], new AbortController().signal);
      assert.equal(judged!.text, expected);
      for (let place = 0; place <= text.length; place += 1) {
        assert.equal(streamed(rules, [text.slice(0, place), text.slice(place)]).text, expected, `cut at ${place}`);
      }
      assert.equal(streamed(rules, text.split("")).text, expected);
    });
  }
});

describe("patterns", () => {
  for (const [patterns, text, expected] of [
    [[String.raw`\b\d{3}-\d{2}-\d{4}\b`], "It is 123-45-6789.", "It is #."],
    [[String.raw`\b\d{3}-\d{2}-\d{4}\b`], "It is 1123-45-6789.", "It is 1123-45-6789."],
    [["^a"], "aba", "#ba"],
    [["b$"], "bab", "ba#"],
    [["(?i)secret"], "a SECRET b", "a # b"],
    [["ab", "bc"], "xabcx", "x#x"],
    [[String.raw`\d+`], "a 1234567890123 b", "a # b"],
  ] as const) {
    test(`${JSON.stringify(patterns)} in ${JSON.stringify(text)}, whole and cut anywhere`, () => {
      const rules: Rule[] = [{ patterns: [...patterns], action: "redact" }];
      for (let place = 0; place <= text.length; place += 1) {
        assert.equal(streamed(rules, [text.slice(0, place), text.slice(place)]).text, expected, `cut at ${place}`);
      }
      assert.equal(streamed(rules, text.split("")).text, expected);
    });
  }

  test("that would stall a backtracking engine do not", async () => {
    const checker = checkerOf([{ patterns: ["(a+)+$", "(a|aa)+b"] }], 2000);
    const [judged] = await checker.judge(["a".repeat(5_000) + "!"], new AbortController().signal);
    assert.deepEqual(judged!.findings, []);
  });

  test("that match everything hold back no more than is promised", () => {
    const { left } = streamed([{ patterns: ["x(?s:.*)"], action: "flag" }], ["x", "y".repeat(500), "z"]);
    assert.equal(left[1]!.length, 501 - 20);
  });
});

const alphabet = constantFrom("b", "o", "m", " ", "😀", "x", "bomb", "bad word", ".");
const texts = array(alphabet, { maxLength: 60 }).map((parts) => parts.join(""));
const places = array(integer({ min: 0, max: 10_000 }), { maxLength: 30 });
const blocked = /(?<![\p{L}\p{M}\p{N}_])(?:bomb|bad {1,8}word)(?![\p{L}\p{M}\p{N}_])/u;

describe("however a text is cut", () => {
  test("a word is not parted by a block behind it", () => {
    assert.equal(streamed([{ words: ["bomb"] }], ["A bombard", "ment is a ", "bomb."]).text, "A bombardment ");
    assert.equal(streamed([{ words: ["bad word", "bomb"] }], ["bad wordbomb😀bad word "]).text, "bad ");
  });

  test("a blocked word never leaves, nor does anything behind it", () => {
    check(
      property(texts, places, (text, cuts) => {
        const { found, text: left } = streamed([{ words: ["bomb", "bad word"] }], cutAt(text, cuts));
        assert.doesNotMatch(left, blocked);
        assert.equal(found.length > 0, blocked.test(text));
        assert.ok(text.startsWith(left));
        if (found.length === 0) assert.equal(left, text);
      }),
      { numRuns: 400 },
    );
  });

  test("redaction gives the same, and no half of a character leaves by itself", () => {
    const rules: Rule[] = [{ words: ["bomb", "bad word"], patterns: ["x+", "mb? b"], action: "redact" }];
    check(
      property(texts, places, (text, cuts) => {
        const whole = streamed(rules, [text]);
        const parted = streamed(rules, cutAt(text, cuts));
        assert.equal(parted.text, whole.text);
        for (const piece of streamed(rules, Array.from(text)).left) assert.ok(piece.isWellFormed());
      }),
      { numRuns: 400 },
    );
  });

  test("a redacted word never leaves", () => {
    check(
      property(texts, places, (text, cuts) => {
        const { text: left } = streamed([{ words: ["bomb", "bad word"], action: "redact" }], cutAt(text, cuts));
        assert.doesNotMatch(left, blocked);
      }),
      { numRuns: 400 },
    );
  });

  test("what is only flagged, or is not there, leaves as it came", () => {
    check(
      property(string({ unit: "grapheme" }), places, (text, cuts) => {
        const { found, text: left } = streamed([{ words: ["e"], action: "flag" }], cutAt(text, cuts));
        assert.equal(left, text);
        assert.ok(found.length <= 1);
      }),
    );
  });
});

test("a long text is judged without holding up others", async () => {
  const checker = checkerOf([{ words: ["bomb"], patterns: ["(?i)how to .{0,10} bomb"], category: "violence" }]);
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 1);
  const [judged] = await checker.judge([`${"quite harmless ".repeat(20_000)} bomb`], new AbortController().signal);
  clearInterval(turn);
  assert.deepEqual(judged, { text: judged!.text, findings: [{ category: "violence", action: "block" }] });
  assert.ok(turns > 5, `${turns} turns`);
});

test("many short texts are judged without holding up others, and none behind a block", async () => {
  const checker = checkerOf([{ words: ["bomb"] }, { words: ["cat"], action: "flag" }]);
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 1);
  const texts = [...Array.from({ length: 20_000 }, () => "quite harmless"), "bomb", "cat"];
  const judged = await checker.judge(texts, new AbortController().signal);
  clearInterval(turn);
  assert.ok(turns > 5, `${turns} turns`);
  assert.deepEqual(
    judged.map(({ text }) => text),
    texts,
  );
  assert.deepEqual(
    judged.flatMap(({ findings }) => findings),
    [{ category: "hate", action: "block" }],
  );
});
