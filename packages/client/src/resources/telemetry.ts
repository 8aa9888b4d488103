/** `POST /observability/logs`, `/metrics` and `/traces`: queries of stored telemetry. */
import type {
  Conversations,
  ConversationsQuery,
  LogHistogram,
  LogHistogramQuery,
  LogsAnswer,
  LogsQuery,
  MetricList,
  MetricsAnswer,
  MetricsQuery,
  TraceHistogram,
  TraceHistogramQuery,
  TracesAnswer,
  TracesQuery,
} from "../generated/types.ts";
import type { Iteration, Mode, Out, Transport } from "../mode.ts";
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

/** The query's parameters, each of which may also be undefined, and those that control the client. */
export type LogsQueryParams = CallParameters & { [Name in keyof LogsQuery]: LogsQuery[Name] | undefined };

export type LogHistogramParams = CallParameters & {
  [Name in keyof LogHistogramQuery]: LogHistogramQuery[Name] | undefined;
};

/** `trace` is required: `all_traces`, `inference_traces`, `agent_traces`, … */
export type TracesQueryParams = CallParameters & {
  [Name in keyof Omit<TracesQuery, "trace">]: TracesQuery[Name] | undefined;
} & Pick<TracesQuery, "trace">;

export type TraceHistogramParams = CallParameters & {
  [Name in keyof TraceHistogramQuery]: TraceHistogramQuery[Name] | undefined;
};

export type ConversationsParams = CallParameters & {
  [Name in keyof ConversationsQuery]: ConversationsQuery[Name] | undefined;
};

/**
 * `metric` is required: `token_consumption`, `agent_task_total`, … With `step` (null: one hour), the result has one
 * value per step.
 */
export type MetricsQueryParams = CallParameters & {
  [Name in keyof Omit<MetricsQuery, "metric">]: MetricsQuery[Name] | undefined;
} & Pick<MetricsQuery, "metric">;

/** A PromQL query at a single time (default: now), or over a time range with `start`, `end` and `step`. */
export interface PromqlParams {
  readonly query: string;
  /** UNIX time in seconds, or an RFC 3339 time. */
  readonly time?: number | string | undefined;
  readonly start?: number | string | undefined;
  readonly end?: number | string | undefined;
  /** Seconds, or a duration such as `15s`. */
  readonly step?: number | string | undefined;
}

/** A response of Prometheus' API. */
export interface PromqlAnswer {
  readonly status: string;
  readonly data: { readonly resultType: string; readonly result: readonly unknown[] };
  readonly warnings?: readonly string[];
}

export interface Metrics<M extends Mode> {
  /** Returns a metric by its name. */
  query(params: MetricsQueryParams, options?: CallOptions): Out<M, MetricsResult>;
  /** Lists the metrics that `query` accepts, with descriptions. */
  list(options?: CallOptions): Out<M, MetricList>;
  /** Runs a PromQL query with Prometheus' own API. */
  promql(params: PromqlParams, options?: CallOptions): Out<M, PromqlAnswer>;
}

export interface Logs<M extends Mode> {
  /** Returns the newest log entries; all parameters are optional. */
  query(params?: LogsQueryParams, options?: CallOptions): Out<M, LogsResult>;
  /**
   * Returns all log entries that match, page by page, the newest first; `limit` is the size of a page. Each page is
   * requested when the loop reaches it.
   */
  pages(params?: Omit<LogsQueryParams, "cursor">, options?: CallOptions): Iteration<M, LogsResult>;
  /** Counts log entries by time and level; all parameters are optional. */
  histogram(params?: LogHistogramParams, options?: CallOptions): Out<M, LogHistogram>;
}

export interface Traces<M extends Mode> {
  /** Returns the newest traces of a kind, or one trace by its ID. */
  query(params: TracesQueryParams, options?: CallOptions): Out<M, TracesResult>;
  /**
   * Returns all traces that match, page by page, the newest first; `limit` is the size of a page. Each page is requested when
   * the loop reaches it.
   */
  pages(params: Omit<TracesQueryParams, "cursor" | "trace_id">, options?: CallOptions): Iteration<M, TracesResult>;
  /** Counts traces over time; all parameters are optional. */
  histogram(params?: TraceHistogramParams, options?: CallOptions): Out<M, TraceHistogram>;
  /** Lists conversations, the most recent first; all parameters are optional. */
  conversations(params?: ConversationsParams, options?: CallOptions): Out<M, Conversations>;
}

const post = { method: "POST", accept: "application/json" } as const;

export function createLogs<M extends Mode>(transport: Transport<M>): Logs<M> {
  const query = (parameters: LogsQueryParams = {}, options?: CallOptions): Out<M, LogsResult> =>
    transport.send({ ...post, path: "/observability/logs", parameters, options }, (answer) =>
      toLogsResult(readJson(answer) as LogsAnswer),
    );
  return {
    query,
    pages: (parameters, options) =>
      transport.sequence<LogsResult>((last) => {
        const cursor = last === undefined ? "" : last.next_cursor;
        return cursor == null ? undefined : query({ ...parameters, cursor }, options);
      }),
    histogram: (parameters = {}, options) =>
      transport.send(
        { ...post, path: "/observability/logs/histogram", parameters, options },
        (answer) => readJson(answer) as LogHistogram,
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
  const query = (parameters: TracesQueryParams, options?: CallOptions): Out<M, TracesResult> =>
    transport.send({ ...post, path: "/observability/traces", parameters, options }, (answer) =>
      toTracesResult(readJson(answer) as TracesAnswer),
    );
  return {
    query,
    pages: (parameters, options) =>
      transport.sequence<TracesResult>((last) => {
        const cursor = last === undefined ? "" : last.next_cursor;
        return cursor == null ? undefined : query({ ...parameters, cursor }, options);
      }),
    histogram: (parameters = {}, options) =>
      transport.send(
        { ...post, path: "/observability/traces/histogram", parameters, options },
        (answer) => readJson(answer) as TraceHistogram,
      ),
    conversations: (parameters = {}, options) =>
      transport.send(
        { ...post, path: "/observability/conversations", parameters, options },
        (answer) => readJson(answer) as Conversations,
      ),
  };
}
