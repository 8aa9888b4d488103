/** Light Markdown: whole texts, growing texts, and texts that want to be more than text. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { splitBlocks, splitSpans, type Block } from "./markdown-blocks.ts";

const text = `# Title
A paragraph with
two lines.

- one
  - two
  more of two
3. three

\`\`\`\`ts
const fence = "\`\`\`";

\`\`\`\`
After.
\`\`\`
open`;

describe("splitBlocks", () => {
  test("finds headings, paragraphs, lists and code", () => {
    assert.deepEqual(
      splitBlocks(text).map((block) => ({ ...block, start: 0 })),
      [
        { kind: "heading", start: 0, text: "Title" },
        { kind: "text", start: 0, text: "A paragraph with\ntwo lines." },
        {
          kind: "list",
          start: 0,
          items: [
            { depth: 0, marker: "•", text: "one" },
            { depth: 1, marker: "•", text: "two\nmore of two" },
            { depth: 0, marker: "3.", text: "three" },
          ],
        },
        { kind: "code", start: 0, language: "ts", text: 'const fence = "```";\n' },
        { kind: "text", start: 0, text: "After." },
        { kind: "code", start: 0, language: "", text: "open" },
      ],
    );
  });

  test("finds the same in a text that grows by single characters, and keeps finished blocks", () => {
    let blocks: readonly Block[] = [];
    for (let length = 1; length <= text.length; length++) {
      const next = splitBlocks(text.slice(0, length), blocks);
      for (const [index, block] of blocks.slice(0, -2).entries()) assert.equal(next[index], block);
      assert.deepEqual(next, splitBlocks(text.slice(0, length)), `after ${length} characters`);
      blocks = next;
    }
  });
});

describe("splitSpans", () => {
  test("finds code, bold, italics and links", () => {
    assert.deepEqual(splitSpans("a `b*c` **d** *e* 2*3*4 [f](https://g.example/h) https://i.example/j?k=1."), [
      { kind: "text", text: "a " },
      { kind: "code", text: "b*c" },
      { kind: "text", text: " " },
      { kind: "bold", text: "d" },
      { kind: "text", text: " " },
      { kind: "italic", text: "e" },
      { kind: "text", text: " 2*3*4 " },
      { kind: "link", text: "f", url: "https://g.example/h" },
      { kind: "text", text: " " },
      { kind: "link", text: "https://i.example/j?k=1", url: "https://i.example/j?k=1" },
      { kind: "text", text: "." },
    ]);
  });

  test("leaves markup, images and other links as text", () => {
    for (const hostile of [
      "<img src=x onerror=alert(1)>",
      "[x](javascript:alert(1))",
      "[x](data:text/html,1)",
      "[x](//example.org)",
      "<script>1</script>",
    ])
      assert.deepEqual(splitSpans(hostile), [{ kind: "text", text: hostile }]);
  });

  test("takes time in proportion to the text", () => {
    for (const hostile of ["`", "**", "*a", "[", "[a](https://", "~~~", "1. ", "# "]) {
      const long = hostile.repeat(200_000);
      assert.ok(splitSpans(long).length > 0);
      assert.ok(splitBlocks(long).length > 0);
      assert.ok(splitBlocks(`${hostile}\n`.repeat(20_000)).length > 0);
    }
  });
});
