import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMetricPresets } from "../../src/query/metrics/presets/metric-presets.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SeriesRow, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests, useAll } from "../../../../test/support/hooks.ts";

const nowMs = Math.floor(Date.now() / 1000) * 1000;

/** The same names for every organization, with different numbers. */
function spansOf(scale: number): SpanRow[] {
  return Array.from({ length: 4 * scale }, (_, index) => ({
    endMs: nowMs - index * 60_000 - 1000,
    durationMs: 100 * scale,
    operation: ["chat", "invoke_agent", "execute_tool", "speech"][index % 4]!,
    model: "gpt",
    agentName: "ada",
    sessionId: "s1",
    inputTokens: scale,
    attributes: { "sounding.speech.characters": String(scale), organization_id: "org_a", "organization.id": "org_a" },
  }));
}

function seriesOf(scale: number): SeriesRow[] {
  const point = { timeMs: nowMs - 1000, startMs: nowMs - 60_000 };
  return [
    {
      metric: "m",
      type: "sum",
      monotonic: true,
      attributes: { organization_id: "org_a" },
      points: [{ ...point, value: scale }],
    },
    {
      metric: "h",
      type: "histogram",
      points: [{ ...point, count: scale, sum: scale, bounds: [1], counts: [scale, 0] }],
    },
  ];
}

let both: MetricsServer;
let alone: MetricsServer;

beforeTests(async (stack) => {
  [both, alone] = await useAll(stack, [startMetricsServer(), startMetricsServer()]);
  for (const server of [both, alone]) {
    await appendSpans(server.store, "org_a", spansOf(1));
    await appendSeries(server.store, "org_a", seriesOf(1));
  }
  await appendSpans(both.store, "org_b", spansOf(5));
  await appendSeries(both.store, "org_b", seriesOf(5));
  await appendSeries(both.store, "org_b", [{ metric: "secret", type: "gauge", points: [{ timeMs: nowMs, value: 1 }] }]);
});

describe("another organization's data changes no answer", () => {
  const range = `start=${nowMs / 1000 - 600}&end=${nowMs / 1000}&step=60`;
  const paths = [
    ...[
      "m_total",
      '{__name__=~".+"}',
      'sum by (organization_id, exported_organization_id) ({__name__!=""})',
      "increase(m_total[5m])",
      "secret",
      "quantile(scalar(secret), m_total)",
      "sum by (session_id) (increase(inference_requests_total[5m]))",
      "histogram_quantile(0.5, sum by (le) (rate(agent_duration_seconds_bucket[5m])))",
      'inference_requests_total{organization_id=~".*"}',
      'token_usage_total{organization_id="org_b"}',
      "target_info",
      "absent(secret)",
      "max_over_time(sum(m_total)[5m:1m])",
    ].map((query) => `query_range?${range}&query=${encodeURIComponent(query)}`),
    "labels",
    "label/__name__/values",
    "label/model_key/values",
    "series?match[]={__name__=~%22.%2B%22}",
    "metadata",
  ];
  for (const path of paths) {
    test(decodeURIComponent(path), async () => {
      const [left, right] = await Promise.all([both, alone].map((server) => server.get(`/prometheus/api/v1/${path}`)));
      assert.equal(left!.status, 200, JSON.stringify(left!.body));
      assert.deepEqual(left, right);
      assert.ok(!JSON.stringify(left!.body).includes("secret"));
    });
  }

  for (const { name } of createMetricPresets({ ratesOf: () => ({}), configured: {} }).all) {
    if (name === "token_cost") continue;
    test(`the metric ${name}`, async () => {
      const numbers = await Promise.all(
        [both, alone].map(async (server) => {
          const { body, status } = await server.preset({ metric: name, time_window: "1h" });
          assert.equal(status, 200);
          return body.data.result.map((each: { metric: object; value: [number, string] }) => [
            each.metric,
            each.value[1],
          ]);
        }),
      );
      assert.deepEqual(numbers[0], numbers[1]);
    });
  }
});
