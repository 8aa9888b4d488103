/**
 * Loki's HTTP API over an organization's logs, for Grafana, logcli and other tools that use it.
 * https://grafana.com/docs/loki/latest/reference/loki-http-api/
 */
import { operation, queryBodyBytes, type Operation } from "./operation.ts";

const formats = "UNIX time in nanoseconds, or in seconds with a fraction or up to 10 digits, or RFC 3339";
const range = {
  start: `Start of the time range, included: ${formats}. Default: \`since\` before \`end\`.`,
  end: `End of the time range, excluded: ${formats}. Default: now.`,
  since: "The time range's length if there is no `start`, as a duration such as `6h`. Default: `1h`.",
} as const;
const direction = { direction: "`backward`, the default: the newest entries first; or `forward`." } as const;
const selector = { query: 'A stream selector such as `{service_name="checkout"}`.' } as const;
const required = { query: `${selector.query} Required.` } as const;
const step = { step: "Interval between the points, as a duration such as `15s` or in seconds." } as const;
const sample = {
  ...range,
  query: "A log query; its newest entries are the sample. Required.",
  line_limit: "Entries that are examined; 1000 by default.",
} as const;

const form = {
  types: ["application/x-www-form-urlencoded"],
  description: "The parameters as a form, for queries that are too long for a URL.",
} as const;

const errors = {
  types: ["application/json"],
  description: "An error: `message` and `status`, which is `error`.",
} as const;

interface Endpoint {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly answer: string;
  readonly description?: string;
}

function get({ answer, description, id, parameters, path, pathParameters, summary }: Endpoint): Operation<never> {
  return operation<never, unknown>({
    id,
    method: "GET",
    path: `/loki/api/v1/${path}`,
    tag: "Loki",
    summary,
    ...(description === undefined ? {} : { description }),
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
    id: "lokiQuery",
    path: "query",
    summary: "Evaluate a LogQL metric query at a single time",
    parameters: {
      query: "The metric query. Required.",
      time: `Evaluation time: ${formats}. Default: now.`,
      limit: "Ignored: a metric query returns all its series.",
      ...direction,
    },
    answer: "A vector or a scalar, with statistics.",
  },
  queryRange: {
    id: "lokiQueryRange",
    path: "query_range",
    summary: "Evaluate a LogQL query over a time range",
    parameters: {
      query: "The log query or metric query. Required.",
      ...range,
      ...direction,
      limit: "Of log queries: maximum number of entries; 100 by default.",
      step: `Of metric queries: ${step.step} Default: a 250th of the time range, at least \`1s\`.`,
      interval: "Of log queries: shortest time between two entries of the result, as a duration or in seconds.",
    },
    answer:
      "Streams of entries, or a matrix, with statistics. The header `X-Loki-Response-Encoding-Flags: categorize-labels` separates stream labels, structured metadata and parsed labels.",
  },
  labels: {
    id: "lokiLabels",
    path: "labels",
    summary: "List the names of stream labels",
    parameters: { ...range, ...selector },
    answer: "Names, sorted.",
  },
  label: {
    id: "lokiLabel",
    path: "label",
    summary: "List the names of stream labels, at the older path",
    parameters: { ...range, ...selector },
    answer: "Names, sorted.",
  },
  labelValues: {
    id: "lokiLabelValues",
    path: "label/{name}/values",
    summary: "List the values of a stream label",
    pathParameters: { name: "Name of the label." },
    parameters: { ...range, ...selector },
    answer: "Values, sorted.",
  },
  series: {
    id: "lokiSeries",
    path: "series",
    summary: "List streams",
    parameters: {
      ...range,
      "match[]": "A stream selector; may be repeated. Default: all streams.",
      match: "The same as `match[]`.",
    },
    answer: "The labels of each stream.",
  },
  indexStats: {
    id: "lokiIndexStats",
    path: "index/stats",
    summary: "Count streams, entries and bytes",
    parameters: { ...range, ...required },
    answer: "`streams`, `chunks`, `entries` and `bytes`.",
  },
  volume: {
    id: "lokiVolume",
    path: "index/volume",
    summary: "Sum the bytes of log lines by labels",
    parameters: {
      ...range,
      ...required,
      limit: "Maximum number of series, the largest ones; 100 by default.",
      targetLabels: "Labels to group by, separated by commas. Default: the labels of the selector.",
      aggregateBy: "`series`, the default: by the labels' values; `labels`: by the labels' names.",
    },
    answer: "A vector.",
  },
  volumeRange: {
    id: "lokiVolumeRange",
    path: "index/volume_range",
    summary: "Sum the bytes of log lines by labels and time",
    parameters: {
      ...range,
      ...required,
      ...step,
      limit: "Maximum number of series, the largest ones; 100 by default.",
      targetLabels: "Labels to group by, separated by commas. Default: the labels of the selector.",
      aggregateBy: "`series`, the default: by the labels' values; `labels`: by the labels' names.",
    },
    answer: "A matrix. Each time is the end of its step.",
  },
  patterns: {
    id: "lokiPatterns",
    path: "patterns",
    summary: "Find the patterns of log lines",
    parameters: { ...range, ...required, ...step },
    answer:
      "Patterns with `<_>` for what varies, as the line filter `|>` accepts them, and their number of entries over time, estimated from a sample.",
  },
  detectedLabels: {
    id: "lokiDetectedLabels",
    path: "detected_labels",
    summary: "List stream labels with the number of their values",
    parameters: { ...range, ...selector },
    answer: "Labels with their cardinality, without those whose values are all IDs.",
  },
  detectedFields: {
    id: "lokiDetectedFields",
    path: "detected_fields",
    summary: "Find the fields of log lines and their structured metadata",
    parameters: { ...sample, limit: "Maximum number of fields; 1000 by default." },
    answer:
      "Fields with their type, cardinality, parsers (`null` for structured metadata) and path in JSON, from a sample of the newest entries.",
  },
  detectedFieldValues: {
    id: "lokiDetectedFieldValues",
    path: "detected_field/{name}/values",
    summary: "List values of a field",
    pathParameters: { name: "Name of the field." },
    parameters: { ...sample, limit: "Maximum number of values; 1000 by default." },
    answer: "Values, from a sample of the newest entries.",
  },
  drilldownLimits: {
    id: "lokiDrilldownLimits",
    path: "drilldown-limits",
    summary: "Show the limits that Grafana's Logs Drilldown respects",
    parameters: {},
    answer: "`limits`, `pattern_ingester_enabled` and `version`.",
  },
  formatQuery: {
    id: "lokiFormatQuery",
    path: "format_query",
    summary: "Format a LogQL query",
    parameters: { query: "The query. Required." },
    answer: "The query with line breaks and indentation.",
  },
  buildInfo: {
    id: "lokiBuildInfo",
    path: "status/buildinfo",
    summary: "Show the version of the Loki API",
    parameters: {},
    answer: "The version.",
  },
  rules: {
    id: "lokiRules",
    path: "rules",
    summary: "List alerting rules, of which there are none",
    parameters: {},
    answer: "An empty object of rule groups.",
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type LokiEndpoint = keyof typeof endpoints;

/** Not called by any method but GET, as in Loki. */
const withoutForm: ReadonlySet<LokiEndpoint> = new Set<LokiEndpoint>(["drilldownLimits", "buildInfo", "rules"]);

/** The operations of each endpoint. */
export const lokiOperations = Object.fromEntries(
  Object.entries(endpoints).map(([name, endpoint]) => [
    name,
    withoutForm.has(name as LokiEndpoint) ? [get(endpoint)] : [get(endpoint), post(endpoint)],
  ]),
) as unknown as Readonly<Record<LokiEndpoint, readonly Operation<never>[]>>;

export const lokiTail = get({
  id: "lokiTail",
  path: "tail",
  summary: "Follow log entries as they arrive, over a WebSocket",
  parameters: {
    query: "The log query. Required.",
    start: `Entries from this time on are sent first: ${formats}. Default: one hour ago.`,
    limit: "Maximum number of entries that are sent first, the newest ones; 100 by default.",
    delay_for: "Seconds by which entries are delayed, so that late ones arrive in order; 0 to 5, 0 by default.",
  },
  answer:
    "Messages with `streams`, and `dropped_entries` if the client was too slow. The connection ends when the key is revoked.",
});

/** Tools that check whether Loki is up request this path without a key. */
export const lokiReady = operation<never, unknown>({
  id: "lokiReady",
  method: "GET",
  path: "/ready",
  tag: "Loki",
  summary: "Check whether logs can be stored and queried, as Loki's clients do",
  permission: "none",
  answer: { type: "text/plain", description: "`ready`; 503 while telemetry cannot be queried." },
  errors,
});
