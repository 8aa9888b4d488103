/** `POST /v1/embeddings` over a scripted upstream: forms of input and output, long lists, fallbacks, failures. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { EmbeddingList } from "../../packages/server/src/api/embeddings.ts";
import { satisfies } from "../../packages/server/src/api/validate.ts";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { runSounding } from "../../packages/cli/test/run-sounding.ts";
import { beforeEachTest, beforeTests } from "../support/hooks.ts";
import { embedNumbers, vectorOf, type EmbeddingsAsked } from "../support/embedding-upstream.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";

describe("embeddings", () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;
  let other: ScriptedUpstream;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(embedNumbers("base64"));
    other = await startScriptedUpstream(embedNumbers("float"));
    stack.defer(() => upstream.close());
    stack.defer(() => other.close());
    server = stack.use(
      await startServer(`
engines:
  gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [text-embedding-3-small, chatty, odd], capabilities: { odd: [embeddings] } }
  spare: { type: openai_compatible, base_url: "${other.url}/v1", models: [bge-m3], unsupported_parameters: [dimensions] }
models:
  texts: { targets: [{ engine: gpu, model: text-embedding-3-small }], fallbacks: [spare-texts], retries: { attempts: 0 } }
  spare-texts: { targets: [{ engine: spare, model: bge-m3 }], retries: { attempts: 0 } }
routing: { failure_threshold: 1000 }
`),
    );
  });
  beforeEachTest(() => {
    upstream.script = embedNumbers("base64");
    other.script = embedNumbers("float");
  });

  async function ask(more: object): Promise<{ status: number; body: JsonObject; data: JsonObject[] }> {
    const response = await server.call("/v1/embeddings", { model: "texts", ...more });
    const body = (await response.json()) as JsonObject;
    return { status: response.status, body, data: (body["data"] ?? []) as JsonObject[] };
  }

  test("take a text, texts and tokens, and return numbers or base64", async () => {
    for (const [input, firsts] of [
      ["7", [7]],
      [
        ["1", "2"],
        [1, 2],
      ],
      [[3, 4], [7]],
      [
        [[3, 4], [5]],
        [7, 5],
      ],
    ] as const) {
      const { body, data, status } = await ask({ input });
      assert.equal(status, 200);
      assert.ok(satisfies(EmbeddingList, { ...body }));
      assert.deepEqual(
        data.map(({ embedding }) => (embedding as number[])[0]),
        firsts,
      );
      assert.deepEqual(
        [body["model"], body["usage"]],
        ["texts", { prompt_tokens: firsts.length, total_tokens: firsts.length }],
      );
      const packed = await ask({ input, encoding_format: "base64" });
      const vectors = packed.data.map(
        ({ embedding }) => new Float32Array(Uint8Array.from(Buffer.from(String(embedding), "base64")).buffer),
      );
      assert.deepEqual(
        vectors.map(([first]) => first),
        firsts,
      );
    }
    const sent = upstream.exchanges.at(-1)!.json as JsonObject;
    assert.deepEqual(sent, { model: "text-embedding-3-small", input: [[3, 4], [5]], encoding_format: "base64" });
  });

  test("split long lists, and keep their order", async () => {
    const before = upstream.exchanges.length;
    const { body, data, status } = await ask({ input: Array.from({ length: 1_000 }, (_, index) => `text ${index}`) });
    assert.equal(status, 200);
    assert.deepEqual(
      data.map(({ embedding, index }) => [(embedding as number[])[0], index]),
      Array.from({ length: 1_000 }, (_, index) => [index, index]),
    );
    assert.equal((body["usage"] as JsonObject)["prompt_tokens"], 1_000);
    assert.equal(upstream.exchanges.length - before, 16);
  });

  test("have the dimensions that the request names, or are refused by name", async () => {
    const { data } = await ask({ input: "1", dimensions: 5, user: "someone", custom: true });
    assert.equal((data[0]!["embedding"] as number[]).length, 5);
    assert.equal((upstream.exchanges.at(-1)!.json as JsonObject)["custom"], true);
    const refused = await ask({ model: "spare-texts", input: "1", dimensions: 5 });
    assert.deepEqual([refused.status, (refused.body["error"] as JsonObject)["param"]], [400, "dimensions"]);
    other.script = (exchange) => embedNumbers("float")(exchange);
    upstream.script = (exchange) => {
      const data = (exchange.json as EmbeddingsAsked).input.map((each, index) => ({
        index,
        embedding: [...vectorOf(each, 3)],
      }));
      exchange.answer({ data });
    };
    const ignored = await ask({ input: "1", dimensions: 5 });
    assert.deepEqual([ignored.status, (ignored.body["error"] as JsonObject)["param"]], [400, "dimensions"]);
  });

  test("fall back to another model, whose name they tell", async () => {
    upstream.script = (exchange) => exchange.answer({ error: { message: "Broken." } }, 500);
    const { body, data, status } = await ask({ input: "1" });
    assert.deepEqual([status, body["model"], (data[0]!["embedding"] as number[])[0]], [200, "spare-texts", 1]);
  });

  for (const [name, answer] of [
    ["no list", {}],
    ["too few", { data: [] }],
    ["no numbers", { data: [{ index: 0, embedding: ["a"] }] }],
    ["a wrong index", { data: [{ index: 1, embedding: [1] }] }],
    ["an empty vector", { data: [{ index: 0, embedding: [] }] }],
    ["broken base64", { data: [{ index: 0, embedding: "AAAAA" }] }],
    [
      "not a number",
      { data: [{ index: 0, embedding: Buffer.from(Float32Array.of(Number.NaN).buffer).toString("base64") }] },
    ],
    ["an error", { error: { message: "Broken." } }],
  ] as const) {
    test(`fail if the engine sends ${name}`, async () => {
      upstream.script = (exchange) => exchange.answer(answer);
      other.script = (exchange) => exchange.answer({ error: { message: "Broken." } }, 500);
      assert.equal((await ask({ input: "1" })).status, 502);
    });
  }

  test("refuse what they cannot take, by name", async () => {
    for (const [more, param] of [
      [{ input: "" }, "input"],
      [{ input: [] }, "input"],
      [{ input: Array.from({ length: 2_049 }, () => "x") }, "input"],
      [{ input: "1", dimensions: 0 }, "dimensions"],
      [{ input: "1", encoding_format: "binary" }, "encoding_format"],
    ] as const) {
      const { body, status } = await ask(more);
      const { param: named } = body["error"] as JsonObject;
      assert.deepEqual([status, String(named).split("[")[0]], [400, param], JSON.stringify(body));
    }
  });

  test("are what models are listed for, by configuration or name", async () => {
    const { data } = (await (await server.call("/v1/models?capability=embeddings")).json()) as {
      data: { id: string; capabilities: string[] }[];
    };
    const listed = new Map(data.map(({ id, capabilities }) => [id, capabilities]));
    for (const id of ["texts", "spare-texts", "text-embedding-3-small", "bge-m3", "odd"])
      assert.deepEqual(listed.get(id), ["embeddings"], id);
    assert.ok(!listed.has("chatty"));
    assert.ok(!listed.has("sounding-trial"));
  });

  test("end at the engine when the client leaves", async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    upstream.script = () => resolve();
    const leaving = new AbortController();
    const calling = fetch(`${server.url}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "texts", input: "1" }),
      signal: leaving.signal,
    });
    await arrived;
    const aborts = upstream.aborts;
    leaving.abort();
    await assert.rejects(calling);
    await upstream.until(() => upstream.aborts > aborts, "the end of the call at the upstream");
  });

  test("work with OpenAI's SDK, which asks for base64, and with the command", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const { data } = await client.embeddings.create({ model: "texts", input: ["1", "2"] });
    assert.deepEqual(
      data.map(({ embedding }) => embedding[0]),
      [1, 2],
    );
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key };
    const compared = await runSounding(["embed", "--model", "texts", "--compare", "1", "1"], { env });
    assert.deepEqual([compared.code, compared.stdout], [0, "1.0000\n"]);
    const printed = await runSounding(["embed", "--model", "texts", "--dimensions", "2", "4", "5"], { env });
    const vectors = printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as number[]);
    assert.deepEqual(
      vectors.map(([first, ...rest]) => [first, rest.length]),
      [
        [4, 1],
        [5, 1],
      ],
    );
    assert.notEqual((await runSounding(["embed", "--compare", "one"], { env })).code, 0);
  });
});
