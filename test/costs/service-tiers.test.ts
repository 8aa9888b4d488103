/** A call costs what its service tier costs, as the vendor's answer names it, in every API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream, type ScriptedExchange } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
const counts = { input_tokens: 1_000, output_tokens: 100 };
const named = (event: { readonly type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Processes every call in the tier that its user names. */
async function answer(exchange: ScriptedExchange): Promise<void> {
  const request = exchange.json as { user?: string; metadata?: { user_id?: string }; stream?: boolean };
  const tier = request.user ?? request.metadata?.user_id;
  const head = { id: `id_${exchange.index}`, model: "m", created: 1, service_tier: tier };
  if (exchange.path.endsWith("/compact")) {
    return exchange.answer({
      ...head,
      object: "response.compaction",
      output: [],
      usage: counts,
      service_tier: "default",
    });
  }
  const isStream = request.stream === true;
  if (isStream) exchange.beginEvents();
  if (exchange.path.endsWith("/responses")) {
    const response = { ...head, object: "response", created_at: 1, status: "completed", output: [], usage: counts };
    if (!isStream) return exchange.answer(response);
    const created = { ...response, status: "in_progress", service_tier: "auto", usage: null };
    await exchange.send(named({ type: "response.created", response: created } as never));
    await exchange.send(named({ type: "response.completed", response } as never));
  } else if (exchange.path.endsWith("/messages")) {
    const used = { ...counts, service_tier: tier };
    const message = {
      id: head.id,
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: "end_turn",
      usage: used,
    };
    if (!isStream) return exchange.answer(message);
    await exchange.send(named({ type: "message_start", message } as never));
    await exchange.send(
      named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 100 } } as never),
    );
    await exchange.send(named({ type: "message_stop" }));
  } else {
    const message = { role: "assistant", content: "Yes." };
    if (!isStream) {
      return exchange.answer({
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      });
    }
    const chunk = { ...head, object: "chat.completion.chunk" };
    await exchange.sendEvents(
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage },
      "[DONE]",
    );
  }
  exchange.end();
}

describe("a service tier", () => {
  let server: RunningServer;
  let sounding: AsyncSounding;
  beforeTests(async (stack) => {
    const upstream = stack.use(await startScriptedUpstream(answer));
    server = stack.use(
      await startServer(
        `engines:
  vendor: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m], wires: [responses, messages] }
telemetry:
  token_prices: { m: { input: 3, output: 15, service_tiers: { flex: { input: 1.5, output: 7.5 }, priority: { input: 6, output: 30 } } } }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  });

  const messages = [{ role: "user", content: "Hello?" }];
  for (const [api, path, bodyFor] of [
    ["chat completions", "/v1/chat/completions", (user: string) => ({ messages, user })],
    ["responses", "/v1/responses", (user: string) => ({ input: "Hello?", user })],
    ["messages", "/v1/messages", (user_id: string) => ({ messages, max_tokens: 100, metadata: { user_id } })],
  ] as const) {
    for (const stream of [false, true]) {
      test(`of ${api} ${stream ? "as a stream " : ""}is the one that the vendor names`, async () => {
        for (const [tier, cost, price] of [
          ["flex", 0.002_25, "configured m flex"],
          ["priority", 0.009, "configured m priority"],
          ["default", 0.004_5, "configured m"],
        ] as const) {
          const { traceId, headers } = newTrace();
          const answered = await server.call(path, { model: "m", stream, ...bodyFor(tier) }, headers);
          const text = await answered.text();
          assert.equal(answered.status, 200, text);
          if (!stream) assert.equal(answered.headers.get("x-cost"), String(cost));
          const [span] = await spansOf(sounding, traceId, 1);
          const attributes = attributesOf(span!);
          assert.deepEqual([attributes["gen_ai.usage.cost"], attributes["sounding.price"]], [cost, price]);
        }
      });
    }
  }

  test("is the usual one where a conversation is compacted, which costs what others do", async () => {
    const { traceId, headers } = newTrace();
    const answered = await server.call("/v1/responses/compact", { model: "m", input: "Hello?", user: "ada" }, headers);
    const { usage: told } = (await answered.json()) as { usage: { cost?: number } };
    assert.deepEqual([answered.headers.get("x-cost"), told.cost], ["0.0045", 0.0045]);
    const [span] = await spansOf(sounding, traceId, 1);
    const attributes = attributesOf(span!);
    assert.deepEqual(
      ["gen_ai.usage.cost", "gen_ai.usage.output_tokens", "user.id"].map((name) => attributes[name]),
      [0.004_5, "100", "ada"],
    );
  });

  test("is shown with its prices", async () => {
    const { data } = await sounding.models.prices({ model: "m" });
    const { input, output } = data[0]!.prices[0]!.service_tiers["flex"]![0]!;
    assert.deepEqual([input, output], [1.5, 7.5]);
  });
});
