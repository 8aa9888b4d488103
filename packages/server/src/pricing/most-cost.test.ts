/** What a call may cost at most is never less than what it costs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { completeRates } from "./model-price.ts";
import { priceOf } from "../../test/support/test-costs.ts";
import { mostCost } from "./most-cost.ts";
import { noTokens } from "./token-usage.ts";

function most(price: ReturnType<typeof priceOf>): number | undefined {
  const prices = { isOwn: () => false, ofCall: () => ({ price, source: "configured m", isReported: false }) };
  const payer = { organizationId: "org_1", organizationName: "acme" };
  const model = { engine: "vendor", model: "m", modelId: "m" };
  return mostCost(prices, payer, [model], () => ({ tokens: { ...noTokens, inputTokens: 1000, outputTokens: 100 } }));
}

test("the most that a call may cost is that of the most expensive service tier", () => {
  const tier = (input: number, output: number) => [{ above: 0, ...completeRates({ input, output }) }];
  const serviceTiers = { flex: tier(1, 4), priority: tier(4, 16) };
  assert.equal(most(priceOf({ tokens: tier(2, 8), serviceTiers })), (1000 * 4 + 100 * 16) * 1000);
});

test("it is that of the most expensive kind of tokens", () => {
  const rates = completeRates({ input: 2, output: 8, cacheWrite: 2.5, cacheWriteHour: 4, audioOutput: 64 });
  assert.equal(most(priceOf({ tokens: [{ above: 0, ...rates }] })), (1000 * 4 + 100 * 64) * 1000);
});
