/** Raw prompts that are as large as they may be, or many. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe("a completion of a raw prompt", { timeout: 180_000 }, () => {
  for (const [name, status, more] of [
    ["that is very long", 400, { prompt: "x".repeat(10_000_000) }],
    ["that spells many control tokens", 400, { prompt: "<|im_start|>".repeat(100_000) }],
    ["of many prompts", 400, { prompt: times(2_048, "x".repeat(1_000)) }],
    ["of more prompts than allowed", 400, { prompt: times(40_000, "x") }],
    ["of many tokens", 400, { prompt: times(40_000, 1) }],
    ["with a bias for many tokens", 400, { logit_bias: Object.fromEntries(times(20_000, 0).map((_, at) => [at, 1])) }],
    ["with more choices than the model has places for", 400, { n: 128, best_of: 128 }],
  ] as const) {
    test(`${name} harms nobody`, async () => {
      const report = await attack(server, async () => {
        for (let round = 0; round < 3; round += 1) {
          const response = await fetch(`http://127.0.0.1:${server.port}/v1/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${server.placeholders["key"]!}`, "content-type": "application/json" },
            body: JSON.stringify({ model: "sounding-trial", prompt: "x", max_tokens: 1, ...more }),
          });
          assert.equal(response.status, status, await response.text());
        }
      });
      assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
    });
  }
});
