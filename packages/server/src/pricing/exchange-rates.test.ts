/** Converted prices are exact: they cost what the same prices cost that were multiplied on paper. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { readConfiguredPrices } from "./configured-prices.ts";
import { converted, readExchangeRates } from "./exchange-rates.ts";
import { costOf, priceAt } from "./model-price.ts";
import { noTokens } from "./token-usage.ts";

/** A decimal with up to nine digits after the point. */
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.nat(9))
  .map(([digits, places]) => ({ digits: BigInt(digits), places, value: Number(`${digits}e-${places}`) }));

describe("exchange rates", () => {
  test("multiply decimals without an error", () => {
    for (const [amount, rate, product] of [
      [2.2, 1.1, 2.42],
      [0.1, 3, 0.3],
      [1e-7, 0.0067, 6.7e-10],
      [0, 1.08, 0],
      [1e21, 1e9, 1e30],
    ] as const) {
      assert.equal(converted(amount, { currency: "EUR", rate }), product);
    }
    assert.equal(converted(2.2, undefined), 2.2);
    fc.assert(
      fc.property(decimal, decimal, (amount, rate) => {
        const expected = Number(`${amount.digits * rate.digits}e-${amount.places + rate.places}`);
        assert.equal(converted(amount.value, { currency: "EUR", rate: rate.value }), expected);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test("round a cost once: to the billionth that is nearest to its exact value", () => {
    const amount = fc.record({ price: decimal, tokens: fc.integer({ min: 0, max: 1_000_000 }) });
    fc.assert(
      fc.property(amount, amount, decimal, (input, output, rate) => {
        const price = { input: input.price.value, output: output.price.value, currency: "EUR" };
        const exchangeRates = readExchangeRates("USD", { EUR: rate.value });
        const prices = readConfiguredPrices({ m: price }, { published: undefined, exchangeRates }).get("m")!;
        const tokens = { ...noTokens, inputTokens: input.tokens, outputTokens: output.tokens };
        const cost = costOf(priceAt(prices, 0), { tokens })!;
        for (const [actual, part] of [
          [cost.input, input],
          [cost.output, output],
        ] as const) {
          // A price of 1 for a million tokens is a thousand billionths for each.
          const numerator = BigInt(part.tokens) * part.price.digits * rate.digits * 1_000n;
          const denominator = 10n ** BigInt(part.price.places + rate.places);
          const twice = 2n * (BigInt(actual) * denominator - numerator);
          // Amounts beyond what a double holds exactly have its error, and halves are rounded up but for it.
          const error = numerator / 2n ** 50n;
          assert.ok(
            twice <= denominator + error && -twice <= denominator + error,
            `${actual}: ${numerator}/${denominator}`,
          );
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test("convert every amount of a price, and no length of a prompt", () => {
    const exchangeRates = readExchangeRates("USD", { EUR: 1.1 });
    const price = (currency: string | undefined, of: (amount: number) => number) => ({
      ...(currency === undefined ? {} : { currency }),
      input: of(2),
      output: of(8),
      cache_read: of(0.2),
      cache_write: of(2.5),
      tiers: [{ above: 1_000, input: of(4) }],
      service_tiers: { flex: { output: of(4) } },
      characters: of(15),
      request: of(0.01),
      changes: [{ from: "2027-01-01", audio_minute: of(0.006) }],
    });
    const read = (given: ReturnType<typeof price>) =>
      readConfiguredPrices({ m: given }, { published: undefined, exchangeRates })
        .get("m")!
        .map(({ fromMs, price: read }) => ({ fromMs, price: read }));
    const onPaper = new Map(
      [2, 8, 0.2, 2.5, 4, 15, 0.01, 0.006].map((each) => [each, Math.round(each * 11_000) / 10_000]),
    );
    const expected = price(undefined, (amount) => onPaper.get(amount)!);
    assert.deepEqual(read(price("EUR", (amount) => amount)), read(expected));
  });

  test("are refused where they say nothing", () => {
    for (const [currency, rates, message] of [
      ["USD", { USD: 1 }, "telemetry.exchange_rates has USD, which is telemetry.currency; remove it."],
      ["USD", { QQQ: 2 }, 'telemetry.exchange_rates is "QQQ"; expected a code of ISO 4217, such as EUR.'],
    ] as const) {
      assert.throws(() => readExchangeRates(currency, rates), { message });
    }
  });
});
