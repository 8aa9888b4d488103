import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, integer, jsonValue, property } from "fast-check";
import type { AppError } from "../../errors.ts";
import { BodyCollector } from "../upstream-http/body-collector.ts";
import { JsonValueCount, maxResponseDepth, maxResponseValues } from "../upstream-http/json-value-count.ts";
import { maxChoices, maxEventValues, maxToolCalls } from "./response-limits.ts";
import { ChunkNormalizer } from "./normalize-chunks.ts";
import { normalizeCompletion } from "./normalize-completion.ts";

const tooMany = ({ code, message }: AppError): boolean =>
  code === "upstream_failed" && /has more than \d+/.test(message);
const list = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, at) => item(at));

/** What is counted: commas, colons and opening brackets outside strings. */
function counted(value: unknown): number {
  return JSON.stringify(value)
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    .replaceAll(/[^,:[{]/g, "").length;
}

function stream(...events: unknown[]): void {
  const normalizer = new ChunkNormalizer("m", () => undefined);
  for (const event of events) normalizer.accept({ type: "message", data: JSON.stringify(event) });
}

const delta = (more: object, index = 0) => ({ id: "1", choices: [{ index, delta: more }] });
const call = (id: number) => ({ id: String(id), type: "function", function: { name: "f", arguments: "{}" } });
const batch = (choices: readonly unknown[]): unknown => normalizeCompletion({ id: "1", choices }, "m");

describe("an engine's answer is refused", () => {
  test("if it has more values than may be parsed at once", () => {
    const collector = new BodyCollector(2 ** 30);
    collector.push(Buffer.from("[" + "1,".repeat(maxResponseValues - 1)));
    assert.throws(() => collector.push(Buffer.from("1,1")), tooMany);
    assert.throws(() => stream(delta({ list: list(maxEventValues, () => 1) })), tooMany);
  });

  test("if it is nested deeper than what walks it may call itself", () => {
    const nested = (levels: number): string => `{"id":"1","choices":[],"x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const read = (text: string): void => {
      const collector = new BodyCollector(2 ** 30);
      for (const byte of Buffer.from(text)) collector.push(Buffer.of(byte));
    };
    for (const accept of [
      read,
      (data: string) => new ChunkNormalizer("m", () => undefined).accept({ type: "message", data }),
    ]) {
      accept(nested(maxResponseDepth - 1));
      assert.throws(() => accept(nested(maxResponseDepth)), tooMany);
      accept(
        `{"id":"1","choices":[],"x":[${"[],".repeat(maxResponseDepth)}[]],"y":"${"[{".repeat(maxResponseDepth)}"}`,
      );
    }
  });

  test("if it has more choices than can be requested", () => {
    const message = { content: "a" };
    assert.throws(() => batch(list(maxChoices + 1, () => ({ message }))), tooMany);
    assert.throws(() => batch([{ index: 4_000_000_000, message }]), tooMany);
    assert.throws(() => stream({ id: "1", choices: list(maxChoices + 1, () => ({ delta: {} })) }), tooMany);
    assert.throws(() => stream(delta({ content: "a" }, 4_000_000_000)), tooMany);
    batch(list(maxChoices, () => ({ message })));
  });

  test("if a choice has too many tool calls, in one event or in many", () => {
    const calls = list(maxToolCalls + 1, call);
    assert.throws(() => batch([{ message: { tool_calls: calls } }]), tooMany);
    assert.throws(() => stream(delta({ tool_calls: calls })), tooMany);
    assert.throws(() => stream(...calls.map((each) => delta({ tool_calls: [each] }))), tooMany);
    stream(...calls.slice(1).map((each) => delta({ tool_calls: [each] })));
  });
});

test("values are counted the same however the bytes are split", () => {
  const value = array(constantFrom<unknown>("\\", '"', '\\"', ",:[{", 1, { "a\\": [] }), { maxLength: 20 });
  check(
    property(value, jsonValue(), array(integer({ min: 1, max: 9 })), (first, second, lengths) => {
      const whole = [first, second];
      const bytes = Buffer.from(JSON.stringify(whole));
      const count = (limit: number): void => {
        const counter = new JsonValueCount(limit);
        let at = 0;
        for (const length of [...lengths, bytes.length]) counter.push(bytes.subarray(at, (at += length)));
      };
      count(counted(whole));
      assert.throws(() => count(counted(whole) - 1), tooMany);
    }),
  );
});
