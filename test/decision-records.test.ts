/** Decision records: all are in the index, have their sections, and every reference to one leads somewhere. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { repository } from "./support/served-process.ts";

const folder = join(repository, "docs/adr");
const records = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
const index = await readFile(join(folder, "README.md"), "utf8");
const sections = ["Context", "Decision", "Consequences"];
const section = /^## (?<heading>Context|Decision|Consequences)$/gm;

async function filesIn(directory: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(join(repository, directory), { recursive: true });
  return names
    .filter((name) => pattern.test(name) && !name.includes("node_modules"))
    .map((name) => join(directory, name));
}

/** Every text that may name a record, relative to the repository. */
async function textFiles(): Promise<string[]> {
  const folders = ["bench", "docs", "packages", "scripts", "test"];
  const found = await Promise.all(folders.map((each) => filesIn(each, /\.(?:md|ts|ya?ml)$/)));
  const root = (await readdir(repository)).filter((name) => name.endsWith(".md"));
  return [...root, ...found.flat()];
}

describe("decision records", () => {
  test("each has its own number", () => {
    const numbers = records.map((name) => name.slice(0, 4));
    assert.ok(numbers.length >= 25);
    assert.deepEqual([...new Set(numbers)], numbers);
  });

  for (const name of records) {
    const number = name.slice(0, 4);

    test(`${name} is in the index`, () => {
      assert.ok(index.includes(`| [${number} `) && index.includes(`](${name}) `), `docs/adr/README.md lacks ${name}`);
    });

    test(`${name} has a title with its number, and its sections in order`, async () => {
      const text = await readFile(join(folder, name), "utf8");
      assert.match(text, new RegExp(String.raw`^# ${number}:? \S`));
      const found = [...text.matchAll(section)].map(({ groups }) => groups!["heading"]);
      assert.deepEqual(found, sections);
    });
  }

  test("the index names records, files and folders that exist", () => {
    for (const [, name] of index.matchAll(/\]\((?<name>\d{4}-[^)]+)\)/g)) {
      assert.ok(records.includes(name!), `docs/adr/${name} is in the index and does not exist`);
    }
    const rows = index.split("\n").filter((line) => line.startsWith("| [0"));
    assert.equal(rows.length, records.length);
    for (const row of rows) {
      const paths = [
        ...row
          .split("|")
          .at(-2)!
          .matchAll(/`(?<path>[^`]+)`/g),
      ].map(({ groups }) => groups!["path"]!);
      assert.ok(paths.length > 0, row);
      for (const path of paths) {
        const isThere = ["packages/server/src", "."].some((base) => existsSync(join(repository, base, path)));
        assert.ok(isThere, `${path} does not exist: ${row}`);
      }
    }
  });

  test("every record that a comment or a document names exists", async () => {
    let references = 0;
    for (const file of await textFiles()) {
      const text = await readFile(join(repository, file), "utf8");
      const links = [...text.matchAll(/\]\((?<name>[^()\s#]*\b\d{4}-[\w-]+\.md)/g)]
        .map(({ groups }) => join(dirname(file), groups!["name"]!))
        .filter((path) => path.startsWith(join("docs", "adr")));
      const mentions = [...text.matchAll(/\bdocs\/adr\/(?<name>\d{4}[\w-]*(?:\.md)?)/g)].map(({ groups }) =>
        join("docs", "adr", groups!["name"]!),
      );
      for (const path of [...links, ...mentions]) {
        references += 1;
        assert.ok(existsSync(join(repository, path)), `${file} names ${path}, which does not exist`);
      }
    }
    assert.ok(references > records.length);
  });
});
