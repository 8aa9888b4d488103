/** The programs that documents print are files of test/examples, where they run. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

for (const page of readdirSync(new URL("../docs", import.meta.url), { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".md"),
)) {
  const blocks = [
    ...read(`docs/${page}`).matchAll(/<!-- (test\/examples\/\S+) -->\n\n```(?:ts|python)\n([\s\S]*?)```/g),
  ];
  if (blocks.length === 0) continue;
  test(`the programs of docs/${page} are the ones that run`, () => {
    for (const [, path, code] of blocks) assert.equal(code, read(path!), path);
  });
}
