/** JSON serialized in pieces equals JSON serialized at once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { encodeJson, incrementalJson } from "./incremental-json.ts";

async function streamed(value: unknown): Promise<string> {
  const answer = incrementalJson(value);
  assert.ok(answer.kind === "stream");
  return Buffer.concat(await Array.fromAsync(answer.bytes)).toString("utf8");
}

describe("incremental JSON", () => {
  test("equals the output of JSON.stringify, for long lists at any depth", async () => {
    const long = fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 65, maxLength: 90, size: "max" });
    const value = fc.record(
      {
        plain: fc.jsonValue(),
        'a "name"': fc.array(fc.record({ values: long, metric: fc.dictionary(fc.string(), fc.string()) }), {
          minLength: 1,
          maxLength: 70,
          size: "max",
        }),
        absent: fc.constant(undefined),
      },
      { requiredKeys: ['a "name"'] },
    );
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        assert.equal(await streamed(one), JSON.stringify(one));
      }),
      { numRuns: 6 },
    );
  });

  test("equals it for long texts, wherever they are divided", async () => {
    for (const shift of [0, 1]) {
      const text = "x".repeat(shift) + '😀"\n'.repeat(40_000);
      const value = { text, lone: "\ud83d".repeat(70_000), list: [text, { text }] };
      assert.equal((await encodeJson(value)).toString(), JSON.stringify(value));
    }
  });

  test("is a whole response if no list is long", () => {
    const value = { status: "success", data: { result: [{ metric: {}, value: [1, "2"] }] } };
    assert.deepEqual(incrementalJson(value), { kind: "json", value });
  });

  test("yields to other requests between chunks", async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await streamed({
      result: Array.from({ length: 20_000 }, (_, index) => ({ index, text: "some text ".repeat(30) })),
    });
    clearImmediate(next);
    assert.ok(turns > 1, `${turns} turns`);
  });
});
