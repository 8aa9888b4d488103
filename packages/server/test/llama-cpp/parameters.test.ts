/** Every sampling parameter against the real llama.cpp with the trial model. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { contentOf, startTrialEngine, type TrialEngine } from "./trial-engine.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const greedyAnswer =
  "I am sounding-trial, a tiny model that Sounding wrote by itself so that you can try the whole server without a " +
  "download. I know nothing and cannot reason. For useful answers, pull a real model with: sounding models pull";

describe("the llama.cpp engine", () => {
  let trial: TrialEngine;
  beforeTests(async (stack) => {
    trial = await startTrialEngine();
    stack.defer(() => trial.close());
  });

  test("answers as the trial model does, greedily", async () => {
    const completion = await trial.complete({ temperature: 0 });
    assert.equal(completion.object, "chat.completion");
    assert.equal(completion.model, "trial");
    assert.equal(contentOf(completion), greedyAnswer);
    assert.equal(completion.choices[0]?.finish_reason, "stop");
  });

  test("counts the tokens of prompt and answer", async () => {
    const { usage } = await trial.complete({ temperature: 0 });
    assert.ok(usage);
    const promptBytes = "user\nWho are you?\nassistant\n".length;
    const controlTokens = 3;
    assert.equal(usage.prompt_tokens, promptBytes + controlTokens);
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  });

  test("gives the same answer for the same seed, and different ones for others", async () => {
    const answers = await Promise.all([1, 1, 2, 3, 4, 5, 6].map((seed) => trial.complete({ seed })));
    const texts = answers.map(contentOf);
    assert.equal(texts[0], texts[1]);
    assert.ok(new Set(texts).size > 2, texts.join("\n"));
  });

  test("takes every safe integer as a seed", async () => {
    for (const seed of [Number.MIN_SAFE_INTEGER, -1, 0, Number.MAX_SAFE_INTEGER]) {
      assert.equal(contentOf(await trial.complete({ seed })), contentOf(await trial.complete({ seed })));
    }
  });

  test("returns n different choices that the same seed repeats", async () => {
    const one = await trial.complete({ n: 6, seed: 7 });
    const other = await trial.complete({ n: 6, seed: 7 });
    assert.deepEqual(one.choices, other.choices);
    assert.deepEqual(
      one.choices.map(({ index }) => index),
      [0, 1, 2, 3, 4, 5],
    );
    assert.ok(new Set(one.choices.map(({ message }) => message.content)).size > 1);
  });

  test("ends at the token limit", async () => {
    for (const limit of [
      { max_tokens: 3 },
      { max_completion_tokens: 3 },
      { max_tokens: 9, max_completion_tokens: 3 },
    ]) {
      const completion = await trial.complete({ temperature: 0, ...limit });
      assert.equal(completion.choices[0]?.finish_reason, "length");
      assert.equal(completion.usage?.completion_tokens, 3);
      assert.equal(contentOf(completion), "I am sounding-trial, a");
    }
  });

  test("ends at a stop sequence, which is not part of the answer", async () => {
    const stops: [string | string[], string][] = [
      ["Sounding", "I am sounding-trial, a tiny model that "],
      [["no such text", "ny mod"], "I am sounding-trial, a ti"],
      [" a", "I"],
      [["I"], ""],
    ];
    for (const [stop, expected] of stops) {
      const completion = await trial.complete({ temperature: 0, stop });
      assert.equal(contentOf(completion), expected);
      assert.equal(completion.choices[0]?.finish_reason, "stop");
    }
  });

  test("returns the model's log probabilities, independent of the sampling", async () => {
    const plain = await trial.complete({ temperature: 0, logprobs: true, top_logprobs: 3, max_tokens: 4 });
    const tokens = plain.choices[0]?.logprobs?.content ?? [];
    assert.deepEqual(
      tokens.map(({ token }) => token),
      ["I am", " sounding-trial,", " a", " tiny"],
    );
    const [first] = tokens;
    assert.ok(Math.abs(first!.logprob - Math.log(0.6)) < 0.001, String(first!.logprob));
    assert.deepEqual(first!.bytes, [...Buffer.from("I am")]);
    assert.deepEqual(
      first!.top_logprobs.map(({ token }) => token),
      ["I am", "This", "You"],
    );
    const hot = await trial.complete({ temperature: 2, top_p: 0.0001, logprobs: true, max_tokens: 1 });
    assert.ok(Math.abs(hot.choices[0]!.logprobs!.content![0]!.logprob - first!.logprob) < 0.001);
    assert.deepEqual(hot.choices[0]!.logprobs!.content![0]!.top_logprobs, []);
  });

  test("biases tokens towards and away from the answer", async () => {
    const end = 257;
    const never = await trial.complete({ temperature: 0, logit_bias: { [end]: -100 }, max_tokens: 60 });
    assert.equal(never.choices[0]?.finish_reason, "length");
    const atOnce = await trial.complete({ temperature: 0, logit_bias: { [end]: 100 } });
    assert.equal(contentOf(atOnce), "");
    await assert.rejects(trial.complete({ logit_bias: { 999_999: 1 } }), {
      code: "invalid_request",
      param: "logit_bias",
    });
    await assert.rejects(trial.complete({ logit_bias: { word: 1 } }), { code: "invalid_request", param: "logit_bias" });
  });

  test("returns log probabilities of the prompt in vLLM's form", async () => {
    const completion = await trial.complete({ prompt_logprobs: 1, temperature: 0 });
    const prompt = completion.prompt_logprobs as (Record<
      string,
      { logprob: number; rank: number; decoded_token: string }
    > | null)[];
    assert.equal(prompt.length, completion.usage?.prompt_tokens);
    assert.equal(prompt[0], null);
    for (const entry of prompt.slice(1)) {
      const ranks = Object.values(entry!).map(({ rank }) => rank);
      assert.ok(ranks.includes(1));
      assert.ok(ranks.length <= 2);
      assert.ok(Object.values(entry!).every(({ logprob }) => logprob <= 0));
    }
    assert.equal(contentOf(completion), greedyAnswer);
  });

  test("refuses by name what it cannot honor", async () => {
    const refused: [Record<string, unknown>, string][] = [
      [{ audio: { voice: "alloy" } }, "audio"],
      [{ modalities: ["text", "audio"] }, "modalities"],
      [{ web_search_options: {} }, "web_search_options"],
      [{ service_tier: "flex" }, "service_tier"],
      [{ store: true }, "store"],
      [{ functions: [] }, "functions"],
      [{ reasoning_effort: "low" }, "reasoning_effort"],
      [{ prompt_logprobs: 1, stream: true }, "prompt_logprobs"],
      [
        { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:" } }] }] },
        "messages[0].content[0].type",
      ],
    ];
    for (const [request, param] of refused) {
      await assert.rejects(trial.complete(request), { code: "unsupported_parameter", param }, param);
    }
  });

  test("accepts what has no effect on the answer", async () => {
    const beyondTheContract = { metadata: { a: "b" }, safety_identifier: "x", prompt_cache_key: "y" };
    const completion = await trial.complete({
      temperature: 0,
      user: "someone",
      store: false,
      service_tier: "auto",
      modalities: ["text"],
      response_format: { type: "text" },
      stop: null,
      ...beyondTheContract,
    });
    assert.equal(contentOf(completion), greedyAnswer);
  });

  test("refuses a prompt that is longer than the context, with the counts", async () => {
    const long = [{ role: "user" as const, content: "x".repeat(3000) }];
    await assert.rejects(trial.complete({ messages: long }), (error: { code: string; message: string }) => {
      assert.equal(error.code, "context_length_exceeded");
      assert.match(error.message, /3019 tokens.*2048 tokens/);
      return true;
    });
  });

  test("ends with length when the context is full", async () => {
    const nearlyFull = [{ role: "user" as const, content: "x".repeat(2000) }];
    const completion = await trial.complete({ messages: nearlyFull, temperature: 0, max_tokens: 10_000 });
    assert.equal(completion.usage?.total_tokens, 2048);
    assert.equal(completion.choices[0]?.finish_reason, "length");
  });
});
