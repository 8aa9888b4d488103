/**
 * Finds the newest log entries and returns them in Loki's format. https://grafana.com/docs/loki/latest/reference/loki-http-api/#query-logs-within-a-range-of-time
 * docs/adr/0024-log-and-trace-queries.md
 */
import type { LogsAnswer, Severity } from "../../api/observability.ts";
import { longStep, CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { toText } from "../attribute-values.ts";
import { allOf, projectCondition } from "../conditions.ts";
import { distinctRows } from "../distinct-rows.ts";
import { logLabels, type DescribedRow } from "./log-labels.ts";
import { expandingWindows } from "../expanding-windows.ts";
import type { TimeRange } from "../time-window.ts";
import { lookUpResources } from "../resource-lookup.ts";

export interface LogsSearch {
  /** Undefined: every project of the organization. */
  readonly project: string | undefined;
  /** Undefined: every level. */
  readonly severity: Severity | undefined;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface LogRow extends DescribedRow {
  readonly unix_nano: string;
  readonly record_id: string;
  readonly event_name: string;
  readonly body: string;
  readonly body_type: string;
}

/** A body of this many characters may be a large map, which takes some hundred microseconds to convert. */
const longBody = 16_384;

/** @throws AppError as the store does */
export async function searchLogs(reader: TenantReader, search: LogsSearch): Promise<LogsAnswer> {
  const rows = await newestEntries(reader, search);
  const descriptions = await lookUpResources(reader, rows, { signal: search.signal });
  const streams = new Map<string, LogsAnswer["data"]["result"][number]>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    if (yielder.isDue(row.body.length > longBody ? longStep : 1)) await yielder.yield();
    const labels = logLabels(row, descriptions);
    const identity = JSON.stringify(labels);
    let stream = streams.get(identity);
    if (stream === undefined) streams.set(identity, (stream = { stream: labels, values: [] }));
    stream.values.push([row.unix_nano, lineOf(row)]);
  }
  return {
    status: "success",
    data: {
      resultType: "streams",
      result: [...streams.values()],
      // No duration and no amount of data read: the same data must give the same bytes.
      stats: { summary: { totalEntriesReturned: rows.length } },
    },
  };
}

/** OpenTelemetry events may have a name and no body. */
function lineOf({ body, body_type, event_name }: LogRow): string {
  return body === "" ? event_name : toText(body, body_type);
}

function ofSeverity(severity: Severity | undefined): Statement | undefined {
  return severity === undefined ? undefined : sql`level = ${bind.text(severity)}`;
}

/** Newest first. The store filters and sorts by a few columns, and reads the others only for the rows that it returns. */
async function newestEntries(reader: TenantReader, search: LogsSearch): Promise<LogRow[]> {
  const entries: LogRow[] = [];
  // Within one project this is the sort order of the table, so the store can stop at the limit.
  const order = search.project === undefined ? sql`time DESC, record_id DESC, project` : sql`time DESC, record_id DESC`;
  for (const { fromUnixNano, toUnixNano } of expandingWindows(search.range, search.nowUnixNano)) {
    const conditions = allOf([
      sql`organization = ${callerOrganization}`,
      projectCondition(search.project),
      sql`time >= ${bind.time(fromUnixNano)} AND time <= ${bind.time(toUnixNano)}`,
      ofSeverity(search.severity),
    ]);
    const read = (limit: number): Promise<LogRow[]> =>
      reader.query<LogRow>(
        sql`SELECT project, toUnixTimestamp64Nano(time) AS unix_nano, record_id, toUInt8(level) AS level_number,
            severity_text, service, trace_id, span_id, event_name, body, body_type, resource_id, scope_id
          FROM logs WHERE ${conditions}
          ORDER BY ${order}
          LIMIT ${bind.uint32(limit)}`,
        { signal: search.signal, duplicates: "kept" },
      );
    entries.push(...(await distinctRows(search.limit - entries.length, read, keyOf)));
    if (entries.length >= search.limit) break;
  }
  return entries;
}

function keyOf({ project, unix_nano, record_id }: LogRow): string {
  return `${unix_nano} ${record_id} ${project}`;
}
