/** `POST /observability/logs`, `/metrics` and `/traces`: what applications sent, read back. */
import type {
  LogsAnswer,
  LogsQuery,
  MetricList,
  MetricsAnswer,
  MetricsQuery,
  TracesAnswer,
  TracesQuery,
} from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters } from "../request.ts";
import { readJson } from "../response.ts";
import {
  toLogsResult,
  toMetricsResult,
  toTracesResult,
  type LogsResult,
  type MetricsResult,
  type TracesResult,
} from "./telemetry-results.ts";

/** What is looked for, each member of which may also be undefined, and what steers the client. */
export type LogsQueryParams = CallParameters & { [Name in keyof LogsQuery]: LogsQuery[Name] | undefined };

/** `trace` is required: `all_traces`, `inference_traces`, `agent_traces`, … */
export type TracesQueryParams = CallParameters & {
  [Name in keyof Omit<TracesQuery, "trace">]: TracesQuery[Name] | undefined;
} & Pick<TracesQuery, "trace">;

/** `metric` is required: `token_consumption`, `agent_task_total`, … With `step` (null: an hour) there is a value for each step. */
export type MetricsQueryParams = CallParameters & {
  [Name in keyof Omit<MetricsQuery, "metric">]: MetricsQuery[Name] | undefined;
} & Pick<MetricsQuery, "metric">;

/** PromQL at one time (default: now), or with `start`, `end` and `step` over a time. */
export interface PromqlParams {
  readonly query: string;
  /** Seconds since 1970, or a time as RFC 3339 writes it. */
  readonly time?: number | string | undefined;
  readonly start?: number | string | undefined;
  readonly end?: number | string | undefined;
  /** Seconds, or a duration such as `15s`. */
  readonly step?: number | string | undefined;
}

/** An answer of Prometheus' API. */
export interface PromqlAnswer {
  readonly status: string;
  readonly data: { readonly resultType: string; readonly result: readonly unknown[] };
  readonly warnings?: readonly string[];
}

export interface Metrics<M extends Mode> {
  /** A metric by its name. */
  query(params: MetricsQueryParams, options?: CallOptions): Out<M, MetricsResult>;
  /** The names that `query` takes, and what they mean. */
  list(options?: CallOptions): Out<M, MetricList>;
  /** Any PromQL query, by Prometheus' own API. */
  promql(params: PromqlParams, options?: CallOptions): Out<M, PromqlAnswer>;
}

export interface Logs<M extends Mode> {
  /** The newest log entries; all parameters are optional. */
  query(params?: LogsQueryParams, options?: CallOptions): Out<M, LogsResult>;
}

export interface Traces<M extends Mode> {
  /** The newest traces of a kind, or one trace by its ID. */
  query(params: TracesQueryParams, options?: CallOptions): Out<M, TracesResult>;
}

const post = { method: "POST", accept: "application/json" } as const;

export function createLogs<M extends Mode>(transport: Transport<M>): Logs<M> {
  return {
    query: (parameters, options) =>
      transport.send({ ...post, path: "/observability/logs", parameters: parameters ?? {}, options }, (answer) =>
        toLogsResult(readJson(answer) as LogsAnswer),
      ),
  };
}

export function createMetrics<M extends Mode>(transport: Transport<M>): Metrics<M> {
  const get = { method: "GET", accept: "application/json" } as const;
  return {
    query: (parameters, options) =>
      transport.send({ ...post, path: "/observability/metrics", parameters, options }, (answer) =>
        toMetricsResult(readJson(answer) as MetricsAnswer),
      ),
    list: (options) =>
      transport.send({ ...get, path: "/observability/metrics", options }, (answer) => readJson(answer) as MetricList),
    promql: (parameters, options) =>
      transport.send({ ...get, path: promqlPath(parameters), options }, (answer) => readJson(answer) as PromqlAnswer),
  };
}

function promqlPath(parameters: PromqlParams): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) given.set(name, String(value));
  const endpoint = parameters.step === undefined ? "query" : "query_range";
  return `/prometheus/api/v1/${endpoint}?${given.toString()}`;
}

export function createTraces<M extends Mode>(transport: Transport<M>): Traces<M> {
  return {
    query: (parameters, options) =>
      transport.send({ ...post, path: "/observability/traces", parameters, options }, (answer) =>
        toTracesResult(readJson(answer) as TracesAnswer),
      ),
  };
}
