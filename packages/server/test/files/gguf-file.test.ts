/** The metadata of GGUF files: what a model is for, and vocabularies of any size. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { encodeGguf, type GgufValue } from "../../src/engines/llama-cpp/trial/gguf-writer.ts";
import { describeGguf } from "../../src/model-files/gguf-file.ts";
import { embeddingProblem, purposeOf } from "../../src/model-files/gguf-purpose.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

describe("the metadata of a GGUF file", () => {
  let directory: string;
  beforeTests(async (stack) => {
    directory = await mkdtemp(join(tmpdir(), "sounding-gguf-"));
    stack.defer(() => rm(directory, { recursive: true }));
  });

  async function read(metadata: Record<string, GgufValue>) {
    const path = join(directory, "model.gguf");
    await writeFile(path, encodeGguf(metadata, [{ name: "weights", shape: [8], data: new Float32Array(8) }]));
    return describeGguf(path);
  }

  for (const [architecture, pooling, causal, expected] of [
    ["llama", undefined, undefined, ["chat", undefined, true]],
    ["llama", 0, undefined, ["chat", "none", true]],
    ["qwen3", 3, undefined, ["embeddings", "last", true]],
    ["qwen2", 1, false, ["embeddings", "mean", false]],
    ["bert", 2, undefined, ["embeddings", "cls", false]],
    ["nomic-bert", undefined, undefined, ["embeddings", undefined, false]],
    ["bert", 4, false, ["ranking", "rank", false]],
    ["llama", 77, undefined, ["chat", undefined, true]],
  ] as const) {
    test(`says that ${architecture} with the pooling ${pooling} is for ${expected[0]}`, async () => {
      const description = await read({
        "general.architecture": { kind: "string", value: architecture },
        ...(pooling === undefined ? {} : { [`${architecture}.pooling_type`]: { kind: "uint32", value: pooling } }),
        ...(causal === undefined ? {} : { [`${architecture}.attention.causal`]: { kind: "bool", value: causal } }),
      });
      assert.deepEqual([purposeOf(description), description.pooling, description.isCausal], expected);
    });
  }

  test("is overridden by the configuration", async () => {
    const description = await read({ "general.architecture": { kind: "string", value: "llama" } });
    assert.equal(purposeOf(description, true), "embeddings");
    assert.match(embeddingProblem(description)!, /embeddings\.pooling/);
    assert.equal(embeddingProblem(description, "last"), undefined);
  });

  test("is read behind vocabularies and texts of several megabytes", async () => {
    const long = "x".repeat(3 * 2 ** 20);
    const tokens = Array.from({ length: 200_000 }, (_, index) => `${"▁".repeat(index % 7)}token ${index}`);
    for (const value of [tokens, [...tokens, long, ...tokens], [long], [], [""]]) {
      const description = await read({
        "general.architecture": { kind: "string", value: "bert" },
        "tokenizer.ggml.tokens": { kind: "strings", value },
        "bert.pooling_type": { kind: "uint32", value: 1 },
      });
      assert.equal(description.pooling, "mean");
    }
  });
});
