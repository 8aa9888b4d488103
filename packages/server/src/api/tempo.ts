/**
 * Tempo's HTTP API over an organization's traces, for Grafana and other tools that use it. The base URL is `/tempo`.
 * https://grafana.com/docs/tempo/latest/api_docs/
 */
import { operation, type Operation } from "./operation.ts";

const seconds = {
  start: "Start of the time range, UNIX time in seconds. Default: one day before `end`.",
  end: "End of the time range, UNIX time in seconds. Default: now.",
} as const;
const traceTimes = {
  start: "UNIX time in seconds: return the trace only if it ended at this time or later.",
  end: "UNIX time in seconds: return the trace only if it started at this time or earlier.",
} as const;
const metricTimes = {
  start: "Start of the time range: UNIX time in seconds or nanoseconds, or RFC 3339. Default: `since` before `end`.",
  end: "End of the time range, in the same forms. Default: now.",
  since: "Length of the time range if `start` is absent, as a duration such as `15m`. Default: `1h`.",
} as const;
const metricsQuery = {
  q: "The TraceQL metrics query.",
  query: "The same as `q`, which takes precedence.",
} as const;
const scope = {
  scope: "Only the tags of this scope: `span`, `resource`, `event`, `link`, `instrumentation` or `intrinsic`.",
} as const;
const limit = { limit: "Maximum number of items to return." } as const;
const filter = {
  q: 'A TraceQL filter such as `{ resource.service.name = "shop" }`: only what spans have that match it. Incomplete conditions are ignored.',
} as const;
const traceId = { id: "Up to 32 hex digits; leading zeros may be omitted." } as const;
const tag = { tag: "Name of the tag; it may contain slashes." } as const;

const errors = {
  types: ["text/plain"],
  description: "The error's message as text, like Tempo.",
} as const;

interface Endpoint {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly permission?: "none";
  readonly parameters?: Readonly<Record<string, string>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly answer: string;
}

const endpoints = {
  ready: {
    id: "tempoReady",
    path: "ready",
    summary: "Check that Tempo's API is reachable",
    permission: "none",
    type: "text/plain",
    answer: "The text `ready`.",
  },
  echo: {
    id: "tempoEcho",
    path: "api/echo",
    summary: "Check that Tempo's API is reachable with this key",
    type: "text/plain",
    answer: "The text `echo`.",
  },
  buildInfo: {
    id: "tempoBuildInfo",
    path: "api/status/buildinfo",
    summary: "Show the version of Tempo's API",
    answer: "The version.",
  },
  trace: {
    id: "tempoTrace",
    path: "api/traces/{id}",
    summary: "Get a trace",
    pathParameters: traceId,
    parameters: traceTimes,
    answer: "The trace as OTLP, in JSON, or in protobuf if `Accept` contains `application/protobuf`.",
  },
  traceV2: {
    id: "tempoTraceV2",
    path: "api/v2/traces/{id}",
    summary: "Get a trace and whether it is complete",
    pathParameters: traceId,
    parameters: traceTimes,
    answer:
      "The trace as OTLP, in JSON, or in protobuf if `Accept` contains `application/protobuf`. `status` is `PARTIAL` if the trace has more spans than one response may have.",
  },
  search: {
    id: "tempoSearch",
    path: "api/search",
    summary: "Search traces with TraceQL",
    parameters: {
      q: "The TraceQL query; all traces by default.",
      limit: "Maximum number of traces. Default: 20.",
      spss: "Maximum number of spans to return of each set of spans. Default: 3.",
      ...seconds,
      tags: "Without `q`: values of attributes in logfmt, such as `service.name=shop http.method=GET`.",
      minDuration: "Without `q`: shortest duration of the trace, such as `100ms`.",
      maxDuration: "Without `q`: longest duration of the trace.",
    },
    answer: "The newest traces that match, each with its root and the spans that match.",
  },
  metricsRange: {
    id: "tempoMetricsQueryRange",
    path: "api/metrics/query_range",
    summary: "Evaluate a TraceQL metrics query over a time range",
    parameters: {
      ...metricsQuery,
      ...metricTimes,
      step: "Interval between the points, as a duration such as `15s` or in seconds. Default: chosen from the time range.",
      exemplars: "Maximum number of exemplars. Default: 100, which is also the limit.",
    },
    answer: "Series with labels, samples and exemplars.",
  },
  metricsInstant: {
    id: "tempoMetricsQuery",
    path: "api/metrics/query",
    summary: "Evaluate a TraceQL metrics query once for a time range",
    parameters: { ...metricsQuery, ...metricTimes },
    answer: "Series with labels and one value each.",
  },
  tags: {
    id: "tempoTags",
    path: "api/search/tags",
    summary: "List tag names",
    parameters: { ...scope, ...seconds, ...limit },
    answer: "Names, sorted.",
  },
  tagsV2: {
    id: "tempoTagsV2",
    path: "api/v2/search/tags",
    summary: "List tag names by scope",
    parameters: { ...filter, ...scope, ...seconds, ...limit },
    answer: "Names by scope, sorted.",
  },
  tagValues: {
    id: "tempoTagValues",
    path: "api/search/tag/{+tag}/values",
    summary: "List the values of a tag",
    pathParameters: tag,
    parameters: { ...seconds, ...limit },
    answer: "Values as text, sorted.",
  },
  tagValuesV2: {
    id: "tempoTagValuesV2",
    path: "api/v2/search/tag/{+tag}/values",
    summary: "List the values of a TraceQL field, with their types",
    pathParameters: {
      tag: "A field as TraceQL writes it, such as `resource.service.name`, `.http.method` or `status`.",
    },
    parameters: { ...filter, ...seconds, ...limit },
    answer: "Values with their types, sorted.",
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type TempoEndpoint = keyof typeof endpoints;

function toOperation(endpoint: Endpoint): Operation<never> {
  const { answer, id, parameters, path, pathParameters, permission, summary, type } = endpoint;
  return operation<never, unknown>({
    id,
    method: "GET",
    path: `/tempo/${path}`,
    tag: "Tempo",
    summary,
    permission: permission ?? "telemetry_read",
    ...(pathParameters === undefined ? {} : { pathParameters }),
    ...(parameters === undefined ? {} : { queryParameters: parameters }),
    answer: { type: type ?? "application/json", description: answer },
    errors,
  });
}

export const tempoOperations = Object.fromEntries(
  Object.entries(endpoints).map(([name, endpoint]) => [name, toOperation(endpoint)]),
) as unknown as Readonly<Record<TempoEndpoint, Operation<never>>>;
