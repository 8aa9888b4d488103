/** What a call cost: in its answer, in its header and in its span, in every API that has tokens. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import OpenAI from "openai";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "./support/call-spans.ts";
import { beforeTests } from "./support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const usage = {
  prompt_tokens: 130_213,
  completion_tokens: 500,
  total_tokens: 130_713,
  prompt_tokens_details: { cached_tokens: 128_955, cache_write_tokens: 1_253 },
};
/** Anthropic's prices of claude-sonnet-4-5: 5 uncached tokens, 128,955 read and 1,253 written. */
const input = 0.043_400_25;
const output = 0.007_5;
const total = 0.050_900_25;
const costMembers = {
  cost: total,
  cost_details: { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: output },
};

const model = "claude-sonnet-4-5";
const head = { id: "chatcmpl-1", created: 1, model };
const completion = {
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage,
};
const chunk = (members: object): object => ({ ...head, object: "chat.completion.chunk", choices: [], ...members });

const prices = `{ ${model}: { input: 3, output: 15 }, embedder: { input: 0.1, output: 0 } }`;
const messages = [{ role: "user" as const, content: "Hello?" }];

describe("the cost of a call", () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(async (exchange) => {
      const request = JSON.parse(exchange.body.toString()) as { model: string; stream?: boolean };
      if (exchange.path.endsWith("/embeddings")) {
        const data = [{ object: "embedding", index: 0, embedding: [1, 0] }];
        exchange.answer({ object: "list", data, model: "embedder", usage: { prompt_tokens: 7, total_tokens: 7 } });
      } else if (request.stream === true) {
        exchange.beginEvents();
        const content = chunk({ choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }] });
        await exchange.sendEvents(content, chunk({ usage }), "[DONE]");
        exchange.end();
      } else exchange.answer({ ...completion, model: request.model });
    });
    stack.defer(() => upstream.close());
    server = stack.use(await startServer(configuration(""), { telemetry: true }));
    await untilTelemetryReady(server);
  });

  const configuration = (settings: string): string =>
    `engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [${model}, embedder, free] } }
telemetry: { token_prices: ${prices}${settings} }
`;
  const client = ({ url, key }: RunningServer): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key });

  test("is in the answer of a chat, and in its header", async () => {
    const { data, response } = await client(server).chat.completions.create({ model, messages }).withResponse();
    assert.deepEqual(data.usage, { ...usage, ...costMembers });
    assert.equal(response.headers.get("x-cost"), "0.05090025");
  });

  test("is in the usage of a stream", async () => {
    const options = { model, messages, stream: true, stream_options: { include_usage: true } } as const;
    let last: unknown;
    for await (const { usage: told } of await client(server).chat.completions.create(options)) last = told;
    assert.deepEqual(last, { ...usage, ...costMembers });
  });

  for (const [path, body] of [
    ["/v1/responses", { model, input: "Hello?" }],
    ["/v1/messages", { model, messages, max_tokens: 500 }],
  ] as const) {
    test(`is in the answer of ${path}`, async () => {
      const response = await server.call(path, body);
      const answer = (await response.json()) as { usage: { cost: number; cost_details: object } };
      assert.equal(response.status, 200, JSON.stringify(answer));
      const { cost, cost_details } = answer.usage;
      assert.deepEqual({ cost, cost_details }, costMembers);
      assert.equal(response.headers.get("x-cost"), "0.05090025");
    });
  }

  test("of embeddings is that of their input, without an exponent in the header", async () => {
    const response = await server.call("/v1/embeddings", { model: "embedder", input: "Hello" });
    const answer = (await response.json()) as { usage: object };
    assert.deepEqual(answer.usage, {
      prompt_tokens: 7,
      total_tokens: 7,
      cost: 7e-7,
      cost_details: { upstream_inference_prompt_cost: 7e-7, upstream_inference_completions_cost: 0 },
    });
    assert.equal(response.headers.get("x-cost"), "0.0000007");
  });

  test("is not told of a model without a price", async () => {
    const response = await server.call("/v1/chat/completions", { model: "free", messages });
    const answer = (await response.json()) as { usage: object };
    assert.deepEqual(answer.usage, usage);
    assert.equal(response.headers.get("x-cost"), null);
  });

  test("is in the spans of calls", async () => {
    const sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
    for (const [path, body, cost] of [
      ["/v1/chat/completions", { model, messages }, total],
      ["/v1/messages", { model, messages, max_tokens: 500, stream: true }, total],
      ["/v1/embeddings", { model: "embedder", input: "Hello" }, 7e-7],
      ["/v1/chat/completions", { model: "free", messages }, undefined],
    ] as const) {
      const { traceId, headers } = newTrace();
      await (await server.call(path, body, headers)).text();
      const [span] = await spansOf(sounding, traceId, 1);
      assert.equal(attributesOf(span!)["gen_ai.usage.cost"], cost, path);
    }
  });

  test("is not in answers if the configuration says so", async () => {
    await using strict = await startServer(configuration(", cost_in_answers: false"));
    const { data, response } = await client(strict).chat.completions.create({ model, messages }).withResponse();
    assert.deepEqual(data.usage, usage);
    assert.equal(response.headers.get("x-cost"), null);
  });
});
