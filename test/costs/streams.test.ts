/** What streams tell of their cost, to the vendors' own clients; and what is recorded of streams and attempts that fail. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { AsyncSounding } from "@sounding/client";
import OpenAI from "openai";
import { startScriptedUpstream, type ScriptedExchange } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, callSpanOf, newTrace } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

/** $3 and $15 for a million tokens: 1,000 and 100 tokens are $0.0045. */
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
const total = 0.004_5;
const costMembers = {
  cost: total,
  cost_details: { upstream_inference_prompt_cost: 0.003, upstream_inference_completions_cost: 0.001_5 },
};
const head = { id: "chatcmpl-1", created: 1, model: "m", object: "chat.completion.chunk" };
const text = (content: string, finish: string | null = null): object => ({
  ...head,
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});

const responseUsage = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 100,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_100,
};
const response = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [], parallel_tool_calls: true };
const messageStart = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 1 },
  },
};
const messageText = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes." } };
const named = (event: { readonly type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Answers each model in its way, in all three APIs. */
async function answer(exchange: ScriptedExchange): Promise<void> {
  const { model } = exchange.json as { model: string };
  if (model === "malformed") return exchange.answer({ ...head, object: "chat.completion", choices: [], usage });
  if (model === "second") {
    const choices = [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }];
    return exchange.answer({ ...head, object: "chat.completion", choices, usage });
  }
  exchange.beginEvents();
  if (exchange.path.endsWith("/responses")) {
    await exchange.send(
      named({
        type: "response.created",
        sequence_number: 0,
        response: { ...response, status: "in_progress" },
      } as never),
    );
    const status = model === "failing" ? "failed" : "completed";
    const error = model === "failing" ? { code: "server_error", message: "Sorry." } : null;
    await exchange.send(
      named({
        type: `response.${status}`,
        sequence_number: 1,
        response: { ...response, status, error, usage: responseUsage },
      } as never),
    );
  } else if (exchange.path.endsWith("/messages")) {
    await exchange.send(
      [messageStart, { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, messageText]
        .map(named)
        .join(""),
    );
    if (model === "endless") return exchange.closed;
    const ending = {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 100 },
    };
    await exchange.send(
      [{ type: "content_block_stop" as const, index: 0 }, ending, { type: "message_stop" }].map(named).join(""),
    );
  } else {
    await exchange.sendEvents(text("Yes, ".repeat(20)));
    if (model === "endless") return exchange.closed;
    if (model === "silent") await exchange.sendEvents(text("", "stop"), "[DONE]");
    else await exchange.sendEvents(text("", "stop"), { ...head, choices: [], usage }, "[DONE]");
  }
  exchange.end();
}

describe("a stream", () => {
  let server: RunningServer;
  let sounding: AsyncSounding;
  beforeTests(async (stack) => {
    const upstream = await startScriptedUpstream(answer);
    stack.defer(() => upstream.close());
    const models = "[m, endless, silent, failing, malformed, second]";
    const engine = (wires: string): string =>
      `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: ${models}, wires: ${wires} }`;
    const price = "{ input: 3, output: 15 }";
    const names = ["m", "endless", "silent", "failing", "malformed", "second"];
    const prices = names.map((name) => `${name}: ${price}`).join(", ");
    server = stack.use(
      await startServer(
        `engines:
  native: ${engine("[responses, messages]")}
  plain: ${engine("[]")}
models:
  translated: { targets: [{ engine: plain, model: m }] }
  twice:
    targets: [{ engine: plain, model: malformed }]
    fallbacks: [fallback]
    retries: { attempts: 0 }
  fallback: { targets: [{ engine: plain, model: second }] }
  ${["m", "endless", "silent", "failing"].map((name) => `${name}: { targets: [{ engine: native, model: ${name} }] }`).join("\n  ")}
telemetry: { token_prices: { ${prices}, translated: ${price}, twice: ${price}, fallback: { input: 6, output: 30 } } }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  });
  const messages = [{ role: "user" as const, content: "Hello?" }];

  for (const model of ["m", "translated"]) {
    test(`of the Responses API tells its cost at its end (${model})`, async () => {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key });
      let last: unknown;
      for await (const event of await client.responses.create({ model, input: "Hello?", stream: true }))
        if (event.type === "response.completed") last = event.response.usage;
      assert.deepEqual(last, { ...responseUsage, ...costMembers });
    });

    test(`of the Messages API tells its cost with the usage of the whole message (${model})`, async () => {
      const client = new Anthropic({ baseURL: server.url, apiKey: server.key });
      const told: unknown[] = [];
      const stream = client.messages.stream({ model, messages, max_tokens: 100 });
      stream.on("streamEvent", (event) => {
        if (event.type === "message_start") assert.ok(!("cost" in event.message.usage));
        if (event.type === "message_delta") told.push(event.usage);
      });
      const message = await stream.finalMessage();
      assert.equal(message.usage.output_tokens, 100);
      const [{ cost, cost_details }] = told as [typeof costMembers];
      assert.deepEqual({ cost, cost_details }, costMembers);
    });
  }

  const spanOf = async (path: string, body: object, read: (response: Response) => Promise<unknown>) => {
    const { traceId, headers } = newTrace();
    const leave = new AbortController();
    const answered = await fetch(`${server.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json", ...headers },
      signal: leave.signal,
    });
    await read(answered);
    leave.abort();
    return { traceId, attributes: attributesOf(await callSpanOf(sounding, traceId)) };
  };
  const firstPiece = async (answered: Response): Promise<void> => {
    const reader = answered.body!.getReader();
    await reader.read();
  };

  test("that its client leaves costs the prompt and what was received, marked as an estimate", async () => {
    const body = { model: "endless", messages, stream: true };
    const { attributes } = await spanOf("/v1/chat/completions", body, firstPiece);
    assert.equal(attributes["error.type"], "client_closed");
    assert.equal(attributes["sounding.usage.estimated"], true);
    const input = Number(attributes["gen_ai.usage.input_tokens"]);
    assert.equal(input, Math.ceil(JSON.stringify(body).length / 4));
    // A hundred characters in one chunk.
    assert.equal(Number(attributes["gen_ai.usage.output_tokens"]), 25);
    assert.equal(attributes["gen_ai.usage.cost"], Math.round(input * 3_000 + 25 * 15_000) / 1e9);
    assert.equal(attributes["sounding.price"], "configured endless");
  });

  test("that its client leaves costs the prompt as the engine counted it, if it said so at the beginning", async () => {
    const body = { model: "endless", messages, max_tokens: 100, stream: true };
    const { attributes } = await spanOf("/v1/messages", body, firstPiece);
    assert.equal(attributes["sounding.usage.estimated"], true);
    assert.equal(Number(attributes["gen_ai.usage.input_tokens"]), 1_000);
    assert.ok(Number(attributes["gen_ai.usage.output_tokens"]) >= 1);
  });

  test("without a reported usage has an estimated cost", async () => {
    const body = { model: "silent", messages, stream: true };
    const { attributes } = await spanOf("/v1/chat/completions", body, (answered) => answered.text());
    assert.equal(attributes["error.type"], undefined);
    assert.equal(attributes["sounding.usage.estimated"], true);
    assert.ok(Number(attributes["gen_ai.usage.cost"]) > 0);
  });

  test("that the vendor ends with a failure costs what the vendor reported", async () => {
    const body = { model: "failing", input: "Hello?", stream: true };
    const { attributes } = await spanOf("/v1/responses", body, (answered) => answered.text());
    assert.equal(attributes["error.type"], "upstream_failed");
    assert.equal(attributes["sounding.usage.estimated"], undefined);
    assert.equal(attributes["gen_ai.usage.cost"], total);
  });

  test("or batch after an attempt that was charged costs both attempts, each at its own price", async () => {
    let told: unknown;
    let header: string | null = null;
    const { attributes, traceId } = await spanOf(
      "/v1/chat/completions",
      { model: "twice", messages },
      async (answered) => {
        told = ((await answered.json()) as { usage: { cost: number } }).usage.cost;
        header = answered.headers.get("x-cost");
      },
    );
    const both = 0.0135;
    assert.deepEqual([told, header, attributes["gen_ai.usage.cost"]], [both, "0.0135", both]);
    // Traces agree, although they know the requested model only.
    const { traces } = await sounding.traces.query({ trace: "all_traces", trace_id: traceId });
    assert.equal(traces[0]?.summary.cost, both);
  });
});
