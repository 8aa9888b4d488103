/** ARCHITECTURE.md and the list of modules as maps: every path that they name exists, and every module of the server has a row. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { repository } from "./source-files.ts";

const source = join(repository, "packages/server/src");
const page = ["ARCHITECTURE.md", "packages/server/src/README.md"]
  .map((path) => readFileSync(join(repository, path), "utf8"))
  .join("\n");

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
      .filter(({ name }) => !/\.(test\.ts|md)$/.test(name))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    assert.deepEqual(
      modules.filter((name) => !rows.some((row) => row.startsWith(name))),
      [],
    );
  });
});
