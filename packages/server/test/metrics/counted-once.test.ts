/** A model call that several spans report counts once, by rows whose keys connect them as the writers of rows do. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowMs = Math.floor(Date.now() / 1000) * 1000;
/** The boundary between two steps of a matrix. */
const edgeMs = nowMs - 1_800_000;

const own: SpanRow = {
  endMs: nowMs - 60_000,
  service: "sounding",
  model: "assistant",
  inputTokens: 12,
  outputTokens: 5,
  served: true,
};
const client: SpanRow = {
  endMs: nowMs - 59_000,
  service: "support-bot",
  model: "assistant",
  agentName: "ada",
  agentClass: "ToolUseAgent",
  sessionId: "s1",
  inputTokens: 11,
  outputTokens: 4,
};

let server: MetricsServer;
beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
});

let organizations = 0;

/** Each test has its own organization. */
async function organizationWith(...rows: readonly SpanRow[]): Promise<string> {
  const organization = `org_${(organizations += 1)}`;
  await appendSpans(server.store, organization, rows);
  return organization;
}

async function preset(organization: string, query: Record<string, unknown>): Promise<unknown> {
  const { body, status } = await server.preset({ time_window: "1h", ...query }, organization);
  assert.equal(status, 200, JSON.stringify(body));
  const { result } = body.data as {
    result: { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }[];
  };
  return result.map(({ metric, value, values }) => [metric, value?.[1] ?? values!.map(([, each]) => each)]);
}

async function promql(organization: string, query: string): Promise<unknown> {
  const path = `/prometheus/api/v1/query?time=${nowMs / 1000}&query=${encodeURIComponent(query)}`;
  const { body, status } = await server.get(path, organization);
  assert.equal(status, 200, JSON.stringify(body));
  const { result } = body.data as { result: { metric: Record<string, string>; value: [number, string] }[] };
  return result.map(({ metric, value }) => [metric, value[1]]);
}

const requests = { metric: "inference_requests_total" };

describe("a call with Sounding's span and the application's", () => {
  for (const [connection, keys] of [
    ["the response ID", [{ responseKey: 7n }, { responseKey: 7n }]],
    ["the HTTP request", [{ requestKey: 8n }, { requestKey: 8n }]],
    ["the HTTP request, while only one has a response ID", [{ responseKey: 9n, requestKey: 8n }, { requestKey: 8n }]],
  ] as const) {
    test(`counts once, with Sounding's numbers, if they have ${connection} in common`, async () => {
      const organization = await organizationWith({ ...own, ...keys[0] }, { ...client, ...keys[1] });
      assert.deepEqual(await preset(organization, requests), [[{}, "1"]]);
      assert.deepEqual(await promql(organization, "sum by (token_type) (increase(token_usage_total[1h]))"), [
        [{ token_type: "input" }, "12"],
        [{ token_type: "output" }, "5"],
      ]);
      assert.deepEqual(await preset(organization, { metric: "inference_model_usage" }), [
        [{ model_key: "assistant" }, String(1 / 3600)],
      ]);
    });
  }

  test("has the labels that only the application knows, as a filter, in groups and in series", async () => {
    const organization = await organizationWith({ ...own, responseKey: 7n }, { ...client, responseKey: 7n });
    assert.deepEqual(await preset(organization, { metric: "token_consumption", agent_name: "ada" }), [
      [{ model_key: "assistant", agent_class: "ToolUseAgent", token_type: "input" }, "12"],
      [{ model_key: "assistant", agent_class: "ToolUseAgent", token_type: "output" }, "5"],
    ]);
    assert.deepEqual(await preset(organization, { ...requests, session_id: "s1" }), [[{}, "1"]]);
    assert.deepEqual(await preset(organization, { ...requests, session_id: "s2" }), []);
    assert.deepEqual(await preset(organization, { metric: "session_requests" }), [[{}, "1"]]);
    const grouped = "sum by (service_name, session_id) (increase(inference_requests_total[1h]))";
    assert.deepEqual(await promql(organization, grouped), [[{ service_name: "support-bot", session_id: "s1" }, "1"]]);
    assert.deepEqual(await promql(organization, "count(last_over_time(inference_requests_total[1h]))"), [[{}, "1"]]);
    const services = "/prometheus/api/v1/label/service_name/values?match[]=inference_requests_total";
    const { body } = await server.get(services, organization);
    assert.deepEqual(body.data, ["support-bot"]);
  });

  test("counts once where windows divide its spans", async () => {
    const organization = await organizationWith(
      { ...own, endMs: edgeMs - 1, responseKey: 7n },
      { ...client, endMs: edgeMs + 2000, responseKey: 7n },
    );
    const times = `start=${(nowMs - 3_600_000) / 1000}&end=${nowMs / 1000}&step=60`;
    for (const query of [
      "sum(increase(inference_requests_total[1m]))",
      "sum(increase(inference_requests_total[1m]) + 0)",
      'sum(increase(inference_requests_total{agent_name="ada"}[1m]))',
    ]) {
      const path = `/prometheus/api/v1/query_range?${times}&query=${encodeURIComponent(query)}`;
      const { body } = await server.get(path, organization);
      const values = (body.data.result[0].values as [number, string][]).filter(([, value]) => value !== "0");
      assert.deepEqual(values, [[edgeMs / 1000, "1"]], query);
    }
  });

  test("counts in the project of Sounding's span, and has the application's labels if both have one project", async () => {
    const organization = await organizationWith(
      { ...own, project: "gateway", responseKey: 7n },
      { ...client, project: "desk", responseKey: 7n },
    );
    assert.deepEqual(await preset(organization, requests), [[{}, "1"]]);
    assert.deepEqual(await preset(organization, { ...requests, project_name: "gateway" }), [[{}, "1"]]);
    assert.deepEqual(await preset(organization, { ...requests, project_name: "desk" }), []);
    assert.deepEqual(await preset(organization, { ...requests, agent_name: "ada" }), []);
  });

  test("counts once when the application's span arrives later", async () => {
    const organization = await organizationWith({ ...own, responseKey: 7n });
    const before = await preset(organization, requests);
    await appendSpans(server.store, organization, [{ ...client, responseKey: 7n }]);
    assert.deepEqual([before, await preset(organization, requests)], [[[{}, "1"]], [[{}, "1"]]]);
  });

  test("counts once if the application also pushes metrics about it", async () => {
    const organization = await organizationWith({ ...own, responseKey: 7n }, { ...client, responseKey: 7n });
    await appendSeries(server.store, organization, [
      {
        metric: "gen_ai.client.operation.duration",
        type: "histogram",
        unit: "s",
        service: "support-bot",
        attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "assistant" },
        points: [
          { timeMs: nowMs - 1_000_000, startMs: nowMs - 2_000_000, count: 0, sum: 0, bounds: [1], counts: [0, 0] },
          { timeMs: nowMs - 1000, startMs: nowMs - 2_000_000, count: 1, sum: 1, bounds: [1], counts: [1, 0] },
        ],
      },
    ]);
    assert.deepEqual(await preset(organization, requests), [[{}, "1"]]);
    assert.deepEqual(await promql(organization, "count(last_over_time(inference_requests_total[1h]))"), [[{}, "1"]]);
  });

  test("counts a refusal once", async () => {
    const refused = { errorType: "content_filter", responseKey: 7n };
    const organization = await organizationWith({ ...own, ...refused }, { ...client, ...refused });
    assert.deepEqual(await preset(organization, { metric: "rai_rejection_total" }), [[{ category: "unknown" }, "1"]]);
  });
});

describe("a call counts by the application's span", () => {
  test("if Sounding did not serve it", async () => {
    const organization = await organizationWith({ ...client, responseKey: 7n }, { ...own, responseKey: 8n });
    assert.deepEqual(await preset(organization, requests), [[{}, "2"]]);
  });

  test("if another organization's call has the same response ID", async () => {
    const organization = await organizationWith({ ...client, responseKey: 7n, requestKey: 9n });
    await organizationWith({ ...own, responseKey: 7n, requestKey: 9n });
    assert.deepEqual(await preset(organization, requests), [[{}, "1"]]);
  });

  test("if another application's span claims to be Sounding's", async () => {
    const claim = { ...own, served: false, attributes: { "sounding.request.id": "r", "sounding.engine": "e" } };
    const organization = await organizationWith({ ...claim, responseKey: 7n }, { ...client, responseKey: 7n });
    assert.deepEqual(await preset(organization, requests), [[{}, "2"]]);
  });
});

test("calls without keys count each, Sounding's and others", async () => {
  const organization = await organizationWith(own, own, client, client);
  assert.deepEqual(await preset(organization, requests), [[{}, "4"]]);
});
