/** Runs the scripts of a query language that the command line names, and reports what failed. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

interface CaseReport {
  readonly line: number;
  readonly title: string;
  /** Why the case failed; null if it passed. */
  readonly failure: string | null;
}

interface ScriptRunner {
  /** The npm script. */
  readonly command: string;
  /** The scripts of a folder. */
  readonly pattern: RegExp;
  readonly extensions: string;
  readonly run: (text: string) => Promise<readonly CaseReport[]>;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function scriptsAt(path: string, { extensions, pattern }: ScriptRunner): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => pattern.test(name));
  if (names.length === 0) fail(`${path} has no scripts (${extensions})`);
  return names.map((name) => join(path, name));
}

function readScripts(
  paths: readonly string[],
  runner: ScriptRunner,
): { readonly file: string; readonly text: string }[] {
  try {
    return paths.flatMap((path) => scriptsAt(path, runner)).map((file) => ({ file, text: readFileSync(file, "utf8") }));
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Prints each failing case with its place, then the counts; sets the exit code. */
export async function reportScripts(runner: ScriptRunner): Promise<void> {
  const paths = process.argv.slice(2);
  if (paths.length === 0) fail(`usage: npm run ${runner.command} -- FILE|FOLDER…`);
  const counts = { passed: 0, failed: 0 };
  for (const { file, text } of readScripts(paths, runner)) {
    for (const { failure, line, title } of await runner.run(text)) {
      counts[failure === null ? "passed" : "failed"]++;
      if (failure !== null) process.stdout.write(`failed ${file}:${line}: ${title}\n    ${failure}\n`);
    }
  }
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}
