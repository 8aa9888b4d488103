/** Costs are whole billionths, and their parts are exactly the whole. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, double, integer, property, record } from "fast-check";
import { costHeaders, createCallCosts, sumOfCosts, type CallCost } from "./call-costs.ts";
import { completeRates, type ModelPrice } from "./model-price.ts";
import { noTokens } from "./token-usage.ts";

const priceOf = (rates: Parameters<typeof completeRates>[0]): ModelPrice => ({
  tokens: [{ above: 0, ...completeRates(rates) }],
  characters: undefined,
  audioMinute: undefined,
  serviceTiers: {},
  leastSeconds: 0,
  request: undefined,
  webSearches: undefined,
});
const payer = { organizationId: "org_1", organizationName: "acme" };
const call = { engine: "gpu", model: "m", modelId: "m" };
const billionths = (value: number): bigint => BigInt(Math.round(value * 1e9));

describe("the cost of a call", () => {
  const count = integer({ min: 0, max: 10_000_000 });
  const amount = double({ min: 0, max: 1_000, noNaN: true });
  const usages = record({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count });
  const prices = record({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount });

  test("is the sum of its parts, to the last billionth, and the header says the same", () => {
    check(
      property(usages, prices, (tokens, rates) => {
        const costs = createCallCosts(
          { ofCall: () => ({ price: priceOf(rates), source: "configured m", isReported: false }) },
          true,
        );
        const cost = costs.of(payer, call, { tokens: { ...noTokens, ...tokens } });
        assert.ok(cost !== undefined);
        assert.equal(billionths(cost.total), billionths(cost.input) + billionths(cost.output));
        const header = costHeaders(cost)["x-cost"] ?? "";
        assert.match(header, /^\d+(\.\d*[1-9])?$/);
        assert.ok(Math.abs(Number(header) - cost.total) < 1e-9 * Math.max(1, cost.total));
      }),
    );
  });

  test("of several attempts is the sum of theirs, to the last billionth", () => {
    const part = integer({ min: 0, max: 1e12 });
    check(
      property(array(record({ input: part, output: part }), { maxLength: 5 }), (parts) => {
        const costs = parts.map(({ input, output }): CallCost => {
          return { input: input / 1e9, output: output / 1e9, total: (input + output) / 1e9, source: "s" };
        });
        const sum = sumOfCosts(costs);
        const expected = parts.reduce((total, { input, output }) => total + input + output, 0);
        if (sum === undefined) assert.equal(parts.length, 0);
        else assert.equal(billionths(sum.total), BigInt(expected));
      }),
    );
  });

  test("is unknown without a price, never 0", () => {
    const costs = createCallCosts({ ofCall: () => undefined }, true);
    assert.equal(costs.of(payer, call, { tokens: noTokens }), undefined);
  });

  test("is what the vendor reports, where it charges that", () => {
    const rates = priceOf({ input: 1_000, output: 500 });
    const tokens = { ...noTokens, inputTokens: 1_000, outputTokens: 1_000 };
    const of = (isReported: boolean, reportedCost: number | undefined) =>
      createCallCosts({ ofCall: () => ({ price: rates, source: "published openrouter/m", isReported }) }, true).of(
        payer,
        call,
        {
          tokens,
          reportedCost,
        },
      );
    const computed = { total: 1.5, input: 1, output: 0.5, source: "published openrouter/m" };
    assert.deepEqual(of(false, 0.7), computed);
    for (const reported of [undefined, Number.NaN, -1, 1e300]) assert.deepEqual(of(true, reported), computed);
    assert.deepEqual(of(true, 0.7), { total: 0.7, input: 0.2, output: 0.5, source: "reported openrouter/m" });
    assert.deepEqual(of(true, 0), { total: 0, input: 0, output: 0, source: "reported openrouter/m" });
  });

  test("has no exponent and no needless zeros in the header", () => {
    const header = (total: number): string | undefined =>
      costHeaders({ total, input: total, output: 0, source: "s" })["x-cost"];
    assert.deepEqual([0, 1e-9, 0.5, 100, 120.5].map(header), ["0", "0.000000001", "0.5", "100", "120.5"]);
  });
});
