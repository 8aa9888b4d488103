/** Defines the form of rollups: sums of rows by minute and by the columns that most queries group and filter by. */
import { sql, type Statement } from "../statement.ts";

export interface RollupColumn {
  /** The type in SQL. */
  readonly type: string;
  /** The expression over rows. */
  readonly value: Statement;
}

/** An hour, in nanoseconds since 1970, both included. */
export interface HourRange {
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
}

/** A minute or hour excludes its start and includes its end, as the intervals of TraceQL, LogQL and PromQL do. */
export interface Rollup {
  readonly name: "span_minutes" | "log_minutes" | "call_minutes" | "spend_quarters";
  /** What is summed. */
  readonly source: "spans" | "logs" | "calls" | "spend";
  /** The rollup of the same rows and hours whose touches are this one's as well. */
  readonly touchedWith?: "calls";
  /** Its rows. */
  readonly table: "spans" | "logs";
  /** The hours whose sums a row can change, as a list of their starts in seconds. Without parameters. */
  readonly touchedHours: Statement;
  /** An hour's rows, with the columns `project` and `days`: `… WHERE …`. */
  readonly rows: (hour: HourRange) => Statement;
  /** The start of a row's minute, in seconds. */
  readonly minute: Statement;
  readonly groupedBy: Readonly<Record<string, RollupColumn>>;
  /** One of these columns that every query compares with a value; sums are sorted by it before the minute. */
  readonly level?: string;
  readonly sums: Readonly<Record<string, RollupColumn>>;
}

export const minuteNanos = 60_000_000_000n;
export const hourNanos = 3_600_000_000_000n;

/** The start of a time's minute, in seconds. */
export function minuteOf(unixNano: Statement): Statement {
  return sql`intDiv(${unixNano} - 1, 60000000000) * 60`;
}

export function hourOf(unixNano: Statement): Statement {
  return sql`${hourNumber(unixNano)} * 3600`;
}

/** The number of a time's hour since 1970. */
export function hourNumber(unixNano: Statement): Statement {
  return sql`intDiv(${unixNano} - 1, 3600000000000)`;
}

/** The type of columns with few values. */
export const nameType = "LowCardinality(String)";
