/**
 * Prometheus' own HTTP API over an organization's metrics, for Grafana and other tools that speak it.
 * https://prometheus.io/docs/prometheus/latest/querying/api/
 */
import { operation, queryBodyBytes, type Operation } from "./operation.ts";

const times = {
  start: "Begin of the time, RFC 3339 or seconds since 1970. Default: a day before `end`.",
  end: "End of the time, likewise. Default: now.",
} as const;
const selectors = {
  "match[]": 'A selector of series such as `inference_requests_total{model_key="gpt"}`; may be given several times.',
} as const;
const limit = { limit: "Most items of the answer; 0 for no limit of its own." } as const;
const query = {
  query: "The PromQL expression.",
  timeout: "How long the evaluation may take, as a duration such as `30s`.",
} as const;

const form = {
  types: ["application/x-www-form-urlencoded"],
  description: "The parameters as a form, for those that are too long for an address.",
} as const;

const errors = {
  types: ["application/json"],
  description: "Prometheus' form of errors: `status` is `error`, with `errorType` and `error`.",
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

/** The same with the parameters in a form. */
function post(endpoint: Endpoint): Operation<never> {
  return { ...get(endpoint), id: `${endpoint.id}ByForm`, method: "POST", rawBody: form, maxBodyBytes: queryBodyBytes };
}

const endpoints = {
  query: {
    id: "prometheusQuery",
    path: "query",
    summary: "Evaluate PromQL at one time",
    parameters: { ...query, time: "When, RFC 3339 or seconds since 1970. Default: now." },
    answer: "A vector, matrix, scalar or string.",
  },
  queryRange: {
    id: "prometheusQueryRange",
    path: "query_range",
    summary: "Evaluate PromQL over a time",
    parameters: {
      ...query,
      start: "Begin of the time, RFC 3339 or seconds since 1970.",
      end: "End of the time, likewise.",
      step: "Distance of the points, a duration such as `15s` or seconds.",
    },
    answer: "A matrix.",
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
    summary: "List names of labels",
    parameters: { ...selectors, ...times, ...limit },
    answer: "Names, sorted.",
  },
  labelValues: {
    id: "prometheusLabelValues",
    path: "label/{name}/values",
    summary: "List values of a label",
    pathParameters: { name: "The label." },
    parameters: { ...selectors, ...times, ...limit },
    answer: "Values, sorted.",
  },
  metadata: {
    id: "prometheusMetadata",
    path: "metadata",
    summary: "Describe metrics",
    parameters: { metric: "Only this metric.", ...limit },
    answer: "Type, unit and help of each metric.",
  },
  buildInfo: {
    id: "prometheusBuildInfo",
    path: "status/buildinfo",
    summary: "Say which version of Prometheus' API this is",
    parameters: {},
    answer: "The version.",
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type PrometheusEndpoint = keyof typeof endpoints;

/** Those that take their parameters as a form too. */
const withForm: ReadonlySet<PrometheusEndpoint> = new Set<PrometheusEndpoint>([
  "query",
  "queryRange",
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
