/** Embeddings of vendors with their own APIs: requests, vectors, counts, and what is refused before any call. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { EmbeddingCall, Embeddings } from "../../src/engines/embedding-model.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { embedInPieces } from "../../src/routing/embed-in-pieces.ts";
import { apiKey, openEngine, type VendorType } from "./vendor-call.ts";
import { bytes, json, silent, startVendorServer, type ReceivedRequest, type Reply } from "./vendor-server.ts";

interface EmbeddingWire {
  readonly type: VendorType;
  readonly model: string;
  /** Texts of one request. */
  readonly most: number;
  readonly path: string;
  /** The body of a request for these texts. */
  request(texts: readonly string[]): object;
  textsOf(body: NonNullable<ReceivedRequest["body"]>): string[];
  answer(vectors: readonly (readonly unknown[])[], tokens: number): object;
  readonly headers?: Record<string, string>;
}

const google: EmbeddingWire = {
  type: "google",
  model: "gemini-embedding-001",
  most: 100,
  path: "/v1beta/models/gemini-embedding-001:batchEmbedContents",
  request: (texts) => ({
    requests: texts.map((text) => ({
      model: "models/gemini-embedding-001",
      content: { role: "user", parts: [{ text }] },
    })),
  }),
  textsOf(body) {
    const requests = (body["requests"] ?? [body]) as unknown as { content: { parts: { text: string }[] } }[];
    return requests.map(({ content }) => content.parts[0]!.text);
  },
  answer: (vectors, tokens) => ({
    embeddings: vectors.map((values) => ({ values })),
    ...(vectors.length === 1 ? { embedding: { values: vectors[0] } } : {}),
    usageMetadata: { promptTokenCount: tokens },
  }),
};

const cohere: EmbeddingWire = {
  type: "cohere",
  model: "embed-v4.0",
  most: 96,
  path: "/v2/embed",
  request: (texts) => ({
    model: "embed-v4.0",
    embedding_types: ["float"],
    texts,
    input_type: "search_document",
    truncate: "NONE",
  }),
  textsOf: (body) => body["texts"] as unknown as string[],
  answer: (vectors, tokens) => ({
    id: "e1",
    // Cohere repeats the texts, which may look like vectors.
    texts: ["[1, 2]", "[3"],
    embeddings: { float: vectors },
    meta: { billed_units: { input_tokens: tokens } },
  }),
};

const mistral: EmbeddingWire = {
  type: "mistral",
  model: "mistral-embed",
  most: 32,
  path: "/v1/embeddings",
  request: (texts) => ({ model: "mistral-embed", input: texts, encoding_format: "float" }),
  textsOf: (body) => body["input"] as unknown as string[],
  answer: (vectors, tokens) => ({
    object: "list",
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
};

const titan: EmbeddingWire = {
  type: "amazon_bedrock",
  model: "amazon.titan-embed-text-v2:0",
  most: 1,
  path: "/model/amazon.titan-embed-text-v2%3A0/invoke",
  request: ([inputText]) => ({ inputText }),
  textsOf: (body) => [body["inputText"] as unknown as string],
  answer: ([embedding], inputTextTokenCount) => ({
    embedding,
    inputTextTokenCount,
    embeddingsByType: { float: embedding },
  }),
};

const cohereOnBedrock: EmbeddingWire = {
  ...cohere,
  type: "amazon_bedrock",
  model: "eu.cohere.embed-v4:0",
  path: "/model/eu.cohere.embed-v4%3A0/invoke",
  request: (texts) => ({ texts, input_type: "search_document", truncate: "NONE" }),
  answer: (vectors) => ({ id: "e1", embeddings: { float: vectors }, response_type: "embeddings_by_type" }),
  headers: { "x-amzn-bedrock-input-token-count": "7" },
};

const wires = { google, cohere, mistral, titan, cohereOnBedrock };

function embed(engine: Engine, model: string, call: Partial<EmbeddingCall> = {}): Promise<Embeddings> {
  const defaults = { inputs: ["a", "b"], dimensions: undefined, others: {}, signal: new AbortController().signal };
  return embedInPieces(engine.embeddings!(model)!, { ...defaults, ...call });
}

/** Answers each text with its number. */
const numbers =
  (wire: EmbeddingWire, length = 3): Reply =>
  (response, request) => {
    const texts = wire.textsOf(request.body!);
    const vectors = texts.map((text) => [Number(text.slice(1)), ...Array<number>(length - 1).fill(0.25)]);
    return json(wire.answer(vectors, texts.length), 200, wire.headers)(response, request);
  };

for (const [name, wire] of Object.entries(wires)) {
  const most = wire.most > 1 ? ["a", "b"] : ["a"];
  const vectors = most.map((_, index) => [index, 0.5, -0.5]);
  const opened = (url: string): Engine => openEngine(wire.type, url);

  describe(`embeddings: ${name}`, () => {
    test("asks for vectors, and returns them with the vendor's count of tokens", async () => {
      await using server = await startVendorServer();
      server.play(json(wire.answer(vectors, 7), 200, wire.headers));
      const engine = opened(server.url);
      const answer = await embed(engine, wire.model, { inputs: most, requestId: "req-1" });
      await engine.close();
      assert.deepEqual(answer, { vectors: vectors.map((each) => Float32Array.from(each)), tokens: 7 });
      const [request] = server.requests;
      assert.equal(request?.path, wire.path);
      assert.deepEqual(request.body, wire.request(most));
      assert.ok(Object.values(request.headers).some((value) => String(value).includes(apiKey)));
      assert.equal(request.headers["x-request-id"], "req-1");
    });

    test("divides long lists, and keeps their order", async () => {
      await using server = await startVendorServer();
      server.play(numbers(wire));
      const engine = opened(server.url);
      const count = wire.most * 3 + 1;
      const inputs = Array.from({ length: count }, (_, index) => `t${index}`);
      const answer = await embed(engine, wire.model, { inputs });
      await engine.close();
      assert.deepEqual(
        answer.vectors.map(([first]) => first),
        inputs.map((_, index) => index),
      );
      assert.equal(server.requests.length, 4);
      const sizes = server.requests.map(({ body }) => wire.textsOf(body!).length).sort((one, other) => other - one);
      assert.deepEqual(sizes, [wire.most, wire.most, wire.most, 1]);
    });

    test("reads large vectors, compressed or not", async () => {
      await using server = await startVendorServer();
      const large = most.map((_, index) => Array.from({ length: 3_072 }, (__, at) => Math.sin(at + index) / 50));
      const text = JSON.stringify(wire.answer(large, 3), undefined, 2);
      const engine = opened(server.url);
      for (const [encoding, body] of [
        ["identity", Buffer.from(text)],
        ["gzip", gzipSync(text)],
        ["br", brotliCompressSync(text)],
      ] as const) {
        server.play((response) => {
          response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
          response.end(body);
        });
        const answer = await embed(engine, wire.model, { inputs: most });
        assert.deepEqual(
          answer.vectors,
          large.map((each) => Float32Array.from(each)),
          encoding,
        );
      }
      await engine.close();
    });

    for (const [fault, body] of [
      ["no JSON", "<html>"],
      ["nothing", {}],
      ["no vectors", wire.answer([], 7)],
      [
        "an empty vector",
        wire.answer(
          most.map(() => []),
          7,
        ),
      ],
      [
        "text in a vector",
        wire.answer(
          most.map(() => [1, "NaN"]),
          7,
        ),
      ],
      [
        "null in a vector",
        wire.answer(
          most.map(() => [1, null]),
          7,
        ),
      ],
      [
        "numbers beyond 32-bit floats",
        wire.answer(
          most.map(() => [1, 1e300]),
          7,
        ),
      ],
      [
        "an index in place of a vector",
        JSON.stringify(
          wire.answer(
            most.map(() => [1, 2]),
            7,
          ),
        ).replaceAll("[1,2]", "1"),
      ],
      ...(wire.most > 1
        ? ([
            ["too few vectors", wire.answer([[1, 2]], 7)],
            ["too many vectors", wire.answer([[1], [2], [3]], 7)],
            ["vectors of two lengths", wire.answer([[1, 2], [1]], 7)],
          ] as const)
        : []),
    ] as const) {
      test(`fails if the vendor sends ${fault}`, async () => {
        await using server = await startVendorServer();
        server.play((response) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(typeof body === "string" ? body : JSON.stringify(body));
        });
        const engine = opened(server.url);
        await assert.rejects(embed(engine, wire.model, { inputs: most }), { code: "upstream_failed" });
        await engine.close();
      });
    }

    test("fails if the answer is cut, or its compression is broken", async () => {
      await using server = await startVendorServer();
      const text = Buffer.from(JSON.stringify(wire.answer(vectors, 7)));
      const engine = opened(server.url);
      server.play(bytes("application/json", [text.subarray(0, 20)], "cut"));
      await assert.rejects(embed(engine, wire.model, { inputs: most }), { code: "upstream_failed" });
      for (const broken of [text, gzipSync(text).subarray(0, 30)]) {
        server.play((response) => {
          response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
          response.end(broken);
        });
        await assert.rejects(embed(engine, wire.model, { inputs: most }), {
          code: "upstream_failed",
          message: /sent an invalid response/,
        });
      }
      await engine.close();
    });

    test("reports the vendor's errors", async () => {
      await using server = await startVendorServer();
      const engine = opened(server.url);
      for (const [status, code] of [
        [400, "invalid_request"],
        [401, "upstream_failed"],
        [404, "model_not_found"],
        [429, "rate_limited"],
        [500, "upstream_failed"],
        [503, "overloaded"],
      ] as const) {
        server.play(json({ message: `Failed with ${apiKey}.`, error: { message: `Failed with ${apiKey}.` } }, status));
        await assert.rejects(embed(engine, wire.model, { inputs: most }), (error: Error & { code: string }) => {
          assert.equal(error.code, code);
          assert.ok(!error.message.includes(apiKey));
          return true;
        });
      }
      await engine.close();
    });

    test("ends at the vendor when the caller leaves, after its time, and when the engine closes", async () => {
      await using server = await startVendorServer();
      const engine = opened(server.url);
      const leaving = new AbortController();
      server.play((response, request) => {
        leaving.abort();
        return silent(response, request);
      });
      await assert.rejects(embed(engine, wire.model, { inputs: most, signal: leaving.signal }), {
        code: "client_closed",
      });
      await server.requests[0]!.aborted;
      server.play(silent);
      const short = engine.embeddings!(wire.model, { total_timeout_ms: 40 })!;
      const call = { inputs: most, dimensions: undefined, others: {}, signal: new AbortController().signal };
      await assert.rejects(short.embed(call), { code: "upstream_timeout", message: /within 40 ms/ });
      server.play(() => void engine.close());
      await assert.rejects(embed(engine, wire.model, { inputs: most }), { code: "overloaded" });
    });

    test("refuses tokens and unknown parameters by name, and calls nobody", async () => {
      await using server = await startVendorServer();
      const engine = opened(server.url);
      const refused = (param: string) => ({ code: "unsupported_parameter", param });
      await assert.rejects(embed(engine, wire.model, { inputs: [[1, 2]] }), refused("input"));
      await assert.rejects(embed(engine, wire.model, { others: { prompt_type: "x" } }), refused("prompt_type"));
      await engine.close();
      assert.deepEqual(server.requests, []);
    });
  });
}

describe("the parameters of embeddings", () => {
  interface Case {
    readonly wire: EmbeddingWire;
    readonly model?: string;
    readonly given: Pick<Partial<EmbeddingCall>, "dimensions" | "others">;
    /** What is in the request; absent: the parameter is refused. */
    readonly sent?: object;
  }
  const titles: Record<string, Case> = {
    "Google's task": {
      wire: google,
      given: { others: { taskType: "CLUSTERING", absent: null } },
      sent: { taskType: "CLUSTERING" },
    },
    "Google's task of another name": { wire: google, given: { others: { taskType: "GUESSING" } } },
    "Google's dimensions": { wire: google, given: { dimensions: 3 }, sent: { outputDimensionality: 3 } },
    "Cohere's input type": {
      wire: cohere,
      given: { others: { input_type: "search_query", truncate: "END" } },
      sent: { input_type: "search_query", truncate: "END" },
    },
    "Cohere's input type of another name": { wire: cohere, given: { others: { input_type: "query" } } },
    "Cohere's dimensions": { wire: cohere, given: { dimensions: 256 }, sent: { output_dimension: 256 } },
    "other dimensions of Cohere": { wire: cohere, given: { dimensions: 100 } },
    "dimensions of Cohere's older models": { wire: cohere, model: "embed-english-v3.0", given: { dimensions: 256 } },
    "Mistral's dimensions": { wire: mistral, given: { dimensions: 256 } },
    "Codestral's dimensions": {
      wire: mistral,
      model: "codestral-embed-2505",
      given: { dimensions: 3 },
      sent: { output_dimension: 3 },
    },
    "Mistral's metadata": {
      wire: mistral,
      given: { others: { metadata: { a: "b" } } },
      sent: { metadata: { a: "b" } },
    },
    "Mistral's metadata that are none": { wire: mistral, given: { others: { metadata: "b".repeat(10_000) } } },
    "Mistral's type of numbers": { wire: mistral, given: { others: { output_dtype: "int8" } } },
    "Titan's dimensions": { wire: titan, given: { dimensions: 256 }, sent: { dimensions: 256 } },
    "other dimensions of Titan": { wire: titan, given: { dimensions: 100 } },
    "Titan's normalization": { wire: titan, given: { others: { normalize: false } }, sent: { normalize: false } },
    "dimensions of the first Titan": { wire: titan, model: "amazon.titan-embed-text-v1", given: { dimensions: 256 } },
    "normalization of the first Titan": {
      wire: titan,
      model: "amazon.titan-embed-text-v1",
      given: { others: { normalize: true } },
    },
    "Cohere's input type on Bedrock": {
      wire: cohereOnBedrock,
      given: { others: { input_type: "clustering" } },
      sent: { input_type: "clustering" },
    },
    "dimensions of an older Cohere on Bedrock": {
      wire: cohereOnBedrock,
      model: "cohere.embed-english-v3",
      given: { dimensions: 256 },
    },
  };
  for (const [title, { wire, model = wire.model, given, sent }] of Object.entries(titles)) {
    test(`${title}: ${sent === undefined ? "refused by name" : "sent"}`, async () => {
      await using server = await startVendorServer();
      server.play(numbers(wire, given.dimensions));
      const engine = openEngine(wire.type, server.url);
      const [param] = given.dimensions === undefined ? Object.keys(given.others!) : ["dimensions"];
      const embedding = embed(engine, model, { inputs: ["t1"], ...given });
      const isBrief = ({ message }: Error): boolean => message.length < 400;
      if (sent === undefined) {
        await assert.rejects(embedding, { code: "unsupported_parameter", param });
        await assert.rejects(embedding, isBrief);
      } else await embedding;
      await engine.close();
      assert.equal(server.requests.length, sent === undefined ? 0 : 1);
      for (const [name, value] of Object.entries(sent ?? {})) assert.deepEqual(server.requests[0]?.body?.[name], value);
    });
  }

  test("Nova gets its own, and is told not to cut texts", async () => {
    await using server = await startVendorServer();
    server.play(
      json({ embeddings: [{ embeddingType: "TEXT", embedding: Array<number>(256).fill(0.1) }], inputTokenCount: 4 }),
    );
    const engine = openEngine("amazon_bedrock", server.url);
    const model = "amazon.nova-2-multimodal-embeddings-v1:0";
    const others = { embeddingPurpose: "TEXT_RETRIEVAL" };
    const { tokens } = await embed(engine, model, { inputs: ["a"], dimensions: 256, others });
    await assert.rejects(embed(engine, model, { dimensions: 100 }), { param: "dimensions" });
    await engine.close();
    assert.equal(tokens, 4);
    assert.deepEqual(server.requests[0]?.body?.["singleEmbeddingParams"], {
      embeddingPurpose: "TEXT_RETRIEVAL",
      embeddingDimension: 256,
      text: { truncationMode: "NONE", value: "a" },
    });
  });

  test("shortened vectors are scaled to length 1", async () => {
    await using server = await startVendorServer();
    server.play(json(google.answer([[3, 4]], 1)));
    const engine = openEngine("google", server.url);
    const shortened = await embed(engine, google.model, { inputs: ["a"], dimensions: 2 });
    const whole = await embed(engine, google.model, { inputs: ["a"] });
    await engine.close();
    assert.deepEqual(shortened.vectors, [Float32Array.of(0.6, 0.8)]);
    assert.deepEqual(whole.vectors, [Float32Array.of(3, 4)]);
  });

  test("a vendor that ignores dimensions is found out", async () => {
    await using server = await startVendorServer();
    server.play(json(google.answer([[1, 2, 3]], 1)));
    const engine = openEngine("google", server.url);
    const ignored = embed(engine, google.model, { inputs: ["a"], dimensions: 2 });
    await assert.rejects(ignored, { code: "unsupported_parameter", param: "dimensions" });
    await engine.close();
  });
});

test("models are listed for embeddings by their names; Anthropic has none", async () => {
  const listed = {
    google: ["gemini-embedding-001", "gemini-2.5-flash"],
    cohere: ["embed-v4.0", "command-a-03-2025"],
    mistral: ["codestral-embed", "mistral-large-latest"],
    amazon_bedrock: ["amazon.titan-embed-text-v2:0", "amazon.nova-pro-v1:0"],
  } as const;
  for (const [type, [embeds, chats]] of Object.entries(listed)) {
    const engine = openEngine(type as VendorType, "http://127.0.0.1:9");
    assert.deepEqual([engine.listedFor!(embeds), engine.listedFor!(chats)], [["embeddings"], ["chat"]]);
    await engine.close();
  }
  const anthropic = openEngine("anthropic", "http://127.0.0.1:9");
  assert.equal(anthropic.embeddings!("claude-embed"), undefined);
  assert.deepEqual(anthropic.listedFor!("claude-embed"), ["chat"]);
  await anthropic.close();
});
