/** Runs our own scripts in the format of Loki's LogQL tests, and checks that they cover every function, operator and stage. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rangeOperators, stageWords, strengthOf, vectorOperators } from "../src/syntax/token.ts";
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
        failures.map(({ failure, line, query }) => `${name}:${line}: ${query}: ${failure}`),
        [],
      );
      assert.equal(results.length, text.split("\n").filter((line) => line.startsWith("eval")).length);
    });
  }
});

describe("the scripts cover the language", () => {
  const queries = scripts.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("eval")));
  const missing = (names: Iterable<string>, isIn: (query: string, name: string) => boolean): string[] =>
    [...names].filter((name) => !queries.some((query) => isIn(query, name)));

  test("every range aggregation, vector aggregation and other function is used", () => {
    const names = [
      ...rangeOperators,
      ...vectorOperators,
      "label_replace",
      "vector",
      "ip",
      "bytes",
      "duration",
      "duration_seconds",
    ];
    assert.deepEqual(
      missing(names, (query, name) => new RegExp(`\\b${name}(?: by \\S+ | without \\S+ )?\\s*\\(`).test(query)),
      [],
    );
  });

  test("every binary operator is used", () => {
    assert.deepEqual(
      missing(strengthOf.keys(), (query, operator) => query.includes(` ${operator} `)),
      [],
    );
  });

  test("every stage and every line filter is used", () => {
    assert.deepEqual(
      missing(stageWords, (query, word) => query.includes(`| ${word}`)),
      [],
    );
    assert.deepEqual(
      missing(["|=", "!=", "|~", "!~", "|>", "!>"], (query, sign) => query.includes(` ${sign} "`)),
      [],
    );
  });
});

describe("the runner detects mistakes", () => {
  const load = 'load\n  {x="1"} "line {{.i}}" @ 10s [repeat every 10s for 3] [metadata m="2"]\n';
  const counted = 'count_over_time({x="1"}[1m])';

  for (const [title, script, reason] of [
    ["a wrong value", `${load}eval instant at 60s ${counted}\n  {x="1", m="2"} 4`, /expected .* 4, got .* 3/],
    ["a series too many", `${load}eval instant at 60s ${counted}\n  expect empty`, /expected no series/],
    ["a missing series", `${load}eval instant at 60s ${counted}\n  {x="1"} 3`, /expected \{x="1"\} 3, got/],
    [
      "another series",
      `${load}eval instant at 60s ${counted} or vector(1)\n  {x="1", m="2"} 3`,
      /unexpected series \{\} 1/,
    ],
    [
      "a wrong point of a matrix",
      `${load}eval range from 0s to 1m step 30s ${counted}\n  {x="1", m="2"} _ 3 2`,
      /expected .* _ 3 2, got .* _ 3 3/,
    ],
    [
      "a point where none is expected",
      `${load}eval range from 0s to 30s step 30s ${counted}\n  {x="1", m="2"} _ _`,
      /got/,
    ],
    [
      "a wrong order",
      `${load}eval instant at 60s sort(${counted} or vector(1))\n  expect ordered\n  {x="1", m="2"} 3\n  {} 1`,
      /another order/,
    ],
    ["a wrong scalar", "eval instant at 0s 1 + 1\n  3", /expected scalar 3, got 2/],
    ["a missing failure", `${load}eval instant at 60s ${counted}\n  expect fail`, /expected the query to fail/],
    ["another failure", "eval instant at 0s 1 +\n  expect fail msg: not this", /expected the failure "not this", got/],
    ["an unexpected failure", "eval instant at 0s 1 +\n  3", /failed: parse error at line 1/],
    ["a command that cannot be read", "evaluate 1", /invalid command/],
    ["an entry that cannot be read", 'load\n  {x="1"} line @ 10s', /invalid entry/],
    ["a case without a result", "eval instant at 0s 1", /no expected result/],
    ["a script without cases", load, /has no case/],
  ] as const) {
    test(title, async () => {
      const results = await runScript(script);
      assert.equal(results.length, 1);
      assert.match(results[0]!.failure ?? "", reason);
    });
  }
});

describe("npm run logqltest", () => {
  const command = fileURLToPath(new URL("../../../scripts/logqltest.ts", import.meta.url));
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
    const folder = await mkdtemp(join(tmpdir(), "sounding-logqltest-"));
    try {
      assert.match((await runCommand(folder)).stderr, /has no scripts/);
      await writeFile(join(folder, "one.logqltest"), "eval instant at 0s 1 + 1\n  3\n");
      const { code, stdout } = await runCommand(folder);
      assert.equal(code, 1);
      assert.match(stdout, /one\.logqltest:1: 1 \+ 1\n.*expected scalar 3, got 2\n0 passed, 1 failed\n/s);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
