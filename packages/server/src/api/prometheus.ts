/**
 * Prometheus' own HTTP API over an organization's metrics, for Grafana and other tools that use it.
 * https://prometheus.io/docs/prometheus/latest/querying/api/
 */
import { operation, queryBodyBytes, type Operation } from "./operation.ts";

const times = {
  start: "Start of the time range, RFC 3339 or UNIX time in seconds. Default: one day before `end`.",
  end: "End of the time range, RFC 3339 or UNIX time in seconds. Default: now.",
} as const;
const selectors = {
  "match[]": 'A series selector such as `inference_requests_total{model_key="gpt"}`; may be repeated.',
} as const;
const limit = {
  limit: "Maximum number of items or series to return; 0 sets no limit. If there are more, the answer has a warning.",
} as const;
const query = {
  query: "The PromQL expression.",
  timeout: "Timeout of the evaluation, as a duration such as `30s`.",
} as const;

const form = {
  types: ["application/x-www-form-urlencoded"],
  description: "The parameters as a form, for queries that are too long for a URL.",
} as const;

const errors = {
  types: ["application/json"],
  description: "An error in Prometheus' format: `status` is `error`, with `errorType` and `error`.",
} as const;

interface Endpoint {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly answer: string;
}

function get({ answer, id, parameters, path, pathParameters, summary }: Endpoint): Operation<never> {
  return operation<never, unknown>({
    id,
    method: "GET",
    path: `/prometheus/api/v1/${path}`,
    tag: "Prometheus",
    summary,
    permission: "telemetry_read",
    ...(pathParameters === undefined ? {} : { pathParameters }),
    queryParameters: parameters,
    answer: { type: "application/json", description: answer },
    errors,
  });
}

/** The same operation with the parameters in a form. */
function post(endpoint: Endpoint): Operation<never> {
  return { ...get(endpoint), id: `${endpoint.id}ByForm`, method: "POST", rawBody: form, maxBodyBytes: queryBodyBytes };
}

const endpoints = {
  query: {
    id: "prometheusQuery",
    path: "query",
    summary: "Evaluate a PromQL expression at a single time",
    parameters: { ...query, ...limit, time: "Evaluation time, RFC 3339 or UNIX time in seconds. Default: now." },
    answer: "A vector, matrix, scalar or string.",
  },
  queryRange: {
    id: "prometheusQueryRange",
    path: "query_range",
    summary: "Evaluate a PromQL expression over a time range",
    parameters: {
      ...query,
      ...limit,
      start: "Start of the time range, RFC 3339 or UNIX time in seconds.",
      end: "End of the time range, RFC 3339 or UNIX time in seconds.",
      step: "Interval between the points, as a duration such as `15s` or in seconds.",
    },
    answer: "A matrix.",
  },
  queryExemplars: {
    id: "prometheusQueryExemplars",
    path: "query_exemplars",
    summary: "List exemplars: single observations of series, with their traces",
    parameters: { query: "A PromQL expression; the exemplars are those of the series that it selects.", ...times },
    answer:
      "For each series its labels and exemplars: the value, the time, and the labels `trace_id` and `span_id`. Sounding picks at most three per series and hundredth of the time range: the highest value, the last failed call and one by chance.",
  },
  series: {
    id: "prometheusSeries",
    path: "series",
    summary: "List series",
    parameters: { ...selectors, ...times, ...limit },
    answer: "Label sets.",
  },
  labels: {
    id: "prometheusLabels",
    path: "labels",
    summary: "List label names",
    parameters: { ...selectors, ...times, ...limit },
    answer: "Names, sorted.",
  },
  labelValues: {
    id: "prometheusLabelValues",
    path: "label/{name}/values",
    summary: "List the values of a label",
    pathParameters: {
      name: "Name of the label. `U__host_2e_name` is `host.name`, as Prometheus' clients escape names.",
    },
    parameters: { ...selectors, ...times, ...limit },
    answer: "Values, sorted.",
  },
  metadata: {
    id: "prometheusMetadata",
    path: "metadata",
    summary: "List metric metadata",
    parameters: { metric: "Only this metric.", ...limit },
    answer: "Type, unit and help text of each metric.",
  },
  rules: {
    id: "prometheusRules",
    path: "rules",
    summary: "List alert rules with their states",
    parameters: {
      type: "`alert` or `record`. Sounding has no recording rules.",
      "rule_name[]": "Only rules with this name; may be repeated.",
      "rule_group[]": "Only groups with this name; may be repeated.",
      "file[]": "Only groups from this source: `configuration`, `api` or the name of a rule file; may be repeated.",
      "match[]": "Only rules whose labels match this selector; may be repeated.",
      exclude_alerts: "`true` leaves out the alerts.",
      group_limit: "Maximum number of groups to return.",
      group_next_token: "`groupNextToken` of the previous page.",
    },
    answer: "The groups of rules that the key may see, with health, last evaluation and active alerts.",
  },
  alerts: {
    id: "prometheusAlerts",
    path: "alerts",
    summary: "List active alerts",
    parameters: {},
    answer: "The pending and firing alerts of the rules that the key may see.",
  },
  buildInfo: {
    id: "prometheusBuildInfo",
    path: "status/buildinfo",
    summary: "Show the version of the Prometheus API",
    parameters: {},
    answer: "The version.",
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type PrometheusEndpoint = keyof typeof endpoints;

/** Tools that check whether the address of the API exists request it with and without the slash. */
export const prometheusRoots = (["/prometheus", "/prometheus/"] as const).map((path) =>
  operation<never, unknown>({
    id: path.endsWith("/") ? "prometheusRootSlash" : "prometheusRoot",
    method: "GET",
    path,
    tag: "Prometheus",
    summary: "Show where Prometheus' API is",
    permission: "none",
    answer: { type: "text/plain", description: "The path of the API." },
    errors,
  }),
);

/** The endpoints that also accept their parameters as a form. */
const withForm: ReadonlySet<PrometheusEndpoint> = new Set<PrometheusEndpoint>([
  "query",
  "queryRange",
  "queryExemplars",
  "series",
  "labels",
]);

/** The operations of each endpoint. */
export const prometheusOperations = Object.fromEntries(
  Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    withForm.has(name as PrometheusEndpoint) ? [get(endpoint), post(endpoint)] : [get(endpoint)],
  ]),
) as unknown as Readonly<Record<PrometheusEndpoint, readonly Operation<never>[]>>;
