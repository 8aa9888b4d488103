/** Streams of the real llama.cpp: the form of the chunks, UTF-8, stop sequences, clients that disconnect. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { contentOf, startTrialEngine, type TrialEngine } from "./trial-engine.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const textsOf = (chunks: readonly ChatCompletionChunk[]): string[] =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).filter((text) => text !== "");

describe("a stream of the llama.cpp engine", () => {
  let trial: TrialEngine;
  beforeTests(async (stack) => {
    trial = await startTrialEngine();
    stack.defer(() => trial.close());
  });

  test("has one head, a role first, a finish reason last, then usage", async () => {
    const chunks = await Array.fromAsync(trial.stream({ temperature: 0 }));
    const heads = new Set(chunks.map(({ id, created, model, object }) => JSON.stringify([id, created, model, object])));
    assert.equal(heads.size, 1);
    assert.equal(chunks[0]?.choices[0]?.delta.role, "assistant");
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
    assert.ok(chunks.slice(0, -2).every(({ choices }) => choices[0]?.finish_reason === null));
    assert.deepEqual(chunks.at(-1)?.choices, []);
    const completion = await trial.complete({ temperature: 0 });
    assert.equal(chunks.at(-1)?.usage?.total_tokens, completion.usage?.total_tokens);
    assert.equal(textsOf(chunks).join(""), contentOf(completion));
    assert.ok(textsOf(chunks).length > 20);
  });

  test("has the same choices as a batch answer", async () => {
    const request = { n: 3, seed: 11 };
    const chunks = await Array.fromAsync(trial.stream(request));
    const completion = await trial.complete(request);
    const joined = [0, 1, 2].map((index) =>
      chunks
        .flatMap(({ choices }) =>
          choices.filter((choice) => choice.index === index).map(({ delta }) => delta.content ?? ""),
        )
        .join(""),
    );
    assert.deepEqual(
      joined,
      completion.choices.map(({ message }) => message.content),
    );
  });

  test("holds back a possible stop sequence, and sends it if it is none", async () => {
    const held = await Array.fromAsync(trial.stream({ temperature: 0, stop: ["model that Nobody", "by itself"] }));
    assert.equal(textsOf(held).join(""), "I am sounding-trial, a tiny model that Sounding wrote ");
    assert.ok(!textsOf(held).some((text) => /model$| by/.test(text)), JSON.stringify(textsOf(held)));
  });

  test("carries log probabilities with their text", async () => {
    const chunks = await Array.fromAsync(
      trial.stream({ temperature: 0, logprobs: true, top_logprobs: 1, stop: ["Nobody"] }),
    );
    for (const { choices } of chunks) {
      for (const { delta, logprobs } of choices) {
        if (!delta.content) continue;
        assert.equal(logprobs?.content?.map(({ token }) => token).join(""), delta.content);
      }
    }
  });
});

test("a stream never splits a character", async () => {
  const trial = await startTrialEngine("emoji");
  try {
    const chunks = await Array.fromAsync(trial.stream({ temperature: 0, logprobs: true }));
    assert.deepEqual(textsOf(chunks), ["😀", "é", "漢"]);
    const bytes = chunks
      .flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])
      .flatMap((token) => token.bytes ?? []);
    assert.deepEqual(bytes.slice(0, 9), [...Buffer.from("😀é漢")]);
    const cut = await trial.complete({ temperature: 0, max_tokens: 2 });
    assert.equal(contentOf(cut), "");
    assert.equal(cut.choices[0]?.finish_reason, "length");
    const stopped = await trial.complete({ temperature: 0, stop: "é" });
    assert.equal(contentOf(stopped), "😀");
  } finally {
    await trial.close();
  }
});

describe("a stream that is abandoned", () => {
  let trial: TrialEngine;
  beforeTests(async (stack) => {
    trial = await startTrialEngine("endless", { context_size: 32_768, parallel: 1, queue_limit: 4 });
    stack.defer(() => trial.close());
  });

  test("frees its slot when the reader leaves the loop", async () => {
    for (let round = 0; round < 5; round++) {
      let count = 0;
      for await (const chunk of trial.stream()) {
        assert.ok(chunk);
        if (++count === 10) break;
      }
    }
    assert.equal((await trial.complete({ max_tokens: 2 })).usage?.completion_tokens, 2);
  });

  test("ends with client_closed when the signal is aborted", async () => {
    const abort = new AbortController();
    let count = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of trial.stream({}, abort.signal)) {
        assert.ok(chunk);
        if (++count === 10) abort.abort();
      }
    };
    await assert.rejects(read(), { code: "client_closed" });
    // The answer is endless; the chunks that had arrived before the abort are still read.
    assert.ok(count < 1000, `${count} chunks`);
    await assert.rejects(trial.complete({}, AbortSignal.abort()), { code: "client_closed" });
    assert.equal((await trial.complete({ max_tokens: 2 })).usage?.completion_tokens, 2);
  });

  test("refuses calls beyond the queue", async () => {
    const abort = new AbortController();
    const endless = trial.complete({ max_tokens: 30_000 }, abort.signal);
    const waiting = trial.complete({ n: 4, max_tokens: 1 });
    await assert.rejects(trial.complete(), (error: { code: string; retryAfterMs: number }) => {
      assert.equal(error.code, "overloaded");
      assert.ok(error.retryAfterMs > 0);
      return true;
    });
    abort.abort();
    await assert.rejects(endless, { code: "client_closed" });
    assert.equal((await waiting).choices.length, 4);
  });
});

test("a stream that nobody reads keeps its slot and generates no further", async () => {
  const trial = await startTrialEngine("endless", { context_size: 32_768, parallel: 2 });
  try {
    // Sampled, the model ends some answers by chance.
    const unread = trial.stream({ max_tokens: 500, temperature: 0 })[Symbol.asyncIterator]();
    await unread.next();
    // Both answers advance with the same steps of the model: after 2000 steps, an unread answer of 500 tokens would be done.
    // The other one then has as many to go, since the model may be ahead of its reader.
    const read = trial.stream({ max_tokens: 4_000, temperature: 0 })[Symbol.asyncIterator]();
    await read.next();
    let queuedIsAnswered = false;
    const queued = trial.complete({ max_tokens: 2 }).finally(() => {
      queuedIsAnswered = true;
    });
    for (let steps = 0; steps < 2_000; steps += 1) {
      assert.notEqual((await read.next()).done, true);
      assert.equal(queuedIsAnswered, false, "a call in the queue got the place of a stream that nobody had read");
    }
    await unread.return?.(undefined);
    assert.equal((await queued).usage?.completion_tokens, 2);
    await read.return?.(undefined);
  } finally {
    await trial.close();
  }
});
