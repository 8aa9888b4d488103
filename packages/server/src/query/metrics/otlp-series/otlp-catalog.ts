/** Lists the metrics that applications sent over OTLP, with the names under which PromQL selects them. */
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { metricTypes } from "../../../store/metric-tables.ts";
import { isTargetInfo } from "../../../store/row-expressions.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import type { SelectRequest } from "@sounding/promql/storage";
import type { OtlpMetric, OtlpPart, OtlpSeriesName } from "./otlp-metric.ts";
import { remembered } from "./remembered-descriptions.ts";
import { metricName } from "./prometheus-names.ts";

interface CatalogRow {
  readonly metric: string;
  readonly unit: string;
  readonly description: string;
  readonly type: keyof typeof metricTypes;
  readonly monotonic: number;
}

interface CatalogOptions {
  readonly project: string | undefined;
  /** Whether to read the descriptions, which takes most of the time. */
  readonly descriptions?: boolean | undefined;
}

type CatalogRequest = CatalogOptions & Pick<SelectRequest, "fromMs" | "signal" | "charge">;

/** The metrics that were sent since a time, at most 50,000. */
export function readCatalog(reader: TenantReader, request: CatalogRequest): Promise<readonly OtlpMetric[]> {
  const { descriptions = false, fromMs, project = null } = request;
  return remembered(reader, {
    key: JSON.stringify(["metrics", project, seenSinceDay(fromMs), descriptions]),
    read: () => readMetrics(reader, request),
    bytesOf: (metrics) =>
      metrics.reduce((sum, { description, name }) => sum + 300 + description.length + name.length, 0),
  });
}

async function readMetrics(
  reader: TenantReader,
  { charge, descriptions, fromMs, project, signal }: CatalogRequest,
): Promise<OtlpMetric[]> {
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    sql`NOT ${isTargetInfo}`,
    seenSinceCondition(fromMs),
  ]);
  const description = descriptions === true ? sql`any(description)` : sql`''`;
  const rows = await reader.query<CatalogRow>(
    sql`SELECT metric, unit, ${description} AS description, toString(type) AS type, monotonic FROM series
      WHERE ${conditions} GROUP BY metric, unit, type, monotonic ORDER BY metric LIMIT 50000`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
  return rows.map((row) => ({ ...row, monotonic: row.monotonic === 1, name: nameOf(row) }));
}

/** The row of a series is written again on each day that the series has points. */
export function seenSinceCondition(fromMs: number): Statement {
  return sql`seen >= fromUnixTimestamp(${bind.int64(BigInt(seenSinceDay(fromMs) * 86_400))})`;
}

/** Days since 1970. Whole days, so that the queries of a day can share what they read. */
export function seenSinceDay(fromMs: number): number {
  return Math.max(0, Math.floor(fromMs / 86_400_000) - 2);
}

function nameOf({ metric, monotonic, type, unit }: CatalogRow): string {
  const isCounter = type === "sum" && monotonic === 1;
  // As in Prometheus, a sum that can fall is a gauge, but gets no suffix `_ratio`.
  return metricName({ name: metric, unit, isCounter, isGauge: type === "gauge" });
}

// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive, which tsc checks
export function seriesNames(metric: OtlpMetric): OtlpSeriesName[] {
  const part = (each: OtlpPart, suffix: string): OtlpSeriesName => ({ name: metric.name + suffix, metric, part: each });
  const { type } = metric;
  switch (type) {
    case "gauge":
    case "sum":
      return [part("value", "")];
    case "histogram":
      return [part("bucket", "_bucket"), part("sum", "_sum"), part("count", "_count")];
    case "exponential_histogram":
      return [part("native", "")];
    case "summary":
      return [part("quantile", ""), part("sum", "_sum"), part("count", "_count")];
  }
}
