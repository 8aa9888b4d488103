/** PromQL through Prometheus' HTTP API. https://prometheus.io/docs/prometheus/latest/querying/api/ */
import type { Moments } from "../state/time-range.ts";
import { requestJson } from "./request.ts";

export type Labels = Readonly<Record<string, string>>;

export interface InstantSeries {
  readonly metric: Labels;
  readonly value: readonly [seconds: number, value: string];
}

export interface RangeSeries {
  readonly metric: Labels;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

interface Answer<Series> {
  readonly data: { readonly result: readonly Series[] };
}

/** Matchers for the labels that have a value, in braces: `{project_name="shop"}`. */
export function matchers(labels: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(labels).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quote(value)}`],
  );
  return written.length === 0 ? "" : `{${written.join(",")}}`;
}

/** A string literal. https://prometheus.io/docs/prometheus/latest/querying/basics/#string-literals */
function quote(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

/** The values of an expression at one time. */
export async function instantQuery(
  query: string,
  atMs: number,
  signal: AbortSignal,
): Promise<readonly InstantSeries[]> {
  const body = new URLSearchParams({ query, time: String(atMs / 1000) });
  return (await post<InstantSeries>("query", body, signal)).data.result;
}

/** The values of an expression at every step. */
export async function rangeQuery(
  query: string,
  { startMs, endMs, stepSeconds }: Moments & { readonly stepSeconds: number },
  signal: AbortSignal,
): Promise<readonly RangeSeries[]> {
  const body = new URLSearchParams({
    query,
    start: String(startMs / 1000),
    end: String(endMs / 1000),
    step: String(stepSeconds),
  });
  return (await post<RangeSeries>("query_range", body, signal)).data.result;
}

function post<Series>(path: string, body: URLSearchParams, signal: AbortSignal): Promise<Answer<Series>> {
  return requestJson(`prometheus/api/v1/${path}`, {
    body: body.toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    signal,
  });
}

const steps = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** A round step in seconds that divides the range into at most so many points. */
export function stepSeconds({ startMs, endMs }: Moments, points = 60): number {
  const least = (endMs - startMs) / 1000 / points;
  return steps.find((step) => step >= least) ?? Math.ceil(least / 86_400) * 86_400;
}
