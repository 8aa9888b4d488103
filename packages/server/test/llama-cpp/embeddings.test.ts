/** Models that embed: vectors, counts of tokens, lengths, limits, and what they refuse. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { LlamaCppModelSettings } from "../../src/config/engines/llama-cpp.ts";
import { createLlamaCppEngine } from "../../src/engines/llama-cpp/engine.ts";
import { ensureTrialModel } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import type { EmbeddingCall, Embeddings } from "../../src/engines/embedding-model.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { silentLogger } from "../../src/logger.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { contextLength, predictVector, tokens, vectorLength, writeTinyBert } from "./tiny-bert.ts";
import { callOf } from "./trial-engine.ts";

const noSignal = new AbortController().signal;

function embed(engine: Engine, model: string, call: Partial<EmbeddingCall>): Promise<Embeddings> {
  const defaults = { inputs: ["deep water"], dimensions: undefined, others: {}, signal: noSignal };
  return engine.embeddings!(model)!.embed({ ...defaults, ...call });
}

function assertClose(actual: Float32Array | undefined, expected: Float32Array, what = ""): void {
  assert.equal(actual?.length, expected.length, what);
  const furthest = Math.max(...expected.map((component, index) => Math.abs(component - actual[index]!)));
  assert.ok(furthest < 1e-4, `${what}: ${furthest}`);
}

const lengthOf = (vector: Float32Array): number => Math.sqrt(vector.reduce((sum, each) => sum + each ** 2, 0));
const token = (text: string): number => tokens.indexOf(text);
const water = token("▁water");

describe("a GGUF model that embeds", () => {
  let directory: string;
  let engine: Engine;

  beforeTests(async (stack) => {
    directory = await mkdtemp(join(tmpdir(), "sounding-bert-"));
    stack.defer(() => rm(directory, { recursive: true }));
    const model = async (name: string, more: Partial<LlamaCppModelSettings>, file = {}) => ({
      file: await writeTinyBert(join(directory, `${name}.gguf`), file),
      gpu: false as const,
      threads: 1,
      ...more,
    });
    const models = {
      bert: await model("bert", { idle_unload_ms: 60_000 }),
      shortened: await model("shortened", { embeddings: { min_dimensions: 8 } }),
      raw: await model("raw", { embeddings: { pooling: "cls", normalize: false } }, { pooling: undefined }),
      ranker: await model("ranker", {}, { pooling: 4 }),
      unpooled: await model("unpooled", {}, { pooling: undefined }),
      causal: {
        file: await ensureTrialModel(join(directory, "models")),
        gpu: false as const,
        threads: 1,
        embeddings: { pooling: "last" as const },
      },
      brief: await model("brief", { context_size: 256, idle_unload_ms: 50 }),
    };
    engine = await createLlamaCppEngine(
      "local",
      { type: "llama_cpp", models },
      { logger: silentLogger, dataDirectory: directory },
    );
    stack.defer(() => engine.close());
  });

  test("is known by its file, and does not chat", () => {
    assert.deepEqual(engine.listedFor!("bert"), ["embeddings"]);
    assert.equal(engine.chat!("bert"), undefined);
    assert.throws(() => engine.embeddings!("other"), { code: "model_not_found" });
  });

  test("returns normalized vectors and the number of tokens, its own included", async () => {
    const { vectors, tokens: count } = await embed(engine, "bert", { inputs: ["deep water", "Ships, anchor"] });
    assertClose(vectors[0], predictVector(["[CLS]", "▁deep", "▁water", "[SEP]"]));
    assertClose(vectors[1], predictVector(["[CLS]", "▁ship", "s", "[UNK]", "▁anchor", "[SEP]"]));
    assert.equal(count, 4 + 6);
    for (const vector of vectors) assert.ok(Math.abs(lengthOf(vector) - 1) < 1e-5);
  });

  test("takes tokens, with or without those that begin and end a text", async () => {
    const inputs = [[water], [token("[CLS]"), water, token("[SEP]")]];
    const { vectors, tokens: count } = await embed(engine, "bert", { inputs });
    const expected = predictVector(["[CLS]", "▁water", "[SEP]"]);
    for (const vector of vectors) assertClose(vector, expected);
    assert.equal(count, 6);
    await assert.rejects(embed(engine, "bert", { inputs: [[water], [water, tokens.length]] }), {
      code: "invalid_request",
      param: "input[1]",
      message: new RegExp(`has the token ${tokens.length}, but the model's tokens are 0 to ${tokens.length - 1}\\.`),
    });
  });

  test("takes text that spells a control token as text", async () => {
    const { vectors } = await embed(engine, "bert", { inputs: ["[SEP] water"] });
    assertClose(vectors[0], predictVector(["[CLS]", "[UNK]", "[UNK]", "[UNK]", "▁water", "[SEP]"]));
  });

  test("takes as many tokens as its context has, and refuses a longer text by its index", async () => {
    const most = contextLength - 2;
    const whole = await embed(engine, "bert", { inputs: ["water ".repeat(most), Array(most).fill(water).join(" ")] });
    assert.equal(whole.tokens, 2 * contextLength);
    assertClose(whole.vectors[0], predictVector(["[CLS]", ...Array<string>(most).fill("▁water"), "[SEP]"]));
    const tooLong = { code: "context_length_exceeded", param: "input[1]" };
    for (const input of ["water ".repeat(most + 1), Array<number>(most + 1).fill(water)]) {
      await assert.rejects(embed(engine, "bert", { inputs: ["deep", input] as string[] }), {
        ...tooLong,
        message: /^input\[1\] has 301 tokens, but the model takes at most 300\. /,
      });
    }
    await assert.rejects(embed(engine, "bert", { inputs: ["deep", "x".repeat(1_000_000)] }), {
      ...tooLong,
      message: /has 1000000 characters/,
    });
    await assert.rejects(embed(engine, "bert", { inputs: [Array<number>(100_000).fill(water)] }), {
      ...tooLong,
      param: "input",
    });
    await assert.rejects(embed(engine, "brief", { inputs: ["water ".repeat(255)] }), { message: /at most 256\. / });
  });

  test("shortens vectors only if its settings say that it may", async () => {
    await assert.rejects(embed(engine, "bert", { dimensions: 16 }), {
      code: "unsupported_parameter",
      param: "dimensions",
      message: /dimensions is 16, but the model's vectors have 32 components and cannot be shortened/,
    });
    assert.equal((await embed(engine, "bert", { dimensions: vectorLength })).vectors[0]?.length, vectorLength);
    const { vectors } = await embed(engine, "shortened", { dimensions: 8 });
    assertClose(vectors[0], predictVector(["[CLS]", "▁deep", "▁water", "[SEP]"], 8));
    for (const dimensions of [7, vectorLength + 1])
      await assert.rejects(embed(engine, "shortened", { dimensions }), { param: "dimensions", message: /8 to 32/ });
  });

  test("is pooled and scaled as its settings say", async () => {
    const { vectors } = await embed(engine, "raw", {});
    const first = predictVector(["[CLS]"]);
    assertClose(
      vectors[0]!.map((component) => component / lengthOf(vectors[0]!)),
      first,
    );
    assert.ok(lengthOf(vectors[0]!) > 5);
  });

  test("may be one that chats, which gets long texts in several batches", async () => {
    assert.equal(engine.chat!("causal"), undefined);
    const long = `${"of ".repeat(600)}x`;
    const { vectors, tokens: count } = await embed(engine, "causal", { inputs: ["x", long, "y"] });
    assert.equal(count, 1 + long.length + 1);
    // The trial model looks at the last token, and for two others that are not there.
    assertClose(vectors[1], vectors[0]!);
    assert.ok(vectors[0]!.some((component, index) => Math.abs(component - vectors[2]![index]!) > 0.1));
  });

  test("is refused if it ranks, or if nothing says how its vectors become one", async () => {
    assert.deepEqual(engine.listedFor!("ranker"), ["embeddings"]);
    await assert.rejects(embed(engine, "ranker", {}), { code: "upstream_failed", message: /ranks documents/ });
    await assert.rejects(embed(engine, "unpooled", {}), { code: "upstream_failed", message: /embeddings\.pooling/ });
  });

  test("refuses other parameters by name", async () => {
    await assert.rejects(embed(engine, "bert", { others: { absent: null, input_type: "query" } }), {
      code: "unsupported_parameter",
      param: "input_type",
    });
  });

  test("serves many callers, who take turns by organization", async () => {
    const ended: string[] = [];
    const call = async (fairnessKey: string, inputs: string[]): Promise<Embeddings> => {
      const embedded = await embed(engine, "bert", { inputs, fairnessKey });
      ended.push(fairnessKey);
      return embedded;
    };
    const long = Array.from({ length: 300 }, (_, index) => "ship ".repeat(1 + (index % 40)));
    const [all, one] = await Promise.all([call("many", long), call("one", ["deep water"])]);
    assert.deepEqual(ended, ["one", "many"]);
    assertClose(one.vectors[0], predictVector(["[CLS]", "▁deep", "▁water", "[SEP]"]));
    assert.equal(
      all.tokens,
      long.reduce((sum, _, index) => sum + 3 + (index % 40), 0),
    );
    for (const [index, vector] of all.vectors.entries())
      assertClose(vector, predictVector(["[CLS]", ...Array<string>(1 + (index % 40)).fill("▁ship"), "[SEP]"]));
  });

  test("stops when the caller leaves", async () => {
    const leaving = new AbortController();
    const inputs = Array.from({ length: 2_000 }, () => "ship ".repeat(200));
    const embedding = embed(engine, "bert", { inputs, signal: leaving.signal });
    const next = embed(engine, "bert", { fairnessKey: "other" });
    void next.then(() => leaving.abort());
    await assert.rejects(embedding, { code: "client_closed" });
    assert.equal((await embed(engine, "bert", {})).tokens, 4);
    await assert.rejects(embed(engine, "bert", { signal: AbortSignal.abort() }), { code: "client_closed" });
  });

  test("is unloaded when idle, and loaded again", async () => {
    await embed(engine, "brief", {});
    assert.equal(engine.isLoaded!("brief"), true);
    while (engine.isLoaded!("brief")) await delay(20);
    assert.equal((await embed(engine, "brief", {})).tokens, 4);
  });
});

test("a file that comes later is known when it is there", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sounding-bert-"));
  const file = join(directory, "later.gguf");
  const chat = join(directory, "models/sounding-trial.gguf");
  const common = { gpu: false, threads: 1 } as const;
  const engine = await createLlamaCppEngine(
    "local",
    { type: "llama_cpp", models: { later: { file, ...common }, chats: { file: chat, ...common } } },
    { logger: silentLogger, dataDirectory: directory },
  );
  try {
    assert.deepEqual(engine.listedFor!("later"), ["chat"]);
    const callable = engine.chat!("later")!;
    await writeTinyBert(file);
    await ensureTrialModel(join(directory, "models"));
    assert.equal((await embed(engine, "later", {})).tokens, 4);
    await assert.rejects(callable.complete(callOf({})), { code: "invalid_request", param: "model" });
    await assert.rejects(embed(engine, "chats", {}), { code: "invalid_request", message: /does not embed texts/ });
    await engine.listModels(noSignal);
    assert.deepEqual(engine.listedFor!("later"), ["embeddings"]);
    assert.equal(engine.chat!("later"), undefined);
    assert.equal(engine.embeddings!("chats"), undefined);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});
