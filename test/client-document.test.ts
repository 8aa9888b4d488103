import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the examples of docs/client.md are the ones that run", () => {
  const page = read("../docs/client.md");
  const blocks = [...page.matchAll(/<!-- (test\/examples\/\S+) -->\n\n```ts\n([\s\S]*?)```/g)];
  assert.ok(blocks.length >= 4);
  for (const [, path, code] of blocks) assert.equal(code, read(`../${path}`), path);
});
