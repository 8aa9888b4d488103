/** What tokens cost, with and without configured prices of cached ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assert as check, double, integer, property, record } from "fast-check";
import { costOfTokens, resolveTokenPrices } from "./token-prices.ts";

const close = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);

describe("the cost of tokens", () => {
  test("of a cached prompt is what the vendor charges", async () => {
    const prices = await resolveTokenPrices({ "claude-sonnet-4-5": { input: 3, output: 15 } });
    const usage = { inputTokens: 130_213, cacheReadTokens: 128_955, cacheWriteTokens: 1_253, outputTokens: 500 };
    close(costOfTokens(usage, prices["claude-sonnet-4-5"]!), 0.050_900_25);
  });

  for (const [model, read, write] of [
    // The published prices of a million tokens, divided by that of the input.
    ["gpt-4o", 0.5, 1],
    ["gpt-4o-mini", 0.5, 1],
    ["gpt-4.1", 0.25, 1],
    ["gpt-5", 0.1, 1],
    ["o3", 0.25, 1],
    ["claude-opus-4-1", 0.1, 1.25],
    ["claude-haiku-4-5", 0.1, 1.25],
    ["anthropic/claude-sonnet-4-5", 0.1, 1.25],
    ["gemini-2.5-flash", 0.1, 1],
    ["our-own-model", 1, 1],
  ] as const) {
    test(`of ${model} has the shares that its vendor publishes`, async () => {
      const { [model]: price } = await resolveTokenPrices({ [model]: { input: 10, output: 20 } });
      close(price!.cacheRead, 10 * read);
      close(price!.cacheWrite, 10 * write);
    });
  }

  test("has the configured prices of cached tokens", async () => {
    const prices = await resolveTokenPrices({ "gpt-4o": { input: 10, output: 20, cache_read: 1, cache_write: 2 } });
    assert.deepEqual(prices["gpt-4o"], { input: 10, output: 20, cacheRead: 1, cacheWrite: 2 });
  });

  test("has the published prices of models without configured ones, under the vendor's name or another", async () => {
    const prices = await resolveTokenPrices({
      "gpt-4o": {},
      ours: { published: "claude-sonnet-4-5" },
      "text-embedding-3-small": {},
      "openai/text-embedding-3-small": {},
      discounted: { published: "gpt-4o", input: 1.25 },
    });
    assert.deepEqual(prices, {
      "gpt-4o": { input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 2.5 },
      ours: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
      "text-embedding-3-small": { input: 0.02, output: 0, cacheRead: 0.02, cacheWrite: 0.02 },
      "openai/text-embedding-3-small": { input: 0.02, output: 0, cacheRead: 0.02, cacheWrite: 0.02 },
      discounted: { input: 1.25, output: 10, cacheRead: 0.625, cacheWrite: 1.25 },
    });
  });

  for (const [name, price, unknown] of [
    ["no price", {}, "our-own-model"],
    ["a price of the input only", { input: 1 }, "our-own-model"],
    ["an unknown published name", { input: 1, output: 2, published: "no/such-model" }, "no/such-model"],
  ] as const) {
    test(`of a model that no vendor has is refused with ${name}`, async () => {
      await assert.rejects(resolveTokenPrices({ "our-own-model": price }), {
        message: `telemetry.token_prices.our-own-model: no vendor publishes prices of "${unknown}"; set input and output, or set published to the name that its vendor uses.`,
      });
    });
  }

  test("is never negative, never more without a cache than with a dearer one, and the sum of its parts", () => {
    const count = integer({ min: 0, max: 10_000_000 });
    const amount = double({ min: 0, max: 1_000, noNaN: true });
    const usages = record({ plain: count, cacheReadTokens: count, cacheWriteTokens: count, outputTokens: count });
    const prices = record({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount });
    check(
      property(usages, prices, ({ plain, ...usage }, price) => {
        const inputTokens = plain + usage.cacheReadTokens + usage.cacheWriteTokens;
        const cost = costOfTokens({ ...usage, inputTokens }, price);
        const parts =
          plain * price.input +
          usage.cacheReadTokens * price.cacheRead +
          usage.cacheWriteTokens * price.cacheWrite +
          usage.outputTokens * price.output;
        assert.ok(cost >= 0);
        close(cost, parts / 1e6);
        // Instrumentations that leave cached tokens out of the input never make the cost negative.
        assert.ok(costOfTokens({ ...usage, inputTokens: 0 }, price) >= 0);
      }),
    );
  });
});
