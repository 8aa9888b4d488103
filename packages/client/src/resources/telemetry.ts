/** `POST /observability/logs` and `/traces`: what applications sent, read back. */
import type { LogsAnswer, LogsQuery, TracesAnswer, TracesQuery } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters } from "../request.ts";
import { readJson } from "../response.ts";
import { toLogsResult, toTracesResult, type LogsResult, type TracesResult } from "./telemetry-results.ts";

/** What is looked for, each member of which may also be undefined, and what steers the client. */
export type LogsQueryParams = CallParameters & { [Name in keyof LogsQuery]: LogsQuery[Name] | undefined };

/** `trace` is required: `all_traces`, `inference_traces`, `agent_traces`, … */
export type TracesQueryParams = CallParameters & {
  [Name in keyof Omit<TracesQuery, "trace">]: TracesQuery[Name] | undefined;
} & Pick<TracesQuery, "trace">;

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

export function createTraces<M extends Mode>(transport: Transport<M>): Traces<M> {
  return {
    query: (parameters, options) =>
      transport.send({ ...post, path: "/observability/traces", parameters, options }, (answer) =>
        toTracesResult(readJson(answer) as TracesAnswer),
      ),
  };
}
