/** Metrics under the names of Tempo's generator: spans by name, and requests between services. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSpans } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
/** OTLP SpanKind. */
const [serverKind, client, producer, consumer] = [2, 3, 4, 5];
const trace = "a".repeat(32);
const span = (digit: string): string => digit.repeat(16);

let server: MetricsServer;
beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  const at = { operation: "", endMs: nowMs - 1000, traceId: trace };
  // Sent twice: the sender received no answer.
  await appendSpans(
    server.store,
    "org_a",
    [
      { ...at, service: "web", name: "GET /", kind: serverKind, spanId: span("1"), durationMs: 900 },
      {
        ...at,
        service: "web",
        name: "call",
        kind: client,
        spanId: span("2"),
        parentSpanId: span("1"),
        durationMs: 400,
      },
      {
        ...at,
        service: "shop",
        name: "POST /buy",
        kind: serverKind,
        spanId: span("3"),
        parentSpanId: span("2"),
        durationMs: 300,
        errorType: "500",
      },
      {
        ...at,
        service: "shop",
        name: "SELECT",
        kind: client,
        spanId: span("4"),
        parentSpanId: span("3"),
        attributes: { "db.system": "postgresql" },
      },
      { ...at, service: "shop", name: "send", kind: producer, spanId: span("5"), parentSpanId: span("3") },
      { ...at, service: "mail", name: "receive", kind: consumer, spanId: span("6"), parentSpanId: span("5") },
      { ...at, service: "mail", operation: "chat", provider: "openai", kind: client, parentSpanId: span("6") },
      // Its client's span has not arrived, and it names no peer.
      { ...at, service: "lost", kind: serverKind, parentSpanId: span("9") },
      { ...at, service: "lost", kind: client, parentSpanId: span("6") },
    ],
    2,
  );
  await appendSpans(server.store, "org_a", [
    { ...at, traceId: "c".repeat(32), project: "billing", service: "bill", kind: serverKind },
  ]);
  await appendSpans(server.store, "org_b", [{ ...at, service: "secret", kind: serverKind, traceId: "b".repeat(32) }]);
});

interface Sample {
  readonly metric: Record<string, string>;
  readonly value: [number, string];
}

async function query(text: string, key?: string): Promise<Sample[]> {
  const { body, status } = await server.get(
    `/prometheus/api/v1/query?query=${encodeURIComponent(text)}&time=${nowMs / 1000}`,
    key,
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.result as Sample[];
}

/** `client → server (type): value`, sorted. */
async function edges(text: string, key?: string): Promise<string[]> {
  const samples = await query(text, key);
  return samples
    .map(({ metric, value }) => {
      const type = metric["connection_type"] ?? "direct";
      return `${metric["client"]} → ${metric["server"]} (${type}): ${Number(value[1])}`;
    })
    .toSorted();
}

describe("requests between services", () => {
  test("are pairs of spans, roots, databases and providers, each counted once", async () => {
    assert.deepEqual(await edges("increase(traces_service_graph_request_total[5m])"), [
      "mail → openai (virtual_node): 1",
      "shop → mail (messaging_system): 1",
      "shop → postgresql (database): 1",
      "user → bill (virtual_node): 1",
      "user → web (virtual_node): 1",
      "web → shop (direct): 1",
    ]);
  });

  test("have matchers, sums in the store, failures and durations of both sides", async () => {
    const pair = 'client="web",server=~"sh.*"';
    assert.deepEqual(await edges(`sum by (client, server) (rate(traces_service_graph_request_total{${pair}}[100s]))`), [
      "web → shop (direct): 0.01",
    ]);
    assert.deepEqual(await edges("increase(traces_service_graph_request_failed_total[5m])"), [
      "web → shop (direct): 1",
    ]);
    const seconds = (side: string): Promise<string[]> =>
      edges(`increase(traces_service_graph_request_${side}_seconds_sum{${pair}}[5m])`);
    assert.deepEqual(await seconds("server"), ["web → shop (direct): 0.3"]);
    assert.deepEqual(await seconds("client"), ["web → shop (direct): 0.4"]);
    const quantile = `histogram_quantile(0.9, sum(increase(traces_service_graph_request_server_seconds_bucket{${pair}}[5m])) by (le, client, server))`;
    assert.equal((await query(quantile)).length, 1);
  });

  test("are those of the key's organization and project", async () => {
    assert.deepEqual(await edges("increase(traces_service_graph_request_total[5m])", "org_a:billing"), [
      "user → bill (virtual_node): 1",
    ]);
    assert.deepEqual(await edges("increase(traces_service_graph_request_total[5m])", "org_b"), [
      "user → secret (virtual_node): 1",
    ]);
  });

  test("are listed", async () => {
    const { body } = await server.get(
      "/prometheus/api/v1/label/client/values?match[]=traces_service_graph_request_total",
    );
    assert.deepEqual(body.data, ["mail", "shop", "user", "web"]);
  });
});

describe("spans by name", () => {
  test("are counted by service, name, kind and status", async () => {
    const [sample, ...others] = await query('increase(traces_spanmetrics_calls_total{span_name="POST /buy"}[5m])');
    assert.deepEqual(others, []);
    assert.deepEqual(sample!.metric, {
      project_name: "default",
      service_name: "shop",
      service: "shop",
      span_name: "POST /buy",
      span_kind: "SPAN_KIND_SERVER",
      status_code: "STATUS_CODE_ERROR",
    });
    assert.equal(sample!.value[1], "1");
  });

  test("have a histogram of their duration", async () => {
    const [sample] = await query('increase(traces_spanmetrics_latency_sum{span_name="GET /"}[5m])');
    assert.equal(sample!.value[1], "0.9");
  });
});

describe("regular expressions that the store does not match itself", () => {
  // The first alternative is longer than the store may match.
  const large = `x{300}|(?:GET|POST) .*`;
  const words = `GET /|POST /buy|${"x".repeat(300)}`;
  for (const [title, expression] of [
    ["too large ones", large],
    ["character classes by name", "[[:upper:]]+ /.*"],
    ["long lists of words", words],
  ]) {
    test(`${title} find what short ones find`, async () => {
      for (const [operator, expected] of [
        ["=~", "(GET|POST) .+"],
        ["!~", "(GET|POST) .+"],
      ] as const) {
        for (const shape of [
          (matcher: string) => `count by (span_name) (traces_spanmetrics_calls_total{${matcher}})`,
          (matcher: string) => `sum by (span_name) (increase(traces_spanmetrics_calls_total{${matcher}}[5m]))`,
        ]) {
          assert.deepEqual(
            await query(shape(`span_name${operator}${JSON.stringify(expression)}`)),
            await query(shape(`span_name${operator}${JSON.stringify(expected)}`)),
          );
        }
      }
    });
  }

  test("of labels with a join find the caller's service", async () => {
    const byShop = await query('sum(increase(traces_service_graph_request_total{client=~"x{300}|web"}[5m]))');
    assert.deepEqual(byShop, await query('sum(increase(traces_service_graph_request_total{client="web"}[5m]))'));
    assert.equal(byShop.length, 1);
  });
});
