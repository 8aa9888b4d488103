/** What the telemetry cases extract from answers. */
import { BadRequestError, type AsyncSounding, type MetricsQueryParams } from "@sounding/client";

type Client = Pick<AsyncSounding, "logs" | "metrics">;
export type LogsParams = Parameters<AsyncSounding["logs"]["query"]>[0];

/** The texts of the log entries, newest first. */
export async function lines(client: Client, params: LogsParams): Promise<string[]> {
  const { samples } = await client.logs.query(params);
  return samples
    .flatMap(({ values }) => values)
    .sort(([left], [right]) => (BigInt(left) < BigInt(right) ? 1 : -1))
    .map(([, line]) => line);
}

/** Labels, joined, and the value of each sample of a vector, except zeros. */
export async function vector(client: Client, params: MetricsQueryParams): Promise<Record<string, number>> {
  const { samples } = await client.metrics.query(params);
  const entries = samples.map(({ metric, value }) => [Object.values(metric).sort().join(" "), Number(value![1])]);
  return Object.fromEntries(entries.filter(([, value]) => value !== 0)) as Record<string, number>;
}

export const isRefusal =
  (param: string) =>
  (error: unknown): boolean =>
    error instanceof BadRequestError && error.param === param;
