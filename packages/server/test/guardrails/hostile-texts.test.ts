import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, asyncProperty, constantFrom, json } from "fast-check";
import { JsonStrings } from "../../src/guardrails/json-strings.ts";
import { checkTexts } from "../../src/guardrails/check-texts.ts";
import { mapPromptTexts } from "../../src/guardrails/prompt-texts.ts";
import { createRulesChecker } from "../../src/guardrails/rules-checker.ts";
import type { RulesGuardrailSettings } from "../../src/config/guardrails.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

type Rule = Partial<RulesGuardrailSettings["rules"][number]>;

function checkerOf(rules: readonly Rule[]) {
  return createRulesChecker("house", {
    type: "rules",
    max_match_characters: 200,
    check: ["input"],
    replacement: "#",
    rules: rules.map((rule) => ({ category: "hate", words: [], patterns: [], detect: [], action: "redact", ...rule })),
  });
}

const rules: Rule[] = [
  { words: ["bomb", "bad phrase"] },
  { patterns: [String.raw`\b\d{3}-\d{2}-\d{4}\b`, "(?i)secret +word"] },
];
const { signal } = new AbortController();

interface Run<Value> {
  readonly value: Value;
  readonly cpuMs: number;
  /** The longest time for which the event loop was blocked. */
  readonly longestHoldMs: number;
}

/** CPU time of this thread, so a busy machine changes little. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function run<Value>(work: () => Promise<Value> | Value): Promise<Run<Value>> {
  const start = cpuMs();
  let last = start;
  let longestHoldMs = 0;
  let isOver = false;
  const look = (): void => {
    const now = cpuMs();
    longestHoldMs = Math.max(longestHoldMs, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const value = await work();
  isOver = true;
  look();
  return { value, cpuMs: cpuMs() - start, longestHoldMs };
}

const push = (text: string) => run(() => checkerOf(rules).filter(signal).push(text, true));

function judgeTools(texts: string, by = rules) {
  const request = {
    model: "any",
    messages: [
      { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: texts } }] },
    ],
  };
  const report = (): void => undefined;
  return run(() =>
    checkTexts(request as never, mapPromptTexts(undefined), {
      checker: checkerOf(by),
      side: "input",
      signal,
      report,
    }),
  );
}

/** Anything that blocks longer than this would be a search, a parse or a loop that never yields; it is far above one step. */
const longestHoldMs = 150;

describe("a text with very many matches", () => {
  for (const [kind, match] of [
    ["words", "bomb "],
    ["patterns", "123-45-6789 "],
    ["matches side by side", "bomb.123-45-6789.bomb."],
  ] as const) {
    test(`of ${kind} takes time in proportion to its length`, async () => {
      const textOf = (length: number): string => match.repeat(length / match.length);
      await push(textOf(100_000));
      const small = await push(textOf(250_000));
      const large = await push(textOf(1_000_000));
      assert.ok(large.cpuMs < 12 * small.cpuMs + 50, `${small.cpuMs} ms, four times as much: ${large.cpuMs} ms`);
      assert.ok(large.longestHoldMs < longestHoldMs, `held for ${large.longestHoldMs} ms`);
      assert.doesNotMatch((large.value as { text: string }).text, /bomb|\d/);
    });
  }

  test("is redacted entirely after the last counted match", async () => {
    const { value } = await push(`${"bomb ".repeat(100_001)}quite harmless`);
    assert.equal((value as { text: string }).text, `${"# ".repeat(100_000)}#`);
  });

  test("has the texts after it redacted too, and blocked words are still found", async () => {
    const checker = checkerOf([...rules, { words: ["kill"], action: "block" }]);
    const judged = await checker.judge(["bomb ".repeat(100_001), "quite harmless"], signal);
    assert.equal(judged[1]!.text, "#");
    const blocked = await checker.judge(["bomb ".repeat(100_001), "they kill"], signal);
    assert.ok(blocked.some(({ findings }) => findings.some(({ action }) => action === "block")));
  });
});

test("a long text without a match is judged without blocking other requests", async () => {
  const { longestHoldMs: held } = await push("quite harmless ".repeat(200_000));
  assert.ok(held < longestHoldMs, `held for ${held} ms`);
});

test("a pattern that matches the empty string at the end of a text finds nothing there", async () => {
  const [judged] = await checkerOf([{ patterns: ["x*", String.raw`\b`] }]).judge(["1 xx a"], signal);
  assert.equal(judged!.text, "1 # a");
});

describe("tool arguments", () => {
  const strings = (text: string, count: number): string =>
    JSON.stringify({ list: Array.from({ length: count }, () => text) });

  for (const [kind, text] of [
    ["harmless strings", strings("quite harmless", propertyRuns(200_000))],
    ["strings to be redacted", strings("a b\u006fmb", propertyRuns(90_000))],
    ["numbers", `[${"1,".repeat(2_000_000)}1]`],
    ["lists in lists", `${"[".repeat(500_000)}"bomb"${"]".repeat(500_000)}`],
    ["white space", `[${" ".repeat(4_000_000)}"bomb"]`],
    ["one string", JSON.stringify("quite harmless ".repeat(250_000))],
  ] as const) {
    test(`with very many ${kind} are judged without blocking other requests`, async () => {
      const judged = await judgeTools(text);
      assert.ok(judged.longestHoldMs < longestHoldMs, `held for ${judged.longestHoldMs} ms`);
      assert.doesNotMatch(JSON.stringify(judged.value).slice(0, 4_100_000), /bomb/);
    });
  }

  test("are read as JSON exactly if JSON.parse accepts them", async () => {
    const scrap = constantFrom(
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      '"a"',
      '"\\u0062"',
      '"\n"',
      '"',
      "\\",
      "1",
      "-0",
      "01",
      "1.",
      "1.5e+3",
      "e",
      "true",
      "nul",
      "null",
      " ",
      "\t",
      "\u00a0",
    );
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const isRead = (text: string): boolean => {
      const strings = new JsonStrings(text);
      while (strings.step());
      return strings.isValid;
    };
    const agrees = async (text: string): Promise<void> => assert.equal(isRead(text), isJson(text), text);
    await check(
      asyncProperty(array(scrap, { maxLength: 8 }), (parts) => agrees(parts.join(""))),
      { numRuns: propertyRuns(5_000) },
    );
    await check(asyncProperty(json(), agrees));
    for (const text of ["", " ", "[1,]", '{"a":1,}', "[]]", '{"a"}', "1 2", "-", '{"a":[{"b":"c"}]}'])
      await agrees(text);
  });
});
