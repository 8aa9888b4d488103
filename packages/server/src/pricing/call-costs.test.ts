/** Costs are whole billionths, and their parts are exactly the whole. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assert as check, double, integer, property, record } from "fast-check";
import { costHeaders, createCallCosts } from "./call-costs.ts";

describe("the cost of a call", () => {
  const count = integer({ min: 0, max: 10_000_000 });
  const amount = double({ min: 0, max: 1_000, noNaN: true });
  const usages = record({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count });
  const prices = record({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount });

  test("is the sum of its parts, to the last billionth, and the header says the same", () => {
    check(
      property(usages, prices, (usage, price) => {
        const cost = createCallCosts({ m: price }, true).of(["m"], usage);
        assert.ok(cost !== undefined);
        const billionths = (value: number): bigint => BigInt(Math.round(value * 1e9));
        assert.equal(billionths(cost.total), billionths(cost.input) + billionths(cost.output));
        const header = costHeaders(cost)["x-cost"] ?? "";
        assert.match(header, /^\d+(\.\d*[1-9])?$/);
        assert.ok(Math.abs(Number(header) - cost.total) < 1e-9 * Math.max(1, cost.total));
      }),
    );
  });

  test("is that of the first model with a price, and of own names only", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const costs = createCallCosts({ dear: { input: 2, output: 2, cacheRead: 2, cacheWrite: 2 } }, true);
    assert.equal(costs.of([undefined, "unknown", "dear"], usage)?.total, 2);
    assert.equal(costs.of(["toString", "__proto__"], usage), undefined);
  });

  test("has no exponent and no needless zeros in the header", () => {
    const header = (total: number): string | undefined => costHeaders({ total, input: total, output: 0 })["x-cost"];
    assert.deepEqual([0, 1e-9, 0.5, 100, 120.5].map(header), ["0", "0.000000001", "0.5", "100", "120.5"]);
  });
});
