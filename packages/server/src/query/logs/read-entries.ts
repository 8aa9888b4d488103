/**
 * Reads the newest or oldest log entries that match a filter, without duplicates, in an order that never changes.
 * docs/adr/0024-logql-traceql-and-searches.md
 */
import { bind, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf } from "../conditions.ts";
import { distinctRows } from "../distinct-rows.ts";
import { expandingWindows, expandingWindowsForward } from "../expanding-windows.ts";
import type { TimeRange } from "../time-window.ts";
import { filterCondition, type LogFilter } from "./log-filter.ts";
import type { DescribedRow } from "./log-labels.ts";
import { afterCondition, type Direction, type LogPosition } from "./log-position.ts";

export interface EntriesRequest {
  readonly filter: LogFilter;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  readonly direction: Direction;
  /** Only entries after this one in the order of results. */
  readonly after?: LogPosition | undefined;
  readonly limit: number;
  /** Whether to read the attributes of the records. */
  readonly withAttributes: boolean;
  readonly signal: AbortSignal;
}

export interface LogRow extends DescribedRow {
  readonly unix_nano: string;
  readonly record_id: string;
  readonly event_name: string;
  readonly body: string;
  readonly body_type: string;
  /** Absent unless requested. */
  readonly attribute_names?: readonly string[];
  readonly attribute_values?: readonly string[];
  readonly attribute_types?: string;
}

/**
 * In the order of the direction. The store filters and sorts by a few columns, and reads the others only for the rows that it returns.
 * @throws AppError as the store does
 */
export async function readEntries(reader: TenantReader, request: EntriesRequest): Promise<LogRow[]> {
  const { after, direction, filter, limit, signal } = request;
  const entries: LogRow[] = [];
  const matches = await filterCondition(reader, filter, signal);
  const sequence = direction === "backward" ? sql`time DESC, record_id DESC` : sql`time, record_id`;
  // Within one project this is the sort order of the table, so the store can stop at the limit.
  const order = filter.project === undefined ? sql`${sequence}, project` : sequence;
  for (const { fromUnixNano, toUnixNano } of windowsOf(request)) {
    const conditions = allOf([
      matches,
      sql`time >= ${bind.time(fromUnixNano)} AND time <= ${bind.time(toUnixNano)}`,
      after === undefined ? undefined : afterCondition(after, direction),
    ]);
    const read = (count: number): Promise<LogRow[]> =>
      reader.query<LogRow>(
        sql`SELECT project, toUnixTimestamp64Nano(time) AS unix_nano, record_id, toUInt8(level) AS level_number,
            severity_text, service, trace_id, span_id, event_name, body, body_type, resource_id, scope_id
            ${attributeColumns(request)}
          FROM logs WHERE ${conditions}
          ORDER BY ${order}
          LIMIT ${bind.uint32(count)}`,
        { signal, duplicates: "kept" },
      );
    entries.push(...(await distinctRows(limit - entries.length, read, keyOf)));
    if (entries.length >= limit) break;
  }
  return entries;
}

function attributeColumns({ withAttributes }: EntriesRequest): Statement {
  if (!withAttributes) return sql``;
  return sql`, mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types`;
}

/** Windows that begin at the newest possible entry, or at the oldest. */
function windowsOf({ after, direction, nowUnixNano, range }: EntriesRequest): Iterable<TimeRange> {
  if (direction === "forward") {
    const first = after === undefined ? range.fromUnixNano : BigInt(after.unixNano);
    return expandingWindowsForward({ ...range, fromUnixNano: first > range.fromUnixNano ? first : range.fromUnixNano });
  }
  const last = after === undefined ? range.toUnixNano : BigInt(after.unixNano);
  const toUnixNano = last < range.toUnixNano ? last : range.toUnixNano;
  return expandingWindows({ ...range, toUnixNano }, toUnixNano < nowUnixNano ? toUnixNano : nowUnixNano);
}

function keyOf({ project, unix_nano, record_id }: LogRow): string {
  return `${unix_nano} ${record_id} ${project}`;
}
