/** The queries of the benchmark, with their targets. */
import { needle, needleService } from "./log-records.ts";

export interface LogQuery {
  readonly name: string;
  /** The path below /loki/api/v1 and the parameters besides the time range. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** For Loki, where its query must be another one. */
  readonly lokiParameters?: Readonly<Record<string, string>>;
  readonly hours: number;
  /** Of p95. */
  readonly targetMs?: number;
  /** How many times faster than Loki. */
  readonly targetRatio?: number;
}

const entries = { direction: "backward", limit: "100" } as const;

/** @param requestId of one record */
export function logQueries(requestId: string): readonly LogQuery[] {
  const ofService = `{service_name="${needleService}"}`;
  const everything = '{service_name=~".+"}';
  const counts = (level: string): string => `sum by (service_name, ${level}) (count_over_time(${everything} [5m]))`;
  return [
    {
      name: "rare text, newest 100",
      path: "query_range",
      parameters: { query: `${ofService} |= \`${needle}\``, ...entries },
      hours: 24,
      targetMs: 100,
      targetRatio: 5,
    },
    {
      name: "one request by its ID, newest 100",
      path: "query_range",
      parameters: { query: `${ofService} |= \`${requestId}\``, ...entries },
      hours: 24,
    },
    {
      name: "counts by service and level, every 5 minutes",
      path: "query_range",
      parameters: { query: counts("level"), step: "300" },
      // What Loki finds out about the level of OTLP's records has only this name.
      lokiParameters: { query: counts("detected_level"), step: "300" },
      hours: 24,
      targetMs: 300,
    },
    { name: "names of labels", path: "labels", parameters: {}, hours: 24, targetMs: 100 },
    { name: "values of a label", path: "label/service_name/values", parameters: {}, hours: 24 },
    { name: "series of a service", path: "series", parameters: { "match[]": ofService }, hours: 24 },
    {
      name: "detected fields",
      path: "detected_fields",
      parameters: { query: ofService },
      hours: 24,
      targetMs: 100,
    },
    { name: "patterns", path: "patterns", parameters: { query: '{service_name="gateway"}', step: "300" }, hours: 24 },
    {
      name: "volume by service, every 15 minutes",
      path: "index/volume_range",
      parameters: { query: everything, targetLabels: "service_name", step: "900" },
      hours: 24,
    },
    {
      name: "slow failures by fields of JSON, newest 100",
      path: "query_range",
      parameters: { query: `${ofService} | json | status >= 500 and duration_ms > 2900`, ...entries },
      hours: 24,
    },
    {
      name: "newest 100 of a service",
      path: "query_range",
      parameters: { query: ofService, ...entries },
      hours: 1,
    },
  ];
}

export function pathOf(
  { hours, parameters, path }: Pick<LogQuery, "hours" | "parameters" | "path">,
  endUnixNano: bigint,
): string {
  const startUnixNano = endUnixNano - BigInt(hours) * 3_600_000_000_000n;
  const query = new URLSearchParams({ ...parameters, start: String(startUnixNano), end: String(endUnixNano) });
  return `/loki/api/v1/${path}?${query.toString()}`;
}
