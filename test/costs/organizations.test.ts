/** An organization with prices of its own pays those, in every place that computes a cost; others do not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { BudgetTenant, type Key } from "../budgets/budget-tenant.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { otlpSender } from "../support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const completion = {
  id: "chatcmpl-1",
  created: 1,
  model: "m",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
};
const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 100 };

describe("prices of an organization", () => {
  let server: RunningServer;
  let own: BudgetTenant;
  let other: BudgetTenant;
  let ownKey: Key;
  let otherKey: Key;
  beforeTests(async (stack) => {
    const upstream = stack.use(await startScriptedUpstream((exchange) => exchange.answer(completion)));
    server = stack.use(
      await startServer(
        `
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m, both] } }
telemetry:
  token_prices: { gpu/m: { input: 10, output: 10 }, both: { input: 1, output: 1 } }
  organization_prices: { "Acme Inc.": { m: { input: 1, output: 2 } } }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    own = await BudgetTenant.create(server, "Acme Inc.");
    other = await BudgetTenant.create(server);
    ownKey = await own.key();
    otherKey = await other.key();
  });
  const clientOf = ({ secret }: Key): AsyncSounding =>
    new AsyncSounding({ apiKey: secret, baseUrl: server.url, maxRetries: 0 });

  test("are those of its calls, and say so in their spans", async () => {
    for (const [tenant, key, cost, price] of [
      [own, ownKey, "0.0012", "organization m"],
      [other, otherKey, "0.011", "configured gpu/m"],
    ] as const) {
      const { headers, traceId } = newTrace();
      const response = await tenant.call(key, "/v1/chat/completions", chat, { headers });
      assert.equal(response.headers.get("x-cost"), cost, await response.text());
      const [span] = await spansOf(clientOf(key), traceId, 1);
      assert.equal(attributesOf(span!)["sounding.price"], price);
    }
  });

  test("are listed for its keys, next to the prices of everyone", async () => {
    const pricesOf = async (key: Key) => {
      const { data } = await clientOf(key).models.prices();
      return data
        .filter(({ engine }) => engine === "gpu")
        .map(({ model, name, prices, source }) => [model, source, name, prices[0]?.tokens[0]?.input]);
    };
    const both = ["both", "configured", "both", 1];
    assert.deepEqual(await pricesOf(ownKey), [both, ["m", "organization", "m", 1]]);
    assert.deepEqual(await pricesOf(otherKey), [both, ["m", "configured", "gpu/m", 10]]);
  });

  test("are what its budgets reserve", async () => {
    // A call may cost 0.00025 at its own prices, and 0.00125 at those of everyone.
    const budget = { name: "small", amount: 0.001 };
    await own.budget(budget);
    await other.budget(budget);
    assert.equal(await own.status(ownKey, "/v1/chat/completions", chat), 200);
    assert.equal(await other.status(otherKey, "/v1/chat/completions", chat), 429);
  });

  test("are those of calls that its applications report", async () => {
    for (const [key, cost] of [
      [ownKey, 0.0012],
      [otherKey, null],
    ] as const) {
      const { traceId } = newTrace();
      const started = BigInt(Date.now() - 60_000) * 1_000_000n;
      await otlpSender(server.url, key.secret).spans({ "service.name": "agent" }, [
        {
          traceId,
          spanId: "b7ad6b7169203331",
          name: "chat",
          startUnixNano: started,
          duration: 1_000_000_000n,
          attributes: {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 1_000n,
            "gen_ai.usage.output_tokens": 100n,
          },
        },
      ]);
      const { traces } = await clientOf(key).traces.query({ trace: "all_traces", trace_id: traceId });
      assert.equal(traces[0]?.summary?.cost ?? null, cost);
    }
  });
});
