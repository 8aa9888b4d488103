import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { completeRates } from "../../src/pricing/model-price.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSpans, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const minuteMs = 60_000;

/** All ended within the last hour, except the first. */
function knownSpans(nowMs: number): SpanRow[] {
  const at = (minutes: number): number => nowMs - minutes * minuteMs;
  const ada = { agentName: "ada", agentClass: "ToolUseAgent" };
  return [
    { endMs: at(90), model: "old-model", inputTokens: 1000 },
    { endMs: at(50), durationMs: 1000, model: "gpt", inputTokens: 100, outputTokens: 10, sessionId: "s1", ...ada },
    { endMs: at(40), durationMs: 2000, model: "gpt", inputTokens: 200, outputTokens: 20, sessionId: "s1", ...ada },
    { endMs: at(40), durationMs: 3000, model: "llama", inputTokens: 50, sessionId: "s2", project: "billing" },
    { endMs: at(5), durationMs: 4000, model: "llama", errorType: "timeout", sessionId: "s2" },
    { endMs: at(4), operation: "invoke_agent", durationMs: 8000, sessionId: "s1", ...ada },
    { endMs: at(3), operation: "invoke_agent", durationMs: 8000, ...ada },
    { endMs: at(2), operation: "invoke_agent", errorType: "boom", durationMs: 2000, ...ada },
    { endMs: at(2), operation: "invoke_agent", errorType: "TimeoutError", agentName: "bob" },
    { endMs: at(2), operation: "execute_tool", attributes: { "gen_ai.tool.name": "search" }, ...ada },
    { endMs: at(2), operation: "execute_tool", attributes: { "gen_ai.tool.name": "search" }, ...ada },
    { endMs: at(2), operation: "execute_tool", errorType: "x", attributes: { "gen_ai.tool.name": "search" }, ...ada },
    { endMs: at(1), errorType: "content_filter", model: "gpt", attributes: { "rai.category": "hate" } },
    {
      endMs: at(1),
      operation: "speech",
      model: "flite",
      attributes: { "sounding.speech.characters": "120", "gen_ai.request.voice": "slt" },
    },
    {
      endMs: at(1),
      operation: "transcription",
      model: "sphinx",
      durationMs: 5000,
      attributes: { "sounding.audio.duration": "20" },
    },
  ];
}

let server: MetricsServer;

beforeTests(async (stack) => {
  server = stack.use(
    await startMetricsServer({
      ratesOf: () => ({
        gpt: completeRates({ input: 2, output: 10, cacheRead: 0.5, cacheWrite: 3 }),
        llama: completeRates({ input: 1, output: 1 }),
      }),
      configured: {
        hot_models: {
          query:
            'topk(1, sum by (model_key) (increase(inference_requests_total{model_key="$model_key",service_name=~"$project_name"}[range()])))',
        },
      },
    }),
  );
  await appendSpans(server.store, "org_a", knownSpans(Date.now()));
});

/** Labels to numbers. */
async function vectorOf(parameters: Record<string, unknown>, key?: string): Promise<Record<string, number>> {
  const { body, status } = await server.preset(parameters, key);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.data.resultType, "vector");
  return Object.fromEntries(
    body.data.result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
      Object.values(metric).join(" "),
      Number(value[1]),
    ]),
  );
}

describe("presets over known spans", () => {
  for (const [parameters, expected] of [
    [{ metric: "inference_requests_total" }, { "": 7 }],
    [{ metric: "inference_requests_total", time_window: "2h" }, { "": 8 }],
    [{ metric: "inference_requests_total", model_key: "gpt" }, { "": 3 }],
    [{ metric: "inference_requests_total", project_name: "billing" }, { "": 1 }],
    [{ metric: "inference_requests_total", session_id: "s1" }, { "": 2 }],
    [{ metric: "inference_requests_total", agent_class: "ToolUseAgent" }, { "": 2 }],
    [{ metric: "inference_active_model_count" }, { "": 4 }],
    [{ metric: "active_model_count" }, { "": 4 }],
    [{ metric: "inference_model_usage", model_key: "llama" }, { llama: 2 / 3600 }],
    [{ metric: "inference_error_rate" }, { "": 2 / 7 }],
    [{ metric: "inference_error_rate", session_id: "s1" }, { "": 0 }],
    [{ metric: "inference_request_rate_min" }, { "": 7 / 60 }],
    [{ metric: "average_response_time", model_key: "llama" }, { "": 3.5 }],
    [{ metric: "inference_latency", percentile: "0.5", model_key: "llama" }, { "": 3.2 }],
    [{ metric: "response_time_performance", percentile: "50", model_key: "llama" }, { "": 3.2 }],
    [
      { metric: "token_consumption" },
      { "ToolUseAgent gpt input": 300, "ToolUseAgent gpt output": 30, "llama input": 50 },
    ],
    [{ metric: "token_cost" }, { gpt: (300 * 2 + 30 * 10) / 1e6, llama: 50 / 1e6 }],
    [{ metric: "token_cost", model_key: "free" }, {}],
    [{ metric: "agent_task_total" }, { "ToolUseAgent ada success": 2 }],
    [{ metric: "agent_task_total", status: "failure" }, { "ToolUseAgent ada failure": 1 }],
    [{ metric: "agent_task_total", status: "timeout" }, { "bob timeout": 1 }],
    [{ metric: "agent_performance_rate" }, { "ToolUseAgent ada": 2 / 3, bob: 0 }],
    [{ metric: "agent_performance_rate", agent_name: "bob", status: "timeout" }, { bob: 1 }],
    [{ metric: "agent_latency", percentile: "1" }, { "ToolUseAgent ada": 8 }],
    [{ metric: "agent_active_count" }, { "": 1 }],
    [{ metric: "agent_tool_calls_total" }, { "ada success search": 2 }],
    [{ metric: "rai_rejection_total" }, { hate: 1 }],
    [{ metric: "rai_rejection_total", category: "violence" }, {}],
    [{ metric: "session_total" }, { "": 2 }],
    [{ metric: "session_requests" }, { "": 2 }],
    [{ metric: "session_duration", session_id: "s2" }, { "": 35 * 60 + 3 }],
    [{ metric: "speech_characters_total" }, { "flite slt": 120 }],
    [{ metric: "transcription_audio_seconds_total" }, { sphinx: 20 }],
    [{ metric: "transcription_realtime_factor" }, { sphinx: 0.25 }],
    [{ metric: "hot_models" }, { gpt: 3 }],
    [{ metric: "hot_models", model_key: "llama" }, { llama: 2 }],
    [{ metric: "inference_requests_total", model_key: 'x"} or up{a="' }, {}],
  ] as const) {
    test(JSON.stringify(parameters), async () => {
      const seen = await vectorOf(parameters);
      assert.deepEqual(Object.keys(seen).sort(), Object.keys(expected).sort());
      for (const [labels, value] of Object.entries(expected)) {
        assert.ok(Math.abs(seen[labels]! - value) <= 1e-9 * Math.abs(value), `${labels}: ${seen[labels]} not ${value}`);
      }
    });
  }
});

describe("a metric over time", () => {
  test("has a value for each step, which add up to the window's value", async () => {
    const { body } = await server.preset({ metric: "inference_requests_total", step: "15m" });
    assert.equal(body.data.resultType, "matrix");
    assert.match(body.query, /\[15m\]/);
    const [series] = body.data.result;
    const numbers = series.values.map(([, value]: [number, string]) => Number(value));
    assert.deepEqual(numbers, [1, 2, 0, 4]);
    const times = series.values.map(([seconds]: [number, string]) => seconds);
    assert.ok(times.slice(1).every((time: number, index: number) => Math.abs(time - times[index] - 900) < 1e-6));
  });

  test("ends with the current minute, but not later where the window is short", async () => {
    const lastMsOf = async (parameters: object): Promise<number> => {
      const { body } = await server.preset({ metric: "inference_requests_total", ...parameters });
      return body.data.result[0].values.at(-1)[0] * 1000;
    };
    const beforeMs = Date.now();
    assert.equal((await lastMsOf({ step: "15m" })) % 60_000, 0);
    const dayMs = await lastMsOf({ step: "1d", time_window: "2h" });
    assert.ok(dayMs >= beforeMs && dayMs <= Date.now() + 60_000);
    const shortMs = await lastMsOf({ step: "5m", time_window: "10m" });
    assert.ok(shortMs >= beforeMs && shortMs <= Date.now());
  });

  test("ends at the given time", async () => {
    const all = await server.preset({ metric: "inference_requests_total", step: "15m", time_window: "1h" });
    const [series] = all.body.data.result;
    const end = new Date(series.values[1][0] * 1000).toISOString();
    const { body } = await server.preset({ metric: "inference_requests_total", step: "15m", time_window: "30m", end });
    assert.deepEqual(body.data.result[0].values, series.values.slice(0, 2));
  });

  for (const step of [null, ""]) {
    test(`has steps of an hour when step is ${JSON.stringify(step)}`, async () => {
      const { body } = await server.preset({ metric: "inference_requests_total", step, time_window: "2h" });
      assert.equal(body.data.resultType, "matrix");
      assert.deepEqual(
        body.data.result[0].values.map(([, value]: [number, string]) => value),
        ["1", "7"],
      );
    });
  }

  test("of more than 11 000 points is refused", async () => {
    const { body, status } = await server.preset({ metric: "session_total", step: "1m", time_window: "30d" });
    assert.equal(status, 400);
    assert.equal(body.error.param, "step");
  });
});

describe("what a preset refuses", () => {
  for (const [parameters, param, message] of [
    [{ metric: "nothing" }, "metric", /"inference_requests_total".*"active_model_count"/],
    [
      { metric: "inference_latency", category: "hate" },
      "category",
      /it supports organization_id, project_name, service_name, agent_name/,
    ],
    [{ metric: "inference_requests_total", percentile: "0.5" }, "percentile", /does not support the filter percentile/],
    [{ metric: "inference_latency", percentile: "101" }, "percentile", /"101"; expected a number from 0 to 1/],
    [{ metric: "inference_latency", percentile: "p95" }, "percentile", /"p95"/],
    [{ metric: "inference_latency", time_window: "1q" }, "time_window", /"1q"/],
    [{ metric: "inference_latency", step: "15" }, "step", /"15"/],
    [{ metric: "agent_task_total", status: "good" }, "status", /good/],
    [{ time_window: "1h" }, "metric", /metric/],
  ] as const) {
    test(JSON.stringify(parameters), async () => {
      const { body, status } = await server.preset(parameters);
      assert.equal(status, 400);
      assert.equal(body.error.param, param);
      assert.match(body.error.message, message);
    });
  }

  test("another organization", async () => {
    assert.equal((await server.preset({ metric: "session_total", organization_id: "org_b" })).status, 403);
  });

  test("a project other than the key's", async () => {
    const { status } = await server.preset({ metric: "session_total", project_name: "default" }, "org_a:billing");
    assert.equal(status, 403);
  });
});

test("a key that is bound to a project sees only that project", async () => {
  assert.deepEqual(await vectorOf({ metric: "inference_requests_total" }, "org_a:billing"), { "": 1 });
});

test("another organization sees nothing", async () => {
  assert.deepEqual(await vectorOf({ metric: "inference_requests_total" }, "org_b"), {});
});
