/** Prices in several currencies: costs, budgets and spend are in one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding, type PriceList } from "@sounding/client";
import { runSounding } from "../../packages/cli/test/run-sounding.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
};
const message = {
  id: "msg_01",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content: [{ type: "text", text: "Yes." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1_000, output_tokens: 100 },
};

/** Every server has models of its own. */
const isConfigured = ({ engine }: PriceList["data"][number]): boolean => engine === "claude" || engine === "gpu";

describe("prices in another currency", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) =>
      exchange.answer(exchange.path.endsWith("/messages") ? message : completion),
    );
    stack.defer(() => upstream.close());
    const prices =
      "token_prices: { euros: { currency: EUR, input: 2.2, output: 10 }, dollars: { input: 2.2, output: 10 } }";
    server = stack.use(
      await startServer(configuration(`exchange_rates: { EUR: 1.1 }, ${prices}`), { telemetry: true }),
    );
    await untilTelemetryReady(server);
  });
  const configuration = (telemetry: string): string =>
    `engines:
  claude: { type: anthropic, api_key: sk-x, base_url: "${upstream.url}/v1", models: [claude-sonnet-4-5] }
  gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [euros, dollars] }
telemetry: { ${telemetry} }
`;
  const call = async (running: RunningServer, model: string, headers: Record<string, string> = {}) => {
    const request = { model, messages: [{ role: "user", content: "Hi" }] };
    const response = await running.call("/v1/chat/completions", request, headers);
    assert.equal(response.status, 200, await response.clone().text());
    const { usage } = (await response.json()) as { usage: { cost?: number; cost_details?: unknown } };
    return { header: response.headers.get("x-cost"), cost: usage.cost, details: usage.cost_details };
  };

  test("are converted before a call is priced", async () => {
    const { headers, traceId } = newTrace();
    assert.deepEqual(await call(server, "euros", headers), {
      header: "0.00352",
      cost: 0.003_52,
      details: { upstream_inference_prompt_cost: 0.002_42, upstream_inference_completions_cost: 0.001_1 },
    });
    assert.equal((await call(server, "dollars")).header, "0.0032");
    const sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url });
    const [span] = await spansOf(sounding, traceId, 1);
    assert.equal(attributesOf(span!)["sounding.price"], "configured euros EUR 1.1");
  });

  test("are listed with both amounts", async () => {
    const { currency, data } = (await (await server.call("/v1/prices")).json()) as PriceList;
    assert.equal(currency, "USD");
    const shown = data
      .filter(isConfigured)
      .map(({ model, prices: [price] }) => [model, price?.tokens[0]?.input, price?.converted_from]);
    assert.deepEqual(shown, [
      ["claude-sonnet-4-5", 3, null],
      ["dollars", 2.2, null],
      ["euros", 2.42, { currency: "EUR", exchange_rate: 1.1 }],
    ]);
    const env = { SOUNDING_API_KEY: server.key, SOUNDING_BASE_URL: server.url };
    assert.match((await runSounding(["prices"], { env })).stdout, /configured: euros \(1 EUR = 1\.1\)/);
    const { stdout } = await runSounding(["prices", "euros"], { env });
    assert.match(stdout, /1,000,000 tokens, input +2\.42 USD \(2\.2 EUR\)/);
    assert.match(stdout, /1,000,000 tokens, output +11 USD \(10 EUR\)/);
  });

  test("can be the published ones, where costs are not in dollars", async () => {
    await using euros = await startServer(configuration("currency: EUR, exchange_rates: { USD: 0.9 }"));
    assert.equal((await call(euros, "claude-sonnet-4-5")).header, "0.00405");
    const { currency, data, published } = (await (
      await euros.call("/v1/prices?model=claude-sonnet-4-5")
    ).json()) as PriceList;
    const [price] = data[0]!.prices;
    assert.deepEqual([currency, published !== null, price?.tokens[0]?.input], ["EUR", true, 2.7]);
    assert.deepEqual(price?.converted_from, { currency: "USD", exchange_rate: 0.9 });
  });

  test("complete configured ones with the vendor's shares", async () => {
    const prices =
      "token_prices: { euros: { published: claude-sonnet-4-5, input: 2, output: 8 }, dollars: { published: gpt-4o, currency: USD } }";
    await using euros = await startServer(configuration(`currency: EUR, exchange_rates: { USD: 0.9 }, ${prices}`));
    const { data } = (await (await euros.call("/v1/prices")).json()) as PriceList;
    assert.deepEqual(
      data
        .filter(isConfigured)
        .map(({ model, prices: [price] }) => [
          model,
          price?.tokens[0]?.input,
          price?.tokens[0]?.cache_read,
          price?.converted_from?.currency,
        ]),
      [
        ["claude-sonnet-4-5", 2.7, 0.27, "USD"],
        ["dollars", 2.25, 1.125, "USD"],
        ["euros", 2, 0.2, undefined],
      ],
    );
  });

  test("need a rate", async () => {
    await assert.rejects(
      startServer(configuration("token_prices: { euros: { currency: EUR, input: 1, output: 1 } }")),
      {
        message:
          "telemetry.token_prices.euros.currency is EUR, and telemetry.currency is USD; set telemetry.exchange_rates.EUR to what one EUR is in USD.",
      },
    );
    await assert.rejects(
      startServer(configuration("token_prices: { euros: { currency: QQQ, input: 1, output: 1 } }")),
      {
        message: 'telemetry.token_prices.euros.currency is "QQQ"; expected a code of ISO 4217, such as EUR.',
      },
    );
  });
});
