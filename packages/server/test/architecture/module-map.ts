/** ARCHITECTURE.md as a map: every path that it names exists, and every module of the server has a row. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { architecture } from "./import-list.ts";
import { repository } from "./source-files.ts";

const source = join(repository, "packages/server/src");
// The list of imports names modules too; import-list.ts reads it.
const page = architecture.replace(/<!-- imports:begin -->.*<!-- imports:end -->/s, "");

/** Anything that looks like a path: a folder with a trailing slash, or a TypeScript file. */
const paths = [...new Set(page.match(/(?<![\w./-])[a-z][\w./-]*(?:\/(?=[\s`:]|$)|\.ts\b)/gm))];

describe("the map of modules", () => {
  test("names only paths that exist", () => {
    assert.ok(paths.length > 80, `${paths.length} paths were found`);
    const missing = paths.filter((path) => ![source, repository].some((base) => existsSync(join(base, path))));
    assert.deepEqual(missing, []);
  });

  test("has a row for every folder and file of the server's source", () => {
    const rows = [...page.matchAll(/^\| `(?<module>[^`]+)` +\|/gm)].map(({ groups }) => groups!["module"]!);
    const modules = readdirSync(source, { withFileTypes: true })
      .filter(({ name }) => !name.endsWith(".test.ts"))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    assert.deepEqual(
      modules.filter((name) => !rows.some((row) => row.startsWith(name))),
      [],
    );
  });
});
