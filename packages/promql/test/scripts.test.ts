/** Runs our own scripts in Prometheus' test format, and checks that they cover every function and operator. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { functionSignatures } from "../src/syntax/functions.ts";
import { aggregationOperators, binaryOperators } from "../src/syntax/token.ts";
import { runScript } from "./support/run-script.ts";

const scripts = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.txt"))
  .map((name) => ({ name, text: readFileSync(new URL(name, import.meta.url), "utf8") }));

describe("the engine passes the scripts", () => {
  for (const { name, text } of scripts) {
    test(name, async () => {
      const results = await runScript(text);
      const failures = results.filter(({ failure }) => failure !== null);
      assert.deepEqual(
        failures.map(({ expression, line, failure }) => `${name}:${line}: ${expression}: ${failure}`),
        [],
      );
      assert.equal(results.length, text.split("\n").filter((line) => line.startsWith("eval")).length);
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

describe("the runner detects mistakes", () => {
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
    ["a script without cases", load, /has no case/],
  ] as const) {
    test(title, async () => {
      const results = await runScript(script);
      assert.equal(results.length, 1);
      assert.match(results[0]!.failure ?? "", reason);
    });
  }
});

describe("npm run promqltest", () => {
  const command = fileURLToPath(new URL("../../../scripts/promqltest.ts", import.meta.url));
  const runCommand = async (...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    await promisify(execFile)(process.execPath, [command, ...words]).then(
      (output) => ({ code: 0, ...output }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );

  test("runs every script of a folder, and counts the cases", async () => {
    const cases = (await Promise.all(scripts.map(({ text }) => runScript(text)))).flat().length;
    const { code, stdout } = await runCommand(import.meta.dirname);
    assert.deepEqual([code, stdout], [0, `${cases} passed, 0 failed\n`]);
  });

  test("fails if a case fails, and if a folder has no scripts", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-promqltest-"));
    try {
      assert.match((await runCommand(folder)).stderr, /has no scripts/);
      await writeFile(join(folder, "one.test"), "eval instant at 0 1 + 1\n  3\n");
      const { code, stdout } = await runCommand(folder);
      assert.equal(code, 1);
      assert.match(stdout, /one\.test:1: 1 \+ 1\n.*expected scalar 3, got 2\n0 passed, 1 failed\n/s);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
