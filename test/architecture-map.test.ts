/** ARCHITECTURE.md as a map: every path that it names exists, and every module of the server has a row. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { repository } from "./support/served-process.ts";

const source = join(repository, "packages/server/src");
// The list of imports names modules too; another test reads it.
const page = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8").replace(
  /<!-- imports:begin -->.*<!-- imports:end -->/s,
  "",
);

/** What looks like a path: a folder with its slash at the end, or a TypeScript file. */
const paths = [...new Set(page.match(/(?<![\w./-])[a-z][\w./-]*(?:\/(?=[\s`:]|$)|\.ts\b)/gm))];

test("every path that ARCHITECTURE.md names exists", () => {
  assert.ok(paths.length > 80, `${paths.length} paths were found`);
  const missing = paths.filter((path) => ![source, repository].some((base) => existsSync(join(base, path))));
  assert.deepEqual(missing, []);
});

test("every folder and file of the server's source has a row in ARCHITECTURE.md", () => {
  const rows = [...page.matchAll(/^\| `(?<module>[^`]+)` +\|/gm)].map(({ groups }) => groups!["module"]!);
  const modules = readdirSync(source, { withFileTypes: true })
    .filter(({ name }) => !name.endsWith(".test.ts"))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  assert.deepEqual(
    modules.filter((name) => !rows.some((row) => row.startsWith(name))),
    [],
  );
});
