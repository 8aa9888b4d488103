import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ToolCallPieces } from "./normalize-tool-calls.ts";

/** What clients receive for the pieces; each list is one delta, and the last is what was held back until the end. */
function normalize(...deltas: unknown[]): unknown[] {
  const calls = new ToolCallPieces();
  return [...deltas.map((delta) => calls.normalize(delta)), calls.rest()];
}

/** Each call as a client puts it together. */
function callsOf(...deltas: unknown[]): [name: string, args: string][] {
  const calls: [string, string][] = [];
  for (const piece of normalize(...deltas).flat() as {
    index: number;
    function: { name?: string; arguments?: string };
  }[]) {
    const call = (calls[piece.index] ??= ["", ""]);
    call[0] += piece.function.name ?? "";
    call[1] += piece.function.arguments ?? "";
  }
  return calls;
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
      [],
      [
        { id: "a", index: 0, type: "function", function: { name: "f", arguments: "" } },
        { index: 0, type: "function", function: { arguments: "{" } },
      ],
      [{ index: 0, type: "function", function: { arguments: "}" } }],
      [],
    ]);
  });

  test("creates an ID if the engine gives none", () => {
    const [, [first]] = normalize([begin("", "f", { index: 0 })]) as [[], [{ id: string }]];
    assert.match(first.id, /^call_[0-9a-f]{24}$/);
  });

  test("numbers calls without an index by their ids, and by their names", () => {
    const indexes = (...deltas: unknown[]) =>
      normalize(...deltas).flatMap((pieces) => (pieces as { index: number }[]).map(({ index }) => index));
    const more = () => ({ function: { arguments: "1" } });
    assert.deepEqual(
      indexes([begin("a", "f")], [more()], [begin("b", "g")], [more()], [begin("c", "f"), begin("d", "f")]),
      [0, 0, 1, 1, 2, 3],
    );
    assert.deepEqual(indexes([begin(undefined, "f")], [more()], [begin(undefined, "f")], [more()]), [0, 0, 1, 1]);
  });

  test("separates calls to which the engine gives the same index", () => {
    const seen = normalize([begin("a", "f", { index: 0 }), begin("b", "g", { index: 0 })]).flat();
    assert.deepEqual(
      (seen as { index: number; id: string }[]).map(({ index, id }) => [index, id]),
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
      [],
    ]);
  });

  const piece = (text: string, more = {}) => ({ index: 0, function: { arguments: text, ...more } });

  test("separates calls under one index that have no IDs of their own, once the arguments are complete", () => {
    const first = [piece('{"a":', { name: "f" })];
    assert.deepEqual(callsOf(first, [piece('"}"}')], [piece('{"b":2}', { name: "g" })]), [
      ["f", '{"a":"}"}'],
      ["g", '{"b":2}'],
    ]);
    const same = { index: 0, id: "a", function: { name: "f", arguments: "{}" } };
    assert.deepEqual(callsOf([{ ...same, function: { ...same.function } }], [same]), [
      ["f", "{}"],
      ["f", "{}"],
    ]);
    const ids = normalize([{ ...same, function: { ...same.function } }], [same]).flat() as { id: string }[];
    assert.notEqual(ids[0]!.id, ids[1]!.id);
  });

  test("keeps one call together whose name comes with every piece", () => {
    const each = (text: string) => [{ index: 0, id: "a", function: { name: "f", arguments: text } }];
    assert.deepEqual(callsOf(each(""), each('{"a":'), each("1}"), each("")), [["f", '{"a":1}']]);
  });

  test("joins a name that comes in pieces, and characters that are cut", () => {
    const named = (name: string, more = {}) => [{ index: 0, function: { name, arguments: "" }, ...more }];
    assert.deepEqual(callsOf(named("get_", { id: "a" }), named("wea"), [piece("{", { name: "ther" })], [piece("}")]), [
      ["get_weather", "{}"],
    ]);
    assert.deepEqual(callsOf(named("f", { id: "a" }), [piece('{"a":"\ud83d')], [piece('\ude00"}')]), [
      ["f", '{"a":"😀"}'],
    ]);
  });
});
