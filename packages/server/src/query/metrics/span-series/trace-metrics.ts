/**
 * Metrics over all spans under the names of Tempo's metrics generator, so that Grafana's service graph and its table of spans
 * work. https://grafana.com/docs/tempo/latest/metrics-from-traces/
 */
import { durationSeconds } from "../../../store/row-expressions.ts";
import { sql } from "../../../store/statement.ts";
import { one, spanMetric, type SpanMetric } from "./span-metric.ts";

const spanLabels = ["project_name", "service_name", "service", "span_name", "span_kind", "status_code"] as const;
const spanSource = "Every span.";

const edgeLabels = ["project_name", "client", "server", "connection_type"] as const;
const edgeSource =
  "Pairs of a client or producer span and its server or consumer span; server spans without a parent (the client is `user`); client spans that nobody answered, of a database, a named peer or a model's provider.";

function ofSpans(definition: Pick<SpanMetric, "name" | "type" | "unit" | "help" | "value">): SpanMetric {
  return spanMetric({ ...definition, source: spanSource, labels: spanLabels, labelsWhenNamed: [], condition: sql`1` });
}

function ofEdges(
  definition: Pick<SpanMetric, "name" | "type" | "unit" | "help" | "value"> & Partial<SpanMetric>,
): SpanMetric {
  const shared = { source: edgeSource, labels: edgeLabels, labelsWhenNamed: [], countsEdges: true };
  return spanMetric({ condition: sql`1`, ...shared, ...definition });
}

export const traceMetrics: readonly SpanMetric[] = [
  ofSpans({ name: "traces_spanmetrics_calls_total", type: "counter", unit: "", help: "Spans.", value: one }),
  ofSpans({
    name: "traces_spanmetrics_latency",
    type: "histogram",
    unit: "seconds",
    help: "Duration of spans.",
    value: durationSeconds,
  }),
  ofEdges({
    name: "traces_service_graph_request_total",
    type: "counter",
    unit: "",
    help: "Requests from one service to another.",
    value: one,
  }),
  ofEdges({
    name: "traces_service_graph_request_failed_total",
    type: "counter",
    unit: "",
    help: "Requests from one service to another that failed.",
    condition: sql`edge_failed = 1`,
    value: one,
  }),
  ofEdges({
    name: "traces_service_graph_request_server_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Duration of requests from one service to another, as the server measured it.",
    value: sql`edge_server_seconds`,
  }),
  ofEdges({
    name: "traces_service_graph_request_client_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Duration of requests from one service to another, as the client measured it.",
    value: sql`edge_client_seconds`,
  }),
];
