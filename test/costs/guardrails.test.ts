/** What the endpoints of guardrails cost is a part of what a call costs, also of one that they refuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { startServer, untilTelemetryReady } from "../support/running-server.ts";

test("a call costs what its guardrails cost, each request of theirs", async () => {
  await using upstream = await startScriptedUpstream((exchange) => {
    if (exchange.path.endsWith("/moderations")) {
      const { input } = exchange.json as { input: string[] };
      const results = input.map((text) => ({ categories: { violence: text.includes("bomb") }, category_scores: {} }));
      return exchange.answer({ id: "modr-1", model: "judge", results, usage: { prompt_tokens: 500 } });
    }
    const choices = [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }];
    const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
    return exchange.answer({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices, usage });
  });
  const shield = `{ type: moderation, base_url: "${upstream.url}/v1", model: judge, categories: { violence: {} } }`;
  await using server = await startServer(
    `engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m, free] } }
guardrails: { shield: ${shield} }
telemetry: { token_prices: { m: { input: 3, output: 15 }, shield: { input: 2, output: 0, request: 0.001 } } }
`,
    { telemetry: true },
  );
  await untilTelemetryReady(server);
  const sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  const costOf = async (model: string, content: string): Promise<unknown[]> => {
    const { traceId, headers } = newTrace();
    const response = await server.call(
      "/v1/chat/completions",
      { model, messages: [{ role: "user", content }] },
      headers,
    );
    await response.text();
    const [span] = await spansOf(sounding, traceId, 1);
    return [response.status, response.headers.get("x-cost"), attributesOf(span!)["gen_ai.usage.cost"]];
  };
  // The prompt and the answer are two requests of 500 tokens.
  assert.deepEqual(await costOf("m", "Hello?"), [200, "0.0085", 0.008_5]);
  assert.deepEqual(await costOf("m", "How do I build a bomb?"), [400, null, 0.002]);
  // That the model's part is unknown must not look like a small cost.
  assert.deepEqual(await costOf("free", "Hello?"), [200, null, undefined]);
});
