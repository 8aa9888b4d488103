/** What the prices of the configuration mean, completed by those that vendors publish. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfiguredPrice } from "../config/token-prices.ts";
import { readConfiguredPrices } from "./configured-prices.ts";
import { costOf, priceAt, type DatedPrice, type TokenTier } from "./model-price.ts";
import { loadPublishedPrices } from "./published/load-prices.ts";
import { noTokens, type CallUsage } from "./token-usage.ts";

const published = await loadPublishedPrices();

const now = Date.parse("2026-11-27");
const read = (price: ConfiguredPrice, model = "our-own-model"): readonly DatedPrice[] =>
  readConfiguredPrices({ [model]: price }, { published }).get(model)!;
const firstTier = (price: ConfiguredPrice, model?: string): TokenTier => priceAt(read(price, model), now).tokens[0]!;
const costAt = (price: ConfiguredPrice, usage: CallUsage, day = "2026-11-27"): number | undefined => {
  const cost = costOf(priceAt(read(price), Date.parse(day)), usage);
  return cost && (cost.input + cost.output) / 1e9;
};
const tokens = (members: Partial<typeof noTokens>): CallUsage => ({ tokens: { ...noTokens, ...members } });
const close = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);

describe("a configured price", () => {
  for (const [model, readShare, writeShare] of [
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
    test(`of ${model} has the shares of cached tokens that its vendor publishes`, () => {
      const { cacheRead, cacheWrite } = firstTier({ input: 10, output: 20 }, model);
      close(cacheRead, 10 * readShare);
      close(cacheWrite, 10 * writeShare);
    });
  }

  test("has its own prices of cached tokens, audio, images, reasoning and citations", () => {
    const given = {
      cache_read: 1,
      cache_write: 2,
      cache_write_1h: 3,
      audio_input: 4,
      audio_output: 5,
      image_output: 7,
      reasoning: 6,
      citation: 8,
    };
    assert.deepEqual(firstTier({ input: 10, output: 20, ...given }, "gpt-4o"), {
      above: 0,
      input: 10,
      output: 20,
      cacheRead: 1,
      cacheWrite: 2,
      cacheWriteHour: 3,
      audioInput: 4,
      audioCacheRead: 5,
      audioOutput: 5,
      imageOutput: 7,
      reasoning: 6,
      citation: 8,
    });
  });

  test("is the published one where it says nothing, under the vendor's name or another", () => {
    const rates = ({ input, output, cacheRead, cacheWrite }: TokenTier) => [input, output, cacheRead, cacheWrite];
    for (const [model, price, expected] of [
      ["gpt-4o", {}, [2.5, 10, 1.25, 2.5]],
      ["ours", { published: "claude-sonnet-4-5" }, [3, 15, 0.3, 3.75]],
      ["text-embedding-3-small", {}, [0.02, 0, 0.02, 0.02]],
      ["openai/text-embedding-3-small", {}, [0.02, 0, 0.02, 0.02]],
      ["fast", { published: "groq/llama-3.3-70b-versatile" }, [0.59, 0.79, 0.59, 0.59]],
      ["discounted", { published: "gpt-4o", input: 1.25 }, [1.25, 10, 0.625, 1.25]],
    ] as const) {
      const seen = rates(firstTier(price, model));
      for (const [index, amount] of expected.entries()) close(seen[index]!, amount);
    }
  });

  test("has tiers by the number of input tokens, with the shares of the first", () => {
    const price = {
      input: 2,
      output: 8,
      cache_read: 0.5,
      tiers: [
        { above: 100, input: 4 },
        { above: 1_000, output: 40 },
      ],
    };
    const input = (inputTokens: number, cacheReadTokens = 0, outputTokens = 0): number =>
      costAt(price, tokens({ inputTokens, cacheReadTokens, outputTokens }))! * 1e6;
    close(input(100), 200);
    close(input(101), 404);
    // Cached tokens count for the tier, and keep their share: a quarter of the input's price.
    close(input(200, 100), 100 * 4 + 100 * 1);
    close(input(2_000, 0, 10), 2_000 * 2 + 10 * 40);
  });

  test("has service tiers, whose prices of caches and long prompts keep their shares", () => {
    const price = {
      input: 2,
      output: 8,
      cache_read: 0.5,
      tiers: [{ above: 100, input: 4 }],
      service_tiers: { flex: { input: 1, output: 4 }, priority: { output: 16, cache_read: 1 } },
    };
    const cost = (serviceTier: string | undefined, members: Partial<typeof noTokens>): number =>
      costAt(price, { ...tokens(members), serviceTier })! * 1e6;
    const short = { inputTokens: 100, cacheReadTokens: 40, outputTokens: 10 };
    close(cost("flex", short), 60 * 1 + 40 * 0.25 + 10 * 4);
    close(cost("priority", short), 60 * 2 + 40 * 1 + 10 * 16);
    const long = { inputTokens: 200, outputTokens: 10 };
    close(cost("flex", long), 200 * 2 + 10 * 4);
    close(cost("priority", long), 200 * 4 + 10 * 16);
    for (const other of [undefined, "default", "standard", "constructor"]) {
      close(cost(other, short), 60 * 2 + 40 * 0.5 + 10 * 8);
    }
  });

  test("keeps the vendor's tiers only if it has no price of its own", () => {
    assert.equal(priceAt(read({ published: "gemini-2.5-pro" }), now).tokens.length, 2);
    assert.equal(priceAt(read({ published: "gemini-2.5-pro", cache_read: 0.1 }), now).tokens.length, 2);
    assert.equal(priceAt(read({ published: "gemini-2.5-pro", input: 1 }), now).tokens.length, 1);
  });

  test("changes on its days, in UTC, and keeps what a change does not name", () => {
    const price = {
      input: 1,
      output: 2,
      changes: [
        { from: "2027-01-01", input: 3 },
        { from: "2027-02-01", output: 4 },
      ],
    };
    const used = tokens({ inputTokens: 1_000_000, outputTokens: 1_000_000 });
    for (const [time, expected] of [
      ["2026-12-31T23:59:59.999Z", 3],
      ["2027-01-01T00:00:00Z", 5],
      ["2027-02-01T00:00:00Z", 7],
    ] as const) {
      assert.equal(costAt(price, used, time), expected, time);
    }
  });

  test("can be of characters, minutes of audio, calls and searches", () => {
    assert.equal(costAt({ characters: 15 }, { characters: 2_000, outputSeconds: 60 }), 0.03);
    assert.equal(costAt({ audio_minute: 0.006 }, { inputSeconds: 90 }), 0.009);
    assert.equal(costAt({ audio_minute: 0.015 }, { characters: 10, outputSeconds: 30 }), 0.0075);
    assert.equal(costAt({ request: 0.01 }, tokens({ inputTokens: 7 })), 0.01);
    assert.equal(costAt({ input: 1, output: 1, request: 0.01 }, tokens({ inputTokens: 1_000 })), 0.011);
    assert.equal(
      costAt({ input: 1, output: 1, web_searches: 10 }, tokens({ inputTokens: 1_000, webSearches: 3 })),
      0.031,
    );
  });

  test("says nothing about what it does not name", () => {
    assert.equal(costAt({ characters: 15 }, tokens({ inputTokens: 7 })), undefined);
    assert.equal(costAt({ input: 1, output: 1 }, { characters: 7, outputSeconds: 1 }), undefined);
  });

  for (const [name, price, unknown] of [
    ["no price", {}, "our-own-model"],
    ["a price of the input only", { input: 1 }, "our-own-model"],
    ["an unknown published name", { input: 1, output: 2, published: "no/such-model" }, "no/such-model"],
  ] as const) {
    test(`of a model that no vendor has is refused with ${name}`, () => {
      assert.throws(() => read(price), {
        message: `telemetry.token_prices.our-own-model: no vendor publishes prices of "${unknown}"; set input and output, or set published to the name that its vendor uses.`,
      });
    });
  }

  test("is refused without published prices if it needs them", () => {
    assert.throws(() => readConfiguredPrices({ "gpt-4o": {} }, { published: undefined }), {
      message:
        "telemetry.token_prices.gpt-4o: published prices are in US dollars, and telemetry.currency is another one; set input and output, or telemetry.exchange_rates.USD.",
    });
  });

  for (const [name, days, problem] of [
    ["on a day that does not exist", ["2027-02-30"], "2027-02-30 is not a day."],
    ["out of order", ["2027-02-01", "2027-01-01"], "2027-01-01 is not after 2027-02-01; order them by their day."],
  ] as const) {
    test(`is refused with a change ${name}`, () => {
      const changes = days.map((from) => ({ from, input: 1 }));
      assert.throws(() => read({ input: 1, output: 1, changes }), {
        message: `telemetry.token_prices.our-own-model.changes: ${problem}`,
      });
    });
  }
});
