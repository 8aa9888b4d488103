import assert from "node:assert/strict";
import { test } from "node:test";
import { createSessionInput, type SessionInput } from "./session-input.ts";

function readAll(lines: readonly string[]): SessionInput[] {
  const read = createSessionInput();
  return lines.map((line) => read(line));
}

test("a line is a question, a line with a slash a command, an empty line nothing", () => {
  assert.deepEqual(readAll([" What is a fathom? ", "/model  big one", "/", "  "]), [
    { kind: "question", text: "What is a fathom?" },
    { kind: "command", name: "model", argument: "big one" },
    { kind: "command", name: "", argument: "" },
    { kind: "none", open: false },
  ]);
});

test("lines between triple quotes are one question", () => {
  assert.deepEqual(readAll(['"""', "/not a command", "", 'last"""', '"""one line"""', '"""first', "second", '"""']), [
    { kind: "none", open: true },
    { kind: "none", open: true },
    { kind: "none", open: true },
    { kind: "question", text: "/not a command\n\nlast" },
    { kind: "question", text: "one line" },
    { kind: "none", open: true },
    { kind: "none", open: true },
    { kind: "question", text: "first\nsecond" },
  ]);
});

test("triple quotes around nothing ask nothing", () => {
  assert.deepEqual(readAll(['"""', '"""', '""""""']), [
    { kind: "none", open: true },
    { kind: "none", open: false },
    { kind: "none", open: false },
  ]);
});
