/** Metrics pushed by applications fill in if no span has the same data, under the names of span metrics. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SeriesRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const minuteMs = 60_000;
const nowMs = Date.now();
let server: MetricsServer;

/** A counter or a histogram of a process that began half an hour ago. */
function pushed(
  metric: string,
  attributes: Record<string, string>,
  more: Partial<SeriesRow> & { amounts: number[] },
): SeriesRow {
  const { amounts, ...row } = more;
  const point = { timeMs: nowMs - minuteMs, startMs: nowMs - 30 * minuteMs };
  const sum = amounts.reduce((left, right) => left + right, 0);
  const counts = [1, 10].map(
    (bound, index, bounds) => amounts.filter((each) => each <= bound && each > (bounds[index - 1] ?? -1)).length,
  );
  return {
    metric,
    type: "histogram",
    unit: "s",
    service: "pusher",
    attributes,
    points: [{ ...point, count: amounts.length, sum, bounds: [1, 10], counts: [...counts, 0] }],
    ...row,
  };
}

const chat = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.provider.name": "openai" };
const duration = "gen_ai.client.operation.duration";
const usage = "gen_ai.client.token.usage";

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  await appendSeries(server.store, "org_a", [
    pushed(duration, chat, { amounts: [0.5, 0.7, 5] }),
    pushed(duration, { ...chat, "error.type": "timeout" }, { amounts: [10] }),
    pushed(duration, { ...chat, "error.type": "boom", "gen_ai.conversation.id": "s9" }, { amounts: [10] }),
    pushed(duration, chat, { amounts: [0.1, 0.1], service: "traced" }),
    pushed(duration, { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "ada" }, { amounts: [2, 2] }),
    pushed(duration, { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search" }, { amounts: [1, 1, 1] }),
    pushed(usage, { ...chat, "gen_ai.token.type": "input" }, { amounts: [100, 50], unit: "{token}" }),
    pushed(
      usage,
      { ...chat, "gen_ai.token.type": "output" },
      { amounts: [7], unit: "{token}", type: "exponential_histogram" },
    ),
    pushed(usage, { ...chat, "gen_ai.token.type": "input" }, { amounts: [9], unit: "{token}", service: "traced" }),
    pushed("gen_ai.client.operation.time_to_first_chunk", chat, { amounts: [0.5] }),
    // A metric that is not a counter of seconds counts nothing.
    pushed(duration, chat, { amounts: [700], unit: "ms", service: "other" }),
    {
      ...pushed("inference.requests", { ...chat, "gen_ai.request.model": "own" }, { amounts: [], service: "namesake" }),
      type: "sum",
      monotonic: true,
      unit: "{request}",
      points: [{ timeMs: nowMs - minuteMs, startMs: nowMs - 30 * minuteMs, value: 4 }],
    },
  ]);
  await appendSpans(server.store, "org_a", [
    { endMs: nowMs - minuteMs, model: "gpt", service: "traced", inputTokens: 3, durationMs: 1000 },
    { endMs: nowMs - minuteMs, model: "llama", service: "traced", inputTokens: 3, durationMs: 1000 },
  ]);
});

async function preset(parameters: object): Promise<Record<string, number>> {
  const { body, status } = await server.preset({ ...parameters });
  assert.equal(status, 200, JSON.stringify(body));
  return Object.fromEntries(
    body.data.result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
      Object.values(metric).join(" "),
      Math.round(Number(value[1]) * 1e6) / 1e6,
    ]),
  );
}

describe("OpenTelemetry's GenAI metrics fill in", () => {
  for (const [parameters, expected] of [
    // 3 + 1 + 1 of the pushing service, 4 of the one with the same name, and 2 spans of the traced service, whose pushed series do not count.
    [{ metric: "inference_requests_total" }, { "": 11 }],
    [{ metric: "inference_requests_total", model_key: "gpt" }, { "": 6 }],
    [{ metric: "inference_requests_total", model_key: "own" }, { "": 4 }],
    [{ metric: "inference_requests_total", model_key: "llama" }, { "": 1 }],
    [{ metric: "inference_requests_total", session_id: "s9" }, { "": 1 }],
    [{ metric: "inference_active_model_count" }, { "": 3 }],
    [{ metric: "inference_error_rate", model_key: "gpt" }, { "": 0.333333 }],
    [{ metric: "average_response_time", model_key: "gpt" }, { "": (0.5 + 0.7 + 5 + 10 + 10 + 1) / 6 }],
    [{ metric: "inference_time_to_first_token", percentile: "100" }, { "": 1 }],
    [
      { metric: "token_consumption", model_key: "gpt" },
      { "gpt input": 153, "gpt output": 7 },
    ],
    [{ metric: "agent_task_total" }, { "ada success": 2 }],
    [{ metric: "agent_latency", percentile: "100" }, { ada: 10 }],
    [{ metric: "agent_tool_calls_total" }, { "success search": 3 }],
  ] as const) {
    test(JSON.stringify(parameters), async () => {
      const seen = await preset(parameters);
      const rounded = Object.entries(expected).map(([labels, value]) => [labels, Math.round(value * 1e6) / 1e6]);
      assert.deepEqual(seen, Object.fromEntries(rounded));
    });
  }

  test("and are unchanged under their own names", async () => {
    const query = encodeURIComponent("sum(gen_ai_client_operation_duration_seconds_count)");
    const { body } = await server.get(`/prometheus/api/v1/query?query=${query}&time=${nowMs / 1000}`);
    assert.equal(body.data.result[0].value[1], "12");
  });

  test("only for the organization that pushed them", async () => {
    const { body } = await server.preset({ metric: "inference_requests_total" }, "org_b");
    assert.deepEqual(body.data.result, []);
  });
});
