/** What cached prompts cost: in traces, conversations and metrics, of spans of applications and of Sounding's own calls. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "./support/hooks.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const inputTokens = 130_213;
const cacheRead = 128_955;
const cacheWrite = 1_253;
/** What Anthropic charges for it. */
const charged = 0.050_900_25;
const model = "claude-sonnet-4-5";

const completion = {
  id: "chatcmpl-0123456789abcdef",
  object: "chat.completion",
  created: 1,
  model,
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: {
    prompt_tokens: inputTokens,
    completion_tokens: 500,
    total_tokens: inputTokens + 500,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
  },
};

const close = (actual: number | null | undefined, expected: number): void =>
  assert.ok(Math.abs((actual ?? 0) - expected) < 1e-9, `${actual} is not ${expected}`);

describe("the cost of cached prompts", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    const upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
    stack.defer(() => upstream.close());
    const engine = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [${model}] }`;
    const prices = `{ ${model}: { input: 3, output: 15 } }`;
    server = stack.use(
      await startServer(`engines: { gpu: ${engine} }\ntelemetry: { token_prices: ${prices} }\n`, { telemetry: true }),
    );
    await untilTelemetryReady(server);
  });

  const read = async <Body>(path: string, body: object): Promise<Body> => {
    const response = await server.call(path, body);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Body;
  };

  for (const [name, project, attributes] of [
    [
      "OpenTelemetry's names",
      "conventions",
      {
        "gen_ai.usage.cache_read.input_tokens": BigInt(cacheRead),
        "gen_ai.usage.cache_creation.input_tokens": BigInt(cacheWrite),
      },
    ],
    [
      "OpenInference's names",
      "openinference",
      {
        "llm.token_count.prompt_details.cache_read": BigInt(cacheRead),
        "llm.token_count.prompt_details.cache_write": BigInt(cacheWrite),
      },
    ],
  ] as const) {
    test(`is what the vendor charges, for spans with ${name}`, async () => {
      const span = {
        traceId: Buffer.from(project.padEnd(16, "x").slice(0, 16)).toString("hex"),
        spanId: "b7ad6b7169203331",
        name: `chat ${model}`,
        startUnixNano: BigInt(Date.now() - 60_000) * 1_000_000n,
        duration: 1_000_000_000n,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": model,
          "gen_ai.conversation.id": `of ${project}`,
          "gen_ai.usage.input_tokens": BigInt(inputTokens),
          "gen_ai.usage.output_tokens": 500n,
          ...attributes,
        },
      };
      await otlpSender(server.url, server.key).spans({ "service.name": "agent", "project.name": project }, [span]);
      await assertCost(project);
      const { data } = await read<{ data: { cost: number; cache_read_tokens: number }[] }>(
        "/observability/conversations",
        { project_name: project },
      );
      close(data[0]?.cost, charged);
      assert.equal(data[0]?.cache_read_tokens, cacheRead);
    });
  }

  test("is what the vendor charges, for calls through Sounding", async () => {
    const chat = { model, messages: [{ role: "user", content: "Hello?" }] };
    assert.equal((await server.call("/v1/chat/completions", chat)).status, 200);
    for (;;) {
      const query = { trace: "inference_traces", project_name: "default" };
      const { traces } = await read<{ traces: unknown[] }>("/observability/traces", query);
      if (traces.length > 0) break;
    }
    await assertCost("default");
  });

  async function assertCost(project: string): Promise<void> {
    for (const detail of [true, false]) {
      const query = { trace: "inference_traces", project_name: project, detail };
      const { traces } = await read<{ traces: { summary: { cost: number; models: object[] } }[] }>(
        "/observability/traces",
        query,
      );
      close(traces[0]?.summary.cost, charged);
      const tokens = { inputTokens, outputTokens: 500, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite };
      assert.deepEqual(traces[0]?.summary.models, [{ model, calls: 1, ...tokens }]);
    }
    const { data } = await read<{ data: { result: { value: [number, string] }[] } }>("/observability/metrics", {
      metric: "token_cost",
      project_name: project,
      time_window: "1h",
    });
    close(Number(data.result[0]?.value[1]), charged);
    const cached = `sum by (token_type) (increase(cached_token_usage_total{project_name="${project}"}[1h]))`;
    const response = await server.call(`/prometheus/api/v1/query?query=${encodeURIComponent(cached)}`);
    const answer = (await response.json()) as {
      data: { result: { metric: { token_type: string }; value: [number, string] }[] };
    };
    assert.deepEqual(
      Object.fromEntries(answer.data.result.map(({ metric, value }) => [metric.token_type, Number(value[1])])),
      { cache_read: cacheRead, cache_write: cacheWrite },
    );
  }
});
