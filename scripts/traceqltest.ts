/**
 * Tests TraceQL with scripts in our own format and with Tempo's list of queries: `npm run traceqltest -- FILE|FOLDER…`. A
 * folder stands for its files `*.test.txt` and `test_examples.yaml`, and for Tempo's sources, for `pkg/traceql` in them.
 * Prints each failing case with the difference, then the counts. The exit code is 1 if a case failed, and 2 if there was
 * nothing to run.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { runScript } from "../packages/traceql/test/support/run-script.ts";
import { runExamples, verdicts } from "../packages/traceql/test/support/tempo-examples.ts";

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const folder = existsSync(join(path, "pkg", "traceql")) ? join(path, "pkg", "traceql") : path;
  const names = readdirSync(folder).filter((name) => name.endsWith(".test.txt") || name === "test_examples.yaml");
  if (names.length === 0) fail(`${path} has no scripts (*.test.txt) and no test_examples.yaml`);
  return names.map((name) => join(folder, name));
}

function readFiles(paths: readonly string[]): { readonly file: string; readonly text: string }[] {
  try {
    return paths.flatMap(filesAt).map((file) => ({ file, text: readFileSync(file, "utf8") }));
  } catch (error) {
    return fail((error as Error).message);
  }
}

const paths = process.argv.slice(2);
if (paths.length === 0) fail("usage: npm run traceqltest -- FILE|FOLDER…");
const counts = { passed: 0, failed: 0 };

function report(place: string, query: string, failure: string | null): void {
  counts[failure === null ? "passed" : "failed"]++;
  if (failure !== null) process.stdout.write(`failed ${place}: ${query}\n    ${failure}\n`);
}

for (const { file, text } of readFiles(paths)) {
  if (file.endsWith(".yaml")) {
    const results = runExamples(text);
    for (const { failure, query } of results) report(file, query, failure);
    for (const verdict of verdicts) {
      const ofVerdict = results.filter(({ expected }) => expected === verdict);
      const agreeing = ofVerdict.filter(({ failure }) => failure === null).length;
      process.stdout.write(`${verdict}: ${agreeing} of ${ofVerdict.length}\n`);
    }
  } else {
    for (const { failure, line, query } of await runScript(text)) report(`${file}:${line}`, query, failure);
  }
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;
