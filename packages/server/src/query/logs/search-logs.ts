/**
 * Finds the newest or oldest log entries and returns them in Loki's format. https://grafana.com/docs/loki/latest/reference/loki-http-api/#query-logs-within-a-range-of-time
 * docs/adr/0024-logql-traceql-and-searches.md
 */
import type { LogEntry, LogsAnswer } from "../../api/observability-logs.ts";
import { longStep, CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TenantReader } from "../../store/store.ts";
import { toText } from "../attribute-values.ts";
import { lookUpResources } from "../resource-lookup.ts";
import type { TimeRange } from "../time-window.ts";
import type { LogFilter } from "./log-filter.ts";
import { logLabels } from "./log-labels.ts";
import { lineOf } from "./log-line.ts";
import { encodeCursor, entryId, type Direction, type LogCursor, type LogPosition } from "./log-position.ts";
import { readEntries, type LogRow } from "./read-entries.ts";

export interface LogsSearch {
  readonly filter: LogFilter;
  readonly range: TimeRange;
  readonly nowUnixNano: bigint;
  readonly direction: Direction;
  readonly limit: number;
  /** Where the previous page ended; `first`: no page before; undefined: no pages. */
  readonly page?: LogCursor | "first" | undefined;
  /** Whether to return the attributes of the records. */
  readonly detail: boolean;
  /** Whether to return the IDs of the entries; only with `detail`. */
  readonly ids: boolean;
  readonly signal: AbortSignal;
}

/** A body of this many characters may be a large map, which takes some hundred microseconds to convert. */
const longBody = 16_384;

/** @throws AppError as the store does */
export async function searchLogs(reader: TenantReader, search: LogsSearch): Promise<LogsAnswer> {
  const { rows, ...nextPage } = await readPage(reader, search);
  const descriptions = await lookUpResources(reader, rows, { signal: search.signal });
  const streams = new Map<string, LogsAnswer["data"]["result"][number]>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    const isLong = row.body.length > longBody || (row.attribute_names?.length ?? 0) > 0;
    if (yielder.isDue(isLong ? longStep : 1)) await yielder.yield();
    const labels = logLabels(row, descriptions);
    const identity = JSON.stringify(labels);
    let stream = streams.get(identity);
    if (stream === undefined) streams.set(identity, (stream = { stream: labels, values: [] }));
    stream.values.push(entryOf(row, search));
  }
  return {
    status: "success",
    data: {
      resultType: "streams",
      result: [...streams.values()],
      // No duration and no amount of data read: the same data must give the same bytes.
      stats: { summary: { totalEntriesReturned: rows.length } },
    },
    ...nextPage,
  };
}

async function readPage(
  reader: TenantReader,
  { detail, direction, filter, limit, nowUnixNano, page, range, signal }: LogsSearch,
): Promise<{ rows: LogRow[]; next_cursor?: string | null }> {
  const request = { filter, range, nowUnixNano, direction, limit, withAttributes: detail, signal };
  if (page === undefined) return { rows: await readEntries(reader, request) };
  const fromUnixNano = page === "first" || page.fromUnixNano === 0n ? range.fromUnixNano : page.fromUnixNano;
  const after = page === "first" ? undefined : page;
  // One more than the page has shows whether there is a next one.
  const found = await readEntries(reader, { ...request, range: { ...range, fromUnixNano }, after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows, next_cursor: null };
  return { rows, next_cursor: encodeCursor({ ...positionOf(last), fromUnixNano }) };
}

function positionOf({ project, record_id, unix_nano }: LogRow): LogPosition {
  return { unixNano: unix_nano, recordId: record_id, project };
}

function entryOf(row: LogRow, { detail, ids }: LogsSearch): LogEntry {
  const line = lineOf(row);
  if (!detail) return [row.unix_nano, line];
  const structuredMetadata = metadataOf(row);
  return [row.unix_nano, line, ids ? { structuredMetadata, id: entryId(positionOf(row)) } : { structuredMetadata }];
}

function metadataOf(row: LogRow): Record<string, string> {
  const { attribute_names: names = [], attribute_types: kinds = "", attribute_values: values = [] } = row;
  const attributes = names.map((name, index): [string, string] => [
    name,
    toText(values[index] ?? "", kinds[index] ?? "s"),
  ]);
  const event: [string, string][] = row.event_name === "" || row.body === "" ? [] : [["event_name", row.event_name]];
  return Object.fromEntries([...event, ...attributes]);
}
