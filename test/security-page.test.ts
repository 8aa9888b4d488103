/** docs/operate/security.md has every requirement of level 2 of ASVS 4.0.3 once, and names tests that exist. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { repository } from "./support/served-process.ts";

/** The numbers of the requirements of level 2 that were not deleted, by section: `5` means 1 to 5, `1+3` means 1 and 3. */
const sections = `1.1:7 1.2:4 1.4:1+4+5 1.5:4 1.6:4 1.7:2 1.8:2 1.9:2 1.10:1 1.11:2 1.12:0+2 1.14:6 2.1:12 2.2:3 2.3:3 2.4:5 2.5:7
  2.6:3 2.7:6 2.8:7 2.9:3 2.10:4 3.1:1 3.2:4 3.3:4 3.4:5 3.5:3 3.7:1 4.1:1+2+3+5 4.2:2 4.3:3 5.1:5 5.2:8 5.3:10 5.4:3 5.5:4 6.1:3
  6.2:6 6.3:2 6.4:2 7.1:4 7.2:2 7.3:1+3+4 7.4:3 8.1:4 8.2:3 8.3:8 9.1:3 9.2:4 10.2:2 10.3:3 11.1:8 12.1:3 12.2:1 12.3:6 12.4:2 12.5:2
  12.6:1 13.1:1+3+4+5 13.2:1+2+3+5+6 13.3:2 13.4:2 14.1:4 14.2:6 14.3:2+3 14.4:7 14.5:4`;
const required = sections.split(/\s+/).flatMap((text) => {
  const [section = "", items = ""] = text.split(":");
  const listed = items.split("+").map(Number);
  const all = listed.length > 1 ? listed : Array.from({ length: listed[0]! }, (_, index) => index + 1);
  return all.filter((item) => item > 0).map((item) => `${section}.${item}`);
});

const page = await readFile(join(repository, "docs/operate/security.md"), "utf8");
const lines = page.split("\n").flatMap((line) => {
  const cells = line.split(" | ").map((cell) => cell.replaceAll(/^\|?\s*|\s*\|?$/g, ""));
  if (!/^\d/.test(cells[0] ?? "")) return [];
  const [numbers = "", requirement = "", state = "", how = "", tests = ""] = cells;
  return [{ numbers, requirement, state, how, tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, path]) => path!) }];
});

/** `2.7.1–2.7.3` means three. */
function expand(text: string): readonly string[] {
  return text.split(", ").flatMap((part) => {
    const [first = "", last] = part.split("–");
    if (last === undefined) return [first];
    const [section, from] = [first.slice(0, first.lastIndexOf(".")), Number(first.split(".").at(-1))];
    const to = Number(last.split(".").at(-1));
    return Array.from({ length: to - from + 1 }, (_, index) => `${section}.${from + index}`);
  });
}

test("every requirement of level 2 is there once", () => {
  assert.equal(required.length, 259);
  assert.deepEqual(lines.flatMap(({ numbers }) => expand(numbers)).toSorted(), required.toSorted());
});

test("every line says what Sounding does, with a test that exists, or why not", () => {
  for (const { how, numbers, requirement, state, tests } of lines) {
    assert.ok(requirement.length > 3, numbers);
    for (const path of tests) {
      assert.match(path, /^(?:packages|test)\/.*\.test\.ts$/, numbers);
      assert.ok(existsSync(join(repository, path)), `${numbers} names ${path}, which does not exist`);
    }
    if (state === "met" || state === "partly") assert.ok(tests.length > 0, `${numbers} is ${state}, and names no test`);
    else assert.ok(["not met", "yours", "does not apply"].includes(state) && how !== "–", `${numbers}: ${state}`);
    if (state === "partly") assert.notEqual(how, "–", `${numbers} does not say what is missing`);
  }
});
