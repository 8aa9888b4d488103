/** Published prices: which calls have them without configuration, and what the server says of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding, type PriceList } from "@sounding/client";
import { runSounding } from "../../packages/cli/test/run-sounding.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

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
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
};

describe("published prices", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) =>
      exchange.answer(exchange.path.endsWith("/messages") ? message : completion),
    );
    stack.defer(() => upstream.close());
    server = stack.use(await startServer(configuration(), { telemetry: true }));
    await untilTelemetryReady(server);
  });
  const configuration = (telemetry = "token_prices: { ours: { input: 1, output: 2 }, gpt-4o-mini: {} }"): string =>
    `engines:
  claude: { type: anthropic, api_key: sk-x, base_url: "${upstream.url}/v1", models: [claude-sonnet-4-5, claude-next] }
  gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [gpt-4o, ours, gpt-4o-mini] }
aliases: { best: claude/claude-sonnet-4-5 }
telemetry: { ${telemetry} }
`;
  const costOf = async (running: RunningServer, model: string): Promise<string | null> => {
    const response = await running.call("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] });
    assert.equal(response.status, 200, await response.clone().text());
    return response.headers.get("x-cost");
  };

  test("are those of the vendor behind an engine", async () => {
    assert.equal(await costOf(server, "claude-sonnet-4-5"), "0.0045");
    assert.equal(await costOf(server, "best"), "0.0045");
  });

  test("are unknown for models that the table lacks, and for a server that is nobody's, whatever its models are called", async () => {
    assert.equal(await costOf(server, "claude-next"), null);
    assert.equal(await costOf(server, "gpt-4o"), null);
  });

  test("give way to configured ones, which may be the published ones", async () => {
    assert.equal(await costOf(server, "ours"), "0.0012");
    assert.equal(await costOf(server, "gpt-4o-mini"), "0.00021");
  });

  test("are named in the span, with their day", async () => {
    const { traceId, headers } = newTrace();
    const call = { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "Hi" }] };
    assert.equal((await server.call("/v1/chat/completions", call, headers)).status, 200);
    const sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url });
    const [span] = await spansOf(sounding, traceId, 1);
    assert.equal(attributesOf(span!)["sounding.price"], "published anthropic/claude-sonnet-4-5 2026-09-23");
  });

  test("do not count if the configuration says so", async () => {
    await using off = await startServer(
      configuration("published_prices: false, token_prices: { ours: { published: gpt-4o } }"),
    );
    assert.equal(await costOf(off, "claude-sonnet-4-5"), null);
    assert.equal(await costOf(off, "ours"), "0.0035");
    const { data, published } = (await (await off.call("/v1/prices?model=claude-sonnet-4-5")).json()) as PriceList;
    assert.equal(published, null);
    assert.deepEqual([data[0]?.source, data[0]?.reason], ["unknown", "telemetry.published_prices is false."]);
  });

  test("do not count in another currency", async () => {
    await using euros = await startServer(
      configuration("currency: EUR, token_prices: { ours: { input: 1, output: 2 } }"),
    );
    assert.equal(await costOf(euros, "claude-sonnet-4-5"), null);
    assert.equal(await costOf(euros, "ours"), "0.0012");
    const { currency, data } = (await (await euros.call("/v1/prices?model=claude-sonnet-4-5")).json()) as PriceList;
    assert.equal(currency, "EUR");
    assert.equal(
      data[0]?.reason,
      "Vendors publish in USD, and telemetry.currency is EUR, without a rate in telemetry.exchange_rates.",
    );
    await assert.rejects(startServer(configuration("currency: EUR, token_prices: { gpt-4o: {} }")), {
      message:
        "telemetry.token_prices.gpt-4o: published prices are in US dollars, and telemetry.currency is another one; set input and output, or telemetry.exchange_rates.USD.",
    });
  });

  test("need a currency that exists", async () => {
    await assert.rejects(startServer(configuration("currency: QQQ")), {
      message: 'telemetry.currency is "QQQ"; expected a code of ISO 4217, such as EUR.',
    });
  });

  test("are listed with their source, or why there are none", async () => {
    const list = (await (await server.call("/v1/prices")).json()) as PriceList;
    assert.deepEqual([list.currency, list.published], ["USD", { version: "0.1.8", date: "2026-09-23" }]);
    assert.deepEqual(
      list.data
        .filter(({ engine }) => engine === "claude" || engine === "gpu")
        .map(({ engine, model, name, reason, source }) => [model, engine, source, name ?? reason]),
      [
        ["best", "claude", "published", "anthropic/claude-sonnet-4-5"],
        ["claude-next", "claude", "unknown", "The table has no price of claude-next at anthropic."],
        ["claude-sonnet-4-5", "claude", "published", "anthropic/claude-sonnet-4-5"],
        ["gpt-4o", "gpu", "unknown", "No vendor is known for the engine gpu."],
        ["gpt-4o-mini", "gpu", "configured", "gpt-4o-mini"],
        ["ours", "gpu", "configured", "ours"],
      ],
    );
    const [first, second] = list.data[0]!.prices[0]!.tokens;
    assert.deepEqual([first?.above, first?.input, first?.cache_write_1h], [0, 3, 6]);
    assert.deepEqual([second?.above, second?.input], [200_000, 6]);
  });

  test("of one model or alias can be asked for; other models are an error", async () => {
    const one = (await (await server.call("/v1/prices?model=best")).json()) as PriceList;
    assert.deepEqual(
      one.data.map(({ model }) => model),
      ["best"],
    );
    const missing = await server.call("/v1/prices?model=nothing");
    assert.equal(missing.status, 404);
  });

  test("are shown only of models that the organization may call", async () => {
    const operator = async (path: string, body: object): Promise<Record<string, string>> => {
      const headers = { authorization: `Bearer ${server.operatorKey}` };
      const response = await server.call(`/admin/v1${path}`, body, headers);
      assert.ok(response.ok, await response.clone().text());
      return (await response.json()) as Record<string, string>;
    };
    const { id } = await operator("/organizations", { name: "small", allowed_models: ["ours"] });
    const key = await operator("/keys", { organization_id: id, name: "k" });
    const headers = { authorization: `Bearer ${key["secret"]}` };
    const list = (await (await server.call("/v1/prices", undefined, headers)).json()) as PriceList;
    assert.deepEqual(
      list.data.map(({ model }) => model),
      ["ours"],
    );
    for (const model of ["gpt-4o", "claude/claude-sonnet-4-5", "best", "nothing"]) {
      const refused = await server.call(`/v1/prices?model=${encodeURIComponent(model)}`, undefined, headers);
      assert.equal(refused.status, 403, model);
    }
    assert.equal((await fetch(`${server.url}/v1/prices`)).status, 401);
  });

  test("are shown by `sounding prices`", async () => {
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key };
    const all = await runSounding(["prices"], { env });
    assert.equal(all.code, 0, all.stderr);
    assert.match(all.stdout, /^MODEL +ENGINE +INPUT +CACHED +OUTPUT +PRICE\n/);
    assert.match(all.stdout, /^claude-sonnet-4-5 +claude +3 +0\.3 +15 +published: anthropic\/claude-sonnet-4-5$/m);
    assert.match(all.stdout, /^gpt-4o +gpu +- +- +- +unknown: No vendor is known for the engine gpu\.$/m);
    assert.match(
      all.stdout,
      /\nPrices are in USD\. Published prices are those of genai-prices 0\.1\.8, 2026-09-23\.\n$/,
    );
    const one = await runSounding(["prices", "best"], { env });
    assert.equal(one.code, 0, one.stderr);
    assert.match(one.stdout, /^best at claude: published: anthropic\/claude-sonnet-4-5\n/);
    assert.match(one.stdout, /^1,000,000 tokens, written to a cache for an hour, prompts above 200,000 +12 USD +now$/m);
    const missing = await runSounding(["prices", "nothing"], { env });
    assert.notEqual(missing.code, 0);
    const json = await runSounding(["prices", "--json", "ours"], { env });
    assert.equal((JSON.parse(json.stdout) as PriceList).data[0]?.source, "configured");
  });
});
