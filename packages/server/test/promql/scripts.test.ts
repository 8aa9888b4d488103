/** Runs our own scripts in Prometheus' test format, and holds them to cover every function and operator. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { functionSignatures } from "../../src/languages/promql/syntax/functions.ts";
import { aggregationOperators, binaryOperators } from "../../src/languages/promql/syntax/token.ts";
import { runScript } from "../support/promqltest/run-script.ts";

const scripts = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.txt"))
  .map((name) => ({ name, text: readFileSync(new URL(name, import.meta.url), "utf8") }));

describe("the engine passes the scripts", () => {
  for (const { name, text } of scripts) {
    test(name, async () => {
      const results = await runScript(text);
      const failures = results.filter(({ outcome }) => outcome !== "passed");
      assert.deepEqual(
        failures.map(({ expression, line, reason }) => `${name}:${line}: ${expression}: ${reason}`),
        [],
      );
      assert.ok(results.length > 0);
    });
  }
});

describe("the scripts cover the language", () => {
  const text = scripts.map((script) => script.text).join("\n");

  test("every function is called", () => {
    const missing = [...functionSignatures.keys()].filter((name) => !new RegExp(`\\b${name}\\(`).test(text));
    assert.deepEqual(missing, []);
  });

  test("every aggregation is used", () => {
    const missing = aggregationOperators.filter(
      (name) => !new RegExp(`\\b${name}(?: by \\S+ | without \\S+ )?\\s*\\(`).test(text),
    );
    assert.deepEqual(missing, []);
  });

  test("every binary operator is used", () => {
    const missing = binaryOperators.flat().filter((operator) => !text.includes(` ${operator} `));
    assert.deepEqual(missing, []);
  });
});

describe("the runner finds what is wrong", () => {
  const load = 'load 1m\n  a{x="1"} 1+1x10\n\n';

  for (const [title, script, reason] of [
    ["a wrong value", `${load}eval instant at 5m a\n  a{x="1"} 7`, /expected 7, got 6/],
    ["a series too many", `${load}eval instant at 5m a\n`, /unexpected series/],
    ["a missing series", `${load}eval instant at 5m a\n  a{x="1"} 6\n  a{x="2"} 6`, /it is not there/],
    ["a wrong point of a matrix", `${load}eval range from 0 to 1m step 1m a\n  a{x="1"} 1 3`, /expected 3, got 2/],
    ["a missing failure", `${load}eval instant at 5m a\n  expect fail`, /expected to fail/],
    ["a missing annotation", `${load}eval instant at 5m a\n  expect warn\n  a{x="1"} 6`, /expected warn/],
    ["an unwanted annotation", `${load}eval instant at 5m rate(a[5m])\n  expect no_info\n`, /expected no_info/],
    ["a command that cannot be read", "evaluate 1", /invalid/],
  ] as const) {
    test(title, async () => {
      const results = await runScript(script);
      assert.equal(results.length, 1);
      assert.equal(results[0]!.outcome, "failed");
      assert.match(results[0]!.reason!, reason);
    });
  }
});
