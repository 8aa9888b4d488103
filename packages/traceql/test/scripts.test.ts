/** Runs our own scripts of TraceQL queries, and checks the runner that also reads Tempo's list of queries. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runScript } from "./support/run-script.ts";
import { runExamples } from "./support/tempo-examples.ts";

const scripts = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".test.txt"))
  .map((name) => ({ name, text: readFileSync(new URL(name, import.meta.url), "utf8") }));

describe("the engine passes the scripts", () => {
  for (const { name, text } of scripts) {
    test(name, async () => {
      const results = await runScript(text);
      const failures = results.filter(({ failure }) => failure !== null);
      assert.deepEqual(
        failures.map(({ failure, line, query }) => `${name}:${line}: ${query}: ${failure}`),
        [],
      );
      assert.equal(results.length, text.match(/^(?:search|range|instant|fail) /gm)!.length);
    });
  }
});

describe("the runner detects mistakes", () => {
  const load = 'trace t\n  span a at 1s name="x"\n  span b at 2s name="y"\n\n';
  for (const [title, text, reason] of [
    ["a wrong value", 'range 10s to 10s step 10s: { } | rate()\n  {__name__="rate"} 1', /end must be greater/],
    [
      "a wrong point",
      'range 0s to 10s step 10s: { } | count_over_time()\n  {__name__="count_over_time"} 0 1',
      /got .* 0 2/,
    ],
    ["a missing series", 'range 0s to 10s step 10s: { } | rate() by (name)\n  {name="z"} 0 1', /expected \{name="z"\}/],
    ["a span too many", "search { }\n  t: a", /expected t: a\n.*got t: a b/],
    ["a missing failure", "fail { }: broken", /expected an error/],
    ["a wrong failure", "fail {: broken", /expected an error with "broken", got "parse error/],
  ] as const) {
    test(title, async () => {
      const [result] = await runScript(`${load}${text}\n`);
      assert.match(result!.failure ?? "", reason);
    });
  }

  test("what is no case", async () => {
    await assert.rejects(runScript("find { }\n"), /line 1: cannot read "find/);
  });

  test("a query that Tempo judges otherwise", () => {
    const yaml =
      "valid:\n  - '{ }'\n  - '{ .a = }'\nparse_fails:\n  - '{ .a = 1 }'\nvalidate_fails:\n  - '{ parent }'\n";
    const failures = runExamples(yaml).map(({ failure }) => failure?.replace(/: .*/, "") ?? null);
    assert.deepEqual(failures, [
      null,
      "expected valid, got parse_fails",
      "expected parse_fails, got valid",
      "expected validate_fails, got unsupported",
    ]);
  });
});

describe("npm run traceqltest", () => {
  const command = fileURLToPath(new URL("../../../scripts/traceqltest.ts", import.meta.url));
  const runCommand = async (...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    await promisify(execFile)(process.execPath, [command, ...words]).then(
      (output) => ({ code: 0, ...output }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );

  test("runs the files of a folder, and counts the cases", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sounding-traceqltest-"));
    try {
      assert.match((await runCommand(folder)).stderr, /has no scripts/);
      await writeFile(join(folder, "one.test.txt"), "search { }\n  t: a\n");
      await writeFile(join(folder, "test_examples.yaml"), "valid: ['{ }']\n");
      const { code, stdout } = await runCommand(folder);
      assert.equal(code, 1);
      assert.match(stdout, /one\.test\.txt:1: \{ \}\n.*expected t: a\n/s);
      assert.match(stdout, /valid: 1 of 1\n.*1 passed, 1 failed\n$/s);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
