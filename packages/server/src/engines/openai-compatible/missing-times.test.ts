import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { spansOf, type Entry } from "./missing-times.ts";

const within = { startMs: 0, endMs: 1_000 };
const entry = (text: string, startMs?: number, endMs?: number): Entry => ({ text, startMs, endMs });
const times = (...entries: Entry[]) => spansOf(entries, within).map(({ startMs, endMs }) => [startMs, endMs]);

test("known times stay", () => {
  assert.deepEqual(times(entry("a", 0, 100), entry("b", 300, 400)), [
    [0, 100],
    [300, 400],
  ]);
});

test("entries without times share what their neighbors leave, by the length of their texts", () => {
  assert.deepEqual(times(entry("a", 0, 100), entry("13"), entry("1300"), entry("b", 700, 800)), [
    [0, 100],
    [100, 300],
    [300, 700],
    [700, 800],
  ]);
  assert.deepEqual(times(entry("aaa"), entry("b")), [
    [0, 750],
    [750, 1_000],
  ]);
  assert.deepEqual(times(entry(""), entry("")), [
    [0, 0],
    [0, 0],
  ]);
});

test("an entry with one of its times gets the other from its neighbor", () => {
  assert.deepEqual(times(entry("a", 0, 100), entry("b", undefined, 300), entry("c", 400), entry("d", 600, 700)), [
    [0, 100],
    [100, 300],
    [400, 600],
    [600, 700],
  ]);
});

test("every entry gets a span that does not end before it begins", () => {
  const time = fc.option(fc.integer({ min: -10, max: 1_200 }), { nil: undefined });
  const entries = fc.array(
    fc.tuple(fc.string(), time, time).map(([text, start, end]) => entry(text, start, end)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(entries, (list) => {
      const spans = spansOf(list, within);
      assert.equal(spans.length, list.length);
      for (const { startMs, endMs } of spans) assert.ok(startMs >= 0 && endMs >= startMs);
    }),
  );
});
