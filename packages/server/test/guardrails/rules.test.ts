import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, asyncProperty, constantFrom, integer, string } from "fast-check";
import { createRulesChecker } from "../../src/guardrails/rules-checker.ts";
import type { RulesGuardrailSettings } from "../../src/config/guardrails.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

type Rule = Partial<RulesGuardrailSettings["rules"][number]>;

function checkerOf(rules: readonly Rule[], maxMatchCharacters = 20) {
  return createRulesChecker("house", {
    type: "rules",
    max_match_characters: maxMatchCharacters,
    check: ["input", "output"],
    replacement: "#",
    rules: rules.map((rule) => ({ category: "hate", words: [], patterns: [], detect: [], action: "block", ...rule })),
  });
}

/** What is sent when the pieces arrive one after the other. */
async function streamed(rules: readonly Rule[], pieces: readonly string[]) {
  const filter = checkerOf(rules).filter(new AbortController().signal);
  const left: string[] = [];
  const found: string[] = [];
  for (const [index, piece] of [...pieces, ""].entries()) {
    const filtered = await filter.push(piece, index === pieces.length);
    left.push(filtered.text);
    found.push(...filtered.findings.map(({ action, category }) => `${action} ${category}`));
  }
  return { text: left.join(""), found, left };
}

/** The text in pieces that end at these positions. */
function cutAt(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((left, right) => left - right);
  return [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

describe("kinds of data", () => {
  const rules: Rule[] = [{ detect: ["email", "card_number"], action: "redact" }];
  for (const pieces of [
    ["Write to ann@example.com, pay with 4111 1111 1111 1111."],
    ["Write to an", "n@exam", "ple.com, pay with 4111 11", "11 1111 1", "111."],
  ])
    test(`are found in ${pieces.length} pieces`, async () => {
      assert.equal((await streamed(rules, pieces)).text, "Write to #, pay with #.");
    });
});

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
    test(`${JSON.stringify(words)} in ${JSON.stringify(text)}, whole and split anywhere`, async () => {
      const rules: Rule[] = [{ words: [...words], action: "redact" }];
      const [judged] = await checkerOf(rules).judge([text], new AbortController().signal);
      assert.equal(judged!.text, expected);
      for (let place = 0; place <= text.length; place += 1) {
        assert.equal(
          (await streamed(rules, [text.slice(0, place), text.slice(place)])).text,
          expected,
          `cut at ${place}`,
        );
      }
      assert.equal((await streamed(rules, text.split(""))).text, expected);
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
    test(`${JSON.stringify(patterns)} in ${JSON.stringify(text)}, whole and split anywhere`, async () => {
      const rules: Rule[] = [{ patterns: [...patterns], action: "redact" }];
      for (let place = 0; place <= text.length; place += 1) {
        assert.equal(
          (await streamed(rules, [text.slice(0, place), text.slice(place)])).text,
          expected,
          `cut at ${place}`,
        );
      }
      assert.equal((await streamed(rules, text.split(""))).text, expected);
    });
  }

  test("that would stall a backtracking engine do not", async () => {
    const checker = checkerOf([{ patterns: ["(a+)+$", "(a|aa)+b"] }], 2000);
    const [judged] = await checker.judge(["a".repeat(5_000) + "!"], new AbortController().signal);
    assert.deepEqual(judged!.findings, []);
  });

  test("that match everything hold back no more than documented", async () => {
    const { left } = await streamed([{ patterns: ["x(?s:.*)"], action: "flag" }], ["x", "y".repeat(500), "z"]);
    assert.equal(left[1]!.length, 501 - 20);
  });
});

const alphabet = constantFrom("b", "o", "m", " ", "😀", "x", "bomb", "bad word", ".");
const texts = array(alphabet, { maxLength: 60 }).map((parts) => parts.join(""));
const places = array(integer({ min: 0, max: 10_000 }), { maxLength: 30 });
const blocked = /(?<![\p{L}\p{M}\p{N}_])(?:bomb|bad {1,8}word)(?![\p{L}\p{M}\p{N}_])/u;

describe("however a text is split", () => {
  test("a word is not divided by a block after it", async () => {
    assert.equal((await streamed([{ words: ["bomb"] }], ["A bombard", "ment is a ", "bomb."])).text, "A bombardment ");
    assert.equal((await streamed([{ words: ["bad word", "bomb"] }], ["bad wordbomb😀bad word "])).text, "bad ");
  });

  test("a blocked word is never sent, nor anything after it", async () => {
    await check(
      asyncProperty(texts, places, async (text, cuts) => {
        const { found, text: left } = await streamed([{ words: ["bomb", "bad word"] }], cutAt(text, cuts));
        assert.doesNotMatch(left, blocked);
        assert.equal(found.length > 0, blocked.test(text));
        assert.ok(text.startsWith(left));
        if (found.length === 0) assert.equal(left, text);
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test("redaction gives the same result, and never sends half a character", async () => {
    const rules: Rule[] = [{ words: ["bomb", "bad word"], patterns: ["x+", "mb? b"], action: "redact" }];
    await check(
      asyncProperty(texts, places, async (text, cuts) => {
        const whole = await streamed(rules, [text]);
        const parted = await streamed(rules, cutAt(text, cuts));
        assert.equal(parted.text, whole.text);
        for (const piece of (await streamed(rules, Array.from(text))).left) assert.ok(piece.isWellFormed());
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test("a redacted word is never sent", async () => {
    await check(
      asyncProperty(texts, places, async (text, cuts) => {
        const { text: left } = await streamed([{ words: ["bomb", "bad word"], action: "redact" }], cutAt(text, cuts));
        assert.doesNotMatch(left, blocked);
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test("text that is only flagged, or does not match, is sent unchanged", async () => {
    await check(
      asyncProperty(string({ unit: "grapheme" }), places, async (text, cuts) => {
        const { found, text: left } = await streamed([{ words: ["e"], action: "flag" }], cutAt(text, cuts));
        assert.equal(left, text);
        assert.ok(found.length <= 1);
      }),
    );
  });
});

test("many short texts are judged, and none after a block", async () => {
  const checker = checkerOf([{ words: ["bomb"] }, { words: ["cat"], action: "flag" }]);
  const texts = [...Array.from({ length: 20_000 }, () => "quite harmless"), "bomb", "cat"];
  const judged = await checker.judge(texts, new AbortController().signal);
  assert.deepEqual(
    judged.map(({ text }) => text),
    texts,
  );
  assert.deepEqual(
    judged.flatMap(({ findings }) => findings),
    [{ category: "hate", action: "block" }],
  );
});
