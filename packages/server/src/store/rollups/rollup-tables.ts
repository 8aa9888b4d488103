/**
 * Defines the rollups: sums of rows by minute and by the columns that most queries group and filter by. Such a column has the name
 * that it has in the source, so that conditions on it mean the same. A minute or hour excludes its start and includes its end, as
 * the intervals of TraceQL, LogQL and PromQL do. docs/adr/0035-rollups.md
 */
import { durationBucket, durationNanos, hasDurationBucket, lineBytes } from "../row-expressions.ts";
import { attributeKinds } from "../schema.ts";
import type { Statement } from "../statement.ts";

interface RollupColumn {
  /** The type in SQL. */
  readonly type: string;
  /** The expression over rows of the source. */
  readonly value: string;
}

export interface Rollup {
  readonly name: "span_minutes" | "log_minutes";
  readonly source: "spans" | "logs";
  readonly timeColumn: "start_time" | "time";
  readonly groupedBy: Readonly<Record<string, RollupColumn>>;
  readonly sums: Readonly<Record<string, RollupColumn>>;
}

const name = "LowCardinality(String)";
const textOf = (expression: Statement): string => expression.render().text;
const nanos = textOf(durationNanos);

function unchanged(column: string, type: string): RollupColumn {
  return { type, value: column };
}

export const spanMinutes: Rollup = {
  name: "span_minutes",
  source: "spans",
  timeColumn: "start_time",
  groupedBy: {
    service: unchanged("service", name),
    kind: unchanged("kind", "UInt8"),
    status_code: unchanged("status_code", "UInt8"),
    resource_id: unchanged("resource_id", "UInt64"),
  },
  sums: {
    spans: { type: "UInt64", value: "count()" },
    duration_nanos: { type: "Int64", value: `sum(${nanos})` },
    shortest_nanos: { type: "Int64", value: `min(${nanos})` },
    longest_nanos: { type: "Int64", value: `max(${nanos})` },
    /** Spans by the bucket of their duration. */
    spans_by_duration: {
      type: "Map(UInt64, UInt64)",
      value: `sumMapIf(map(${textOf(durationBucket)}, toUInt64(1)), ${textOf(hasDurationBucket)})`,
    },
  },
};

/** The least severity number of a row's level; 0 if it has none. Loki's levels are the same for both. */
const severityNumber =
  "multiIf(severity_number BETWEEN 1 AND 24, bitShiftRight(severity_number + 3, 2) * 4 - 3, severity_text != '', toUInt8(level) * 4 + 1, 0)";

export const logMinutes: Rollup = {
  name: "log_minutes",
  source: "logs",
  timeColumn: "time",
  groupedBy: {
    service: unchanged("service", name),
    severity_number: { type: "UInt8", value: severityNumber },
    resource_id: unchanged("resource_id", "UInt64"),
  },
  sums: {
    entries: { type: "UInt64", value: "count()" },
    /** Of the lines. */
    bytes: { type: "UInt64", value: `sum(${textOf(lineBytes)})` },
    /** Entries whose body is a list or a map. */
    structured: {
      type: "UInt64",
      value: `countIf(body_type IN ('${attributeKinds.array}', '${attributeKinds.map}'))`,
    },
  },
};

export const rollups: readonly Rollup[] = [spanMinutes, logMinutes];
export type RollupSource = Rollup["source"];

export const minuteNanos = 60_000_000_000n;
export const hourNanos = 3_600_000_000_000n;
