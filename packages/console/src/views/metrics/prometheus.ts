/** Requests to Prometheus' HTTP API. https://prometheus.io/docs/prometheus/latest/querying/api/ */
import { requestJson } from "../../api/request.ts";
import type { Moments } from "../../state/time-range.ts";
import { projectHeaders } from "./metrics-address.ts";
import type { StepTimes } from "./step.ts";

export type Labels = Readonly<Record<string, string>>;
export type SampleJson = readonly [seconds: number, value: string];

export interface HistogramJson {
  readonly count: string;
  readonly sum: string;
  readonly buckets?: readonly (readonly [rule: number, lower: string, upper: string, count: string])[];
}

export interface SeriesJson {
  readonly metric: Labels;
  /** Of a matrix. */
  readonly values?: readonly SampleJson[];
  readonly histograms?: readonly (readonly [seconds: number, histogram: HistogramJson])[];
  /** Of a vector. */
  readonly value?: SampleJson;
  readonly histogram?: readonly [seconds: number, histogram: HistogramJson];
}

export type ResultJson =
  | { readonly resultType: "matrix" | "vector"; readonly result: readonly SeriesJson[] }
  | { readonly resultType: "scalar" | "string"; readonly result: SampleJson };

export interface QueryAnswer {
  readonly data: ResultJson;
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

export interface ExemplarSeriesJson {
  readonly seriesLabels: Labels;
  readonly exemplars: readonly { readonly labels: Labels; readonly value: string; readonly timestamp: number }[];
}

export interface MetadataJson {
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

function post<Value>(path: string, parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Value> {
  return requestJson<Value>(`prometheus/api/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...projectHeaders() },
    body: new URLSearchParams(parameters).toString(),
    signal,
  });
}

export const seconds = (ms: number): string => String(ms / 1000);

export function queryRange(query: string, times: StepTimes, signal: AbortSignal): Promise<QueryAnswer> {
  const { startMs, endMs, stepMs } = times;
  return post("query_range", { query, start: seconds(startMs), end: seconds(endMs), step: seconds(stepMs) }, signal);
}

export function queryInstant(query: string, timeMs: number, signal: AbortSignal): Promise<QueryAnswer> {
  return post("query", { query, time: seconds(timeMs) }, signal);
}

export async function queryExemplars(
  query: string,
  { startMs, endMs }: Moments,
  signal: AbortSignal,
): Promise<readonly ExemplarSeriesJson[]> {
  const parameters = { query, start: seconds(startMs), end: seconds(endMs) };
  const { data } = await post<{ data: readonly ExemplarSeriesJson[] }>("query_exemplars", parameters, signal);
  return data;
}

export async function metadata(signal: AbortSignal): Promise<Readonly<Record<string, readonly MetadataJson[]>>> {
  const { data } = await requestJson<{ data: Readonly<Record<string, readonly MetadataJson[]>> }>(
    "prometheus/api/v1/metadata",
    { headers: projectHeaders(), signal },
  );
  return data;
}

/** At most 500 values of a label, of the selected project unless they are its names. */
export async function labelValues(
  label: string,
  { startMs, endMs }: Moments,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { data } = await requestJson<{ data: readonly string[] }>(`prometheus/api/v1/label/${label}/values`, {
    query: { start: seconds(startMs), end: seconds(endMs), limit: 500 },
    headers: label === "project_name" ? {} : projectHeaders(),
    signal,
  });
  return data;
}
