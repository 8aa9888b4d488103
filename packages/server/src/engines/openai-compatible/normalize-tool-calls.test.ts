import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ToolCallPieces } from "./normalize-tool-calls.ts";

/** What clients receive for the pieces; each list is one delta. */
function normalize(...deltas: unknown[]): unknown[] {
  const calls = new ToolCallPieces();
  return deltas.map((delta) => calls.normalize(delta));
}

const begin = (id: string | undefined, name: string, more = {}) => ({
  ...(id !== undefined && { id }),
  function: { name, arguments: "" },
  ...more,
});

describe("ToolCallPieces", () => {
  test("sets the type of the first piece, and removes repeated IDs and names from the others", () => {
    const piece = (text: string) => ({
      index: 0,
      id: "a",
      type: "function",
      function: { name: null, arguments: text },
    });
    assert.deepEqual(normalize([begin("a", "f", { index: 0 })], [piece("{")], [{ ...piece("}"), id: null }]), [
      [{ id: "a", index: 0, type: "function", function: { name: "f", arguments: "" } }],
      [{ index: 0, type: "function", function: { arguments: "{" } }],
      [{ index: 0, type: "function", function: { arguments: "}" } }],
    ]);
  });

  test("creates an ID if the engine gives none", () => {
    const [[first]] = normalize([begin("", "f", { index: 0 })]) as [[{ id: string }]];
    assert.match(first.id, /^call_[0-9a-f]{24}$/);
  });

  test("numbers calls without an index by their ids, and by their names", () => {
    const indexes = (...deltas: unknown[]) =>
      normalize(...deltas).map((pieces) => (pieces as { index: number }[]).map(({ index }) => index));
    const more = () => ({ function: { arguments: "1" } });
    assert.deepEqual(
      indexes([begin("a", "f")], [more()], [begin("b", "g")], [more()], [begin("c", "f"), begin("d", "f")]),
      [[0], [0], [1], [1], [2, 3]],
    );
    assert.deepEqual(indexes([begin(undefined, "f")], [more()], [begin(undefined, "f")], [more()]), [
      [0],
      [0],
      [1],
      [1],
    ]);
  });

  test("separates calls to which the engine gives the same index", () => {
    const seen = normalize([begin("a", "f", { index: 0 }), begin("b", "g", { index: 0 })]) as [
      { index: number; id: string }[],
    ];
    assert.deepEqual(
      seen[0].map(({ index, id }) => [index, id]),
      [
        [0, "a"],
        [1, "b"],
      ],
    );
  });

  test("drops calls of other kinds with all their pieces, without a gap", () => {
    const custom = { index: 0, id: "x", type: "custom", custom: { name: "shell", input: "" } };
    assert.deepEqual(normalize([custom], [{ index: 0, custom: { input: "ls" } }], [begin("a", "f", { index: 1 })]), [
      [],
      [],
      [{ id: "a", index: 0, type: "function", function: { name: "f", arguments: "" } }],
    ]);
  });

  test("serializes arguments as text, and skips what is not a call", () => {
    const calls = [{ index: 0, id: "a", function: { name: "f", arguments: { b: [1] } } }, 5, null];
    assert.deepEqual(normalize(calls, null, "x"), [
      [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"b":[1]}' } }],
      [],
      [],
    ]);
  });
});
