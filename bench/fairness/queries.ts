/** The small queries of one organization, as panels and lists of Grafana send them, and the heavy ones of another. */

export interface Query {
  readonly name: string;
  readonly path: string;
  /** @param endMs end of the stored day */
  parameters(endMs: number): Record<string, string>;
}

const hour = 3600;
const range = (endMs: number, seconds: number): { start: string; end: string } => ({
  start: String(Math.floor(endMs / 1000) - seconds),
  end: String(Math.floor(endMs / 1000)),
});

export const smallQueries: readonly Query[] = [
  {
    name: "LogQL, newest 100 lines of an hour",
    path: "/loki/api/v1/query_range",
    parameters: (endMs) => ({ query: '{service_name="service-1"}', limit: "100", ...range(endMs, hour) }),
  },
  {
    name: "LogQL, count per level of an hour",
    path: "/loki/api/v1/query_range",
    parameters: (endMs) => ({
      query: 'sum by (level) (count_over_time({service_name=~".+"}[1m]))',
      step: "60s",
      ...range(endMs, hour),
    }),
  },
  {
    name: "TraceQL, newest 20 failed spans",
    path: "/tempo/api/search",
    parameters: (endMs) => ({ q: "{ status = error }", ...range(endMs, hour) }),
  },
  {
    name: "PromQL, rate over an hour",
    path: "/prometheus/api/v1/query_range",
    parameters: (endMs) => ({
      query: "sum by (model_key) (rate(inference_requests_total[5m]))",
      step: "60",
      ...range(endMs, hour),
    }),
  },
];

export const heavyQueries: readonly Query[] = [
  {
    name: "LogQL, regular expression over a day",
    path: "/loki/api/v1/query_range",
    parameters: (endMs) => ({
      query: 'sum by (service_name) (count_over_time({service_name=~".+"} |~ "(order|cart) .* [0-9]{2} ms" [5m]))',
      step: "300s",
      ...range(endMs, 24 * hour),
    }),
  },
  {
    name: "LogQL, a label from each line of six hours",
    path: "/loki/api/v1/query_range",
    parameters: (endMs) => ({
      query: 'max_over_time({service_name=~".+"} | pattern "<_> took <took> ms" | unwrap took [5m]) by (service_name)',
      step: "300s",
      ...range(endMs, 6 * hour),
    }),
  },
  {
    name: "TraceQL, structure over a day",
    path: "/tempo/api/search",
    parameters: (endMs) => ({
      q: '{ name = "operation-1" } >> { name = "operation-2" && status = error }',
      ...range(endMs, 24 * hour),
    }),
  },
  {
    name: "TraceQL, quantiles over a day",
    path: "/tempo/api/metrics/query_range",
    parameters: (endMs) => ({
      q: "{ } | quantile_over_time(duration, .5, .95) by (resource.service.name)",
      step: "300s",
      ...range(endMs, 24 * hour),
    }),
  },
  {
    name: "PromQL, quantiles over a day",
    path: "/prometheus/api/v1/query_range",
    parameters: (endMs) => ({
      query: "histogram_quantile(0.95, sum by (le, model_key) (rate(inference_duration_seconds_bucket[15m])))",
      step: "300",
      ...range(endMs, 24 * hour),
    }),
  },
];
