/** Every program of test/examples, where it runs, is printed in a document, word for word. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const repository = new URL("../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, repository), "utf8");
const examples = readdirSync(new URL("test/examples/", repository)).map((name) => `test/examples/${name}`);
const pages = [
  "README.md",
  ...readdirSync(new URL("docs/", repository), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `docs/${name}`),
];

interface Printed {
  readonly page: string;
  readonly example: string;
  /** Undefined: the mention is not followed by a program. */
  readonly program: string | undefined;
}

const printed = pages.flatMap((page): Printed[] =>
  [
    ...read(page).matchAll(
      /<!--\s*(?<example>test\/examples\/[^\s>]*)\s*-->(?:\s*```(?:ts|python)\n(?<program>.*?)```)?/gs,
    ),
  ].map(({ groups }) => ({ page, example: groups!["example"]!, program: groups!["program"] })),
);

test("each program is printed in a document", () => {
  const printedExamples = new Set(printed.map(({ example }) => example));
  assert.ok(examples.length > 0);
  assert.deepEqual([...printedExamples].toSorted(), examples.toSorted());
});

for (const { page, example, program } of printed) {
  test(`${page} prints ${example} as it runs`, () => {
    assert.equal(program, read(example));
  });
}
