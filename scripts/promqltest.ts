/**
 * Runs PromQL test scripts in Prometheus' format against the engine: `npm run promqltest -- FILE|FOLDER…`. A folder stands
 * for its files `*.test` and `*.test.txt`. Prints each failing case with its place and the difference, then the counts. The
 * exit code is 1 if a case failed, and 2 if there was nothing to run.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { runScript } from "../packages/server/test/support/promqltest/run-script.ts";

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function scriptsAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /\.test(\.txt)?$/.test(name));
  if (names.length === 0) fail(`${path} has no scripts (*.test, *.test.txt)`);
  return names.map((name) => join(path, name));
}

function readScripts(paths: readonly string[]): { readonly file: string; readonly text: string }[] {
  try {
    return paths.flatMap(scriptsAt).map((file) => ({ file, text: readFileSync(file, "utf8") }));
  } catch (error) {
    return fail((error as Error).message);
  }
}

const paths = process.argv.slice(2);
if (paths.length === 0) fail("usage: npm run promqltest -- FILE|FOLDER…");
const counts = { passed: 0, failed: 0 };
for (const { file, text } of readScripts(paths)) {
  for (const { expression, failure, line } of await runScript(text)) {
    counts[failure === null ? "passed" : "failed"]++;
    if (failure !== null) process.stdout.write(`failed ${file}:${line}: ${expression}\n    ${failure}\n`);
  }
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;
