/** `POST /v1/embeddings` with a GGUF file: a running server finds it, lists it for what it is for, and embeds with it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { EmbeddingList } from "../../packages/server/src/api/embeddings.ts";
import { satisfies } from "../../packages/server/src/api/validate.ts";
import { predictVector, writeTinyBert } from "../../packages/server/test/llama-cpp/tiny-bert.ts";
import { runSounding } from "../../packages/cli/test/run-sounding.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";

interface Listed {
  readonly id: string;
  readonly capabilities: readonly string[];
  readonly engine: string;
}

describe("a GGUF file that embeds", () => {
  let server: RunningServer;
  let env: Record<string, string>;

  beforeTests(async (stack) => {
    server = stack.use(await startServer());
    env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key, SOUNDING_DATA_DIR: server.dataDirectory };
    const folder = join(server.dataDirectory, "models");
    await mkdir(folder, { recursive: true });
    await writeTinyBert(join(folder, "tiny-bert.gguf"));
    await writeTinyBert(join(folder, "reranker.gguf"), { pooling: 4 });
    while ((await list("embeddings")).length === 0);
  });

  const list = async (capability: string): Promise<Listed[]> => {
    const response = await server.call(`/v1/models?capability=${capability}`);
    return ((await response.json()) as { data: Listed[] }).data;
  };

  test("is listed and served for embeddings only", async () => {
    const facts = (await list("embeddings")).map(({ id, capabilities, engine }) => ({ id, capabilities, engine }));
    assert.deepEqual(facts, [{ id: "tiny-bert", capabilities: ["embeddings"], engine: "llama-cpp" }]);
    assert.ok((await list("chat")).every(({ id }) => id !== "tiny-bert"));
    const request = { model: "tiny-bert", messages: [{ role: "user", content: "Hello" }] };
    const chat = await server.call("/v1/chat/completions", request);
    assert.deepEqual([chat.status, /does not support chat/.test(await chat.text())], [400, true]);
    const { stdout } = await runSounding(["models"], { env });
    assert.match(stdout, /^tiny-bert +embeddings +llama-cpp +not loaded$/m);
    assert.match(stdout, /^tiny-bert\.gguf +\S+ KiB +bert +tiny-bert$/m);
    assert.match(stdout, /^reranker\.gguf .* not served: it ranks documents, which is not supported$/m);
  });

  test("embeds for OpenAI's SDK and the command, and reports its tokens", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const { data, usage, model } = await client.embeddings.create({
      model: "tiny-bert",
      input: ["deep water", "a ship"],
    });
    const expected = [
      ["[CLS]", "▁deep", "▁water", "[SEP]"],
      ["[CLS]", "[UNK]", "▁ship", "[SEP]"],
    ].map((texts) => predictVector(texts));
    for (const [index, { embedding }] of data.entries())
      assert.ok(embedding.every((component, at) => Math.abs(component - expected[index]![at]!) < 1e-4));
    assert.deepEqual([model, usage], ["tiny-bert", { prompt_tokens: 8, total_tokens: 8 }]);
    const numbers = await server.call("/v1/embeddings", { model: "tiny-bert", input: [[5, 6]] });
    assert.ok(satisfies(EmbeddingList, await numbers.json()));
    const compared = await runSounding(["embed", "--compare", "deep water", "water deep"], { env });
    assert.deepEqual([compared.code, compared.stdout], [0, "1.0000\n"]);
  });

  test("refuses a text that is too long, by its index", async () => {
    const input = ["deep", "water ".repeat(400)];
    const response = await server.call("/v1/embeddings", { model: "tiny-bert", input });
    const { error } = (await response.json()) as { error: Record<string, string> };
    assert.deepEqual([response.status, error["code"], error["param"]], [400, "context_length_exceeded", "input[1]"]);
    assert.match(error["message"]!, /^input\[1\] has 402 tokens, but the model takes at most 300\. Shorten it/);
  });
});
