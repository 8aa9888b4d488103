import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { writeTable, type Cell, type Column } from "./table.ts";
import { widthOf } from "./text-width.ts";

async function linesOf(
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  { width, colors = false }: { width?: number; colors?: boolean } = {},
): Promise<string[]> {
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  await writeTable({ stdout, colors: { stdout: colors, stderr: false }, terminalWidth: width }, columns, rows);
  stdout.end();
  return (await text(stdout)).trimEnd().split("\n");
}

describe("a table", () => {
  const columns = [
    "name",
    { title: "tokens", align: "right" },
    { title: "note", optional: 1 },
    { title: "id", whole: true },
  ] as const;
  const rows = [
    ["a rather long name that needs room", "12", "first", "0123456789"],
    ["b", "3456", "second note", "abcdefghij"],
  ];

  test("is complete where there is no terminal", async () => {
    assert.deepEqual(await linesOf(columns, rows), [
      "NAME                                TOKENS  NOTE         ID",
      "a rather long name that needs room      12  first        0123456789",
      "b                                     3456  second note  abcdefghij",
    ]);
  });

  test("fits the terminal: it cuts the widest cells, never an ID, and leaves out what is optional", async () => {
    assert.deepEqual(await linesOf(columns, rows, { width: 50 }), [
      "NAME               TOKENS  NOTE         ID",
      "a rather long na…      12  first        0123456789",
      "b                    3456  second note  abcdefghij",
    ]);
    assert.deepEqual(await linesOf(columns, rows, { width: 30 }), [
      "NAME        TOKENS  ID",
      "a rather …      12  0123456789",
      "b             3456  abcdefghij",
    ]);
  });

  test("is never wider than the terminal", async () => {
    const wide = [["漢字".repeat(30), "👩‍👩‍👧‍👦".repeat(20), "e\u0301".repeat(50), "x".repeat(100)]];
    for (let width = 1; width < 130; width += 1) {
      for (const line of await linesOf(columns, [...rows, ...wide], { width })) {
        assert.ok(widthOf(line) <= width, `${width}: ${line}`);
      }
    }
  });

  test("aligns characters of two columns and of none", async () => {
    const lines = await linesOf(
      ["a", "b"],
      [
        ["漢字", "|"],
        ["e\u0301a\u0308", "|"],
        ["👩‍👩‍👧‍👦", "|"],
        ["plain", "|"],
      ],
    );
    assert.deepEqual(lines, ["A      B", "漢字   |", "e\u0301a\u0308     |", "👩‍👩‍👧‍👦     |", "plain  |"]);
  });

  test("colors cells only where colors are allowed, and neutralizes what a cell contains", async () => {
    const row = [{ text: "\u001b[2Jred\r\nalert\u202e\u0007", style: "red" as const }, "2"];
    assert.deepEqual(await linesOf(["a", "b"], [row]), ["A             B", "[2Jred alert  2"]);
    const colored = (await linesOf(["a", "b"], [row], { colors: true })).join("\n");
    assert.ok(colored.endsWith("\u001b[31m[2Jred alert\u001b[39m  2"), JSON.stringify(colored));
    assert.equal(stripVTControlCharacters(colored), "A             B\n[2Jred alert  2");
  });
});
