import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { SamplingSettings } from "../protocol.ts";
import { createRandom } from "./random.ts";
import { chooseToken } from "./sampler.ts";

const neutral: SamplingSettings = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  frequencyPenalty: 0,
  presencePenalty: 0,
  bias: [],
  seed: undefined,
};

/** Tokens 0, 1, 2… with these probabilities. */
const logitsOf = (...probabilities: number[]) => new Map(probabilities.map((each, token) => [token, Math.log(each)]));

/** How often each token is chosen in 4000 draws. */
function sharesOf(
  settings: Partial<SamplingSettings>,
  probabilities: readonly number[],
  {
    counts = new Map<number, number>(),
    allowed = (): boolean => true,
  }: { counts?: Map<number, number>; allowed?: (token: number) => boolean } = {},
): number[] {
  const random = createRandom(42, 0);
  const shares = probabilities.map(() => 0);
  for (let draw = 0; draw < 4000; draw++) {
    const token = chooseToken({
      logits: logitsOf(...probabilities),
      settings: { ...neutral, ...settings },
      counts,
      random,
      allowed,
    });
    shares[token!]! += 1 / 4000;
  }
  return shares;
}

function assertNear(actual: readonly number[], expected: readonly number[]): void {
  actual.forEach((share, token) =>
    assert.ok(Math.abs(share - expected[token]!) < 0.03, `token ${token}: ${share} in place of ${expected[token]}`),
  );
}

describe("the sampler", () => {
  test("draws tokens as often as the model predicts", () => {
    assertNear(sharesOf({}, [0.5, 0.3, 0.2]), [0.5, 0.3, 0.2]);
  });

  test("flattens with a high temperature, sharpens with a low one, and picks the likeliest at 0", () => {
    assertNear(sharesOf({ temperature: 2 }, [0.8, 0.2]), [2 / 3, 1 / 3]);
    assertNear(sharesOf({ temperature: 0.5 }, [0.8, 0.2]), [16 / 17, 1 / 17]);
    assertNear(sharesOf({ temperature: 0 }, [0.4, 0.6]), [0, 1]);
  });

  test("cuts by top_p after the temperature, and keeps at least one token", () => {
    assertNear(sharesOf({ topP: 0.75 }, [0.5, 0.3, 0.2]), [0.625, 0.375, 0]);
    assertNear(sharesOf({ topP: 0 }, [0.5, 0.3, 0.2]), [1, 0, 0]);
    assertNear(sharesOf({ topP: 0.6, temperature: 2 }, [0.8, 0.2]), [1, 0]);
    assertNear(sharesOf({ topP: 0.7, temperature: 2 }, [0.8, 0.2]), [2 / 3, 1 / 3]);
  });

  test("cuts by top_k and min_p", () => {
    assertNear(sharesOf({ topK: 2 }, [0.2, 0.3, 0.5]), [0, 0.375, 0.625]);
    assertNear(sharesOf({ minP: 0.5 }, [0.5, 0.3, 0.2]), [0.625, 0.375, 0]);
  });

  test("penalizes by frequency and by presence; negative values encourage repetition", () => {
    const counts = new Map([[0, 2]]);
    const weight = (penalty: number): number => Math.exp(-penalty) / (Math.exp(-penalty) + 1);
    assertNear(sharesOf({ frequencyPenalty: 0.5 }, [0.5, 0.5], { counts }), [weight(1), 1 - weight(1)]);
    assertNear(sharesOf({ presencePenalty: 0.5 }, [0.5, 0.5], { counts }), [weight(0.5), 1 - weight(0.5)]);
    assertNear(sharesOf({ presencePenalty: -2 }, [0.5, 0.5], { counts }), [weight(-2), 1 - weight(-2)]);
  });

  test("adds a bias to the logit", () => {
    assertNear(sharesOf({ bias: [[1, Math.log(3)]] }, [0.5, 0.5]), [0.25, 0.75]);
    assertNear(sharesOf({ bias: [[0, -100]], temperature: 0 }, [0.9, 0.1]), [0, 1]);
  });

  test("draws allowed tokens as often as the model predicts, renormalized", () => {
    assertNear(sharesOf({}, [0.5, 0.3, 0.2], { allowed: (token) => token > 0 }), [0, 0.6, 0.4]);
    const none = chooseToken({
      logits: logitsOf(0.5, 0.5),
      settings: neutral,
      counts: new Map(),
      random: Math.random,
      allowed: () => false,
    });
    assert.equal(none, undefined);
  });

  test("always chooses one of the tokens", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: 1 }),
        share,
        share,
        fc.nat(9),
        fc.double({ min: 0, max: 2, noNaN: true }),
        (values, topP, minP, topK, temperature) => {
          const logits = new Map(values.map((value, token) => [token, value]));
          const token = chooseToken({
            logits,
            settings: { ...neutral, topP, minP, topK, temperature },
            counts: new Map(),
            random: createRandom(1, 0),
            allowed: () => true,
          });
          assert.ok(token !== undefined && logits.has(token));
        },
      ),
    );
  });
});

describe("the random numbers", () => {
  test("are the same for a seed and stream, and differ for others", () => {
    const numbers = (seed: number, stream: number): number[] => Array.from({ length: 4 }, createRandom(seed, stream));
    assert.deepEqual(numbers(7, 1), numbers(7, 1));
    const seeds: [number, number][] = [
      [7, 0],
      [7, 1],
      [8, 0],
      [-7, 0],
      [7 + 2 ** 32, 0],
      [Number.MAX_SAFE_INTEGER, 0],
    ];
    assert.equal(new Set(seeds.map(([seed, stream]) => numbers(seed, stream).join())).size, seeds.length);
  });

  test("are spread evenly from 0 to 1", () => {
    const random = createRandom(3, 0);
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let draw = 0; draw < 10_000; draw++) tenths[Math.floor(random() * 10)]! += 1;
    assert.ok(
      tenths.every((count) => count > 850 && count < 1150),
      tenths.join(),
    );
  });
});
