/**
 * Defines the rollups. A column that sums are grouped by has the name that it has in the rows, so that conditions on it mean the
 * same. docs/adr/0035-rollups.md
 */
import { durationBucket, durationNanos, hasDurationBucket, lineBytes } from "../row-expressions.ts";
import { opaqueKinds } from "../attribute-kinds.ts";
import { bind, callerOrganization, sql } from "../statement.ts";
import { callMinutes } from "./call-minutes.ts";
import { spendQuarters } from "./spend-quarters.ts";
import { hourOf, minuteOf, nameType, type Rollup } from "./rollup.ts";

const startUnixNano = sql`toUnixTimestamp64Nano(start_time)`;

export const spanMinutes: Rollup = {
  name: "span_minutes",
  source: "spans",
  table: "spans",
  touchedHours: sql`[${hourOf(startUnixNano)}]`,
  minute: minuteOf(startUnixNano),
  rows: ({ fromUnixNano, toUnixNano }) => sql`spans FINAL WHERE organization = ${callerOrganization}
    AND start_time >= ${bind.time(fromUnixNano)} AND start_time <= ${bind.time(toUnixNano)}`,
  groupedBy: {
    service: { type: nameType, value: sql`service` },
    kind: { type: "UInt8", value: sql`kind` },
    status_code: { type: "UInt8", value: sql`status_code` },
    resource_id: { type: "UInt64", value: sql`resource_id` },
  },
  sums: {
    spans: { type: "UInt64", value: sql`count()` },
    duration_nanos: { type: "Int64", value: sql`sum(${durationNanos})` },
    shortest_nanos: { type: "Int64", value: sql`min(${durationNanos})` },
    longest_nanos: { type: "Int64", value: sql`max(${durationNanos})` },
    /** Spans by the bucket of their duration. */
    spans_by_duration: {
      type: "Map(UInt64, UInt64)",
      value: sql`sumMapIf(map(${durationBucket}, toUInt64(1)), ${hasDurationBucket})`,
    },
  },
};

/** The least severity number of a row's level; 0 if it has none. Loki's levels are the same for both. */
const severityNumber = sql`multiIf(severity_number BETWEEN 1 AND 24, bitShiftRight(severity_number + 3, 2) * 4 - 3, severity_text != '', toUInt8(level) * 4 + 1, 0)`;

const timeUnixNano = sql`toUnixTimestamp64Nano(time)`;

export const logMinutes: Rollup = {
  name: "log_minutes",
  source: "logs",
  table: "logs",
  touchedHours: sql`[${hourOf(timeUnixNano)}]`,
  minute: minuteOf(timeUnixNano),
  rows: ({ fromUnixNano, toUnixNano }) => sql`logs FINAL WHERE organization = ${callerOrganization}
    AND time >= ${bind.time(fromUnixNano)} AND time <= ${bind.time(toUnixNano)}`,
  groupedBy: {
    service: { type: nameType, value: sql`service` },
    severity_number: { type: "UInt8", value: severityNumber },
    resource_id: { type: "UInt64", value: sql`resource_id` },
  },
  sums: {
    entries: { type: "UInt64", value: sql`count()` },
    /** Of the lines. */
    bytes: { type: "UInt64", value: sql`sum(${lineBytes})` },
    /** Entries whose body is a list, a map or encrypted. */
    structured: {
      type: "UInt64",
      value: sql`countIf(body_type IN ${bind.texts(opaqueKinds)})`,
    },
  },
};

export const rollups: readonly Rollup[] = [spanMinutes, logMinutes, callMinutes, spendQuarters];
export type RollupSource = Rollup["source"];
