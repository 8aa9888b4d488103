/** `POST /v1/embeddings` with a vendor that has its own API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";

interface Asked {
  readonly requests: readonly { readonly content: { readonly parts: readonly { readonly text: string }[] } }[];
}

describe("embeddings of a vendor", () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => {
      const { requests } = exchange.json as Asked;
      const numbers = requests.map(({ content }) => Number(content.parts[0]!.text));
      exchange.answer({
        embeddings: numbers.map((number) => ({ values: [number, 0.5] })),
        usageMetadata: { promptTokenCount: numbers.length * 2 },
      });
    });
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(`
engines:
  gemini: { type: google, api_key: secret, base_url: "${upstream.url}/v1beta", models: [gemini-embedding-001, gemini-2.5-flash] }
  claude: { type: anthropic, api_key: secret, base_url: "${upstream.url}/v1", models: [claude-sonnet-4-5] }
`),
    );
  });

  test("are listed, and come in pieces whose tokens are added", async () => {
    const listed = (await (await server.call("/v1/models?capability=embeddings")).json()) as { data: { id: string }[] };
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      ["gemini-embedding-001"],
    );
    const input = Array.from({ length: 250 }, (_, index) => String(index));
    const response = await server.call("/v1/embeddings", { model: "gemini-embedding-001", input });
    const { data, usage } = (await response.json()) as {
      data: { embedding: number[] }[];
      usage: Record<string, unknown>;
    };
    assert.deepEqual(
      data.map(({ embedding }) => embedding),
      input.map((text) => [Number(text), 0.5]),
    );
    assert.deepEqual([usage["prompt_tokens"], usage["total_tokens"]], [500, 500]);
    assert.equal(upstream.exchanges.length, 3);
  });

  test("are refused for a vendor that has none, and for parameters that it does not have", async () => {
    const refusal = async (body: object): Promise<unknown[]> => {
      const response = await server.call("/v1/embeddings", { input: "1", ...body });
      const { error } = (await response.json()) as { error: Record<string, string> };
      return [response.status, error["param"], error["message"]];
    };
    assert.deepEqual(await refusal({ model: "claude-sonnet-4-5" }), [
      400,
      "model",
      'The model "claude-sonnet-4-5" does not embed texts.',
    ]);
    assert.deepEqual(await refusal({ model: "gemini-embedding-001", taskType: "GUESSING" }), [
      400,
      "taskType",
      'Google does not support taskType: its value is "GUESSING". Allowed are SEMANTIC_SIMILARITY, CLASSIFICATION, CLUSTERING, RETRIEVAL_DOCUMENT, RETRIEVAL_QUERY, QUESTION_ANSWERING, FACT_VERIFICATION, CODE_RETRIEVAL_QUERY.',
    ]);
    assert.deepEqual(await refusal({ model: "gemini-embedding-001", input: [[1, 2]] }), [
      400,
      "input",
      "Google does not support input: it has tokens. Send text.",
    ]);
  });
});
