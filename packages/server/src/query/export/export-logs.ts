/** Reads a page of log records as OTLP, oldest first. */
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { bind, callerOrganization, sql } from "../../store/statement.ts";
import { toAnyValue, toKeyValues } from "../attribute-values.ts";
import { allOf } from "../conditions.ts";
import { deduplicateRows } from "../distinct-rows.ts";
import { lookUpResources } from "../resource-lookup.ts";
import { isId, isTime } from "./export-cursor.ts";
import { ifAny, ifNotZero, ifSet } from "../otlp-json.ts";
import { type ExportPage, groupByScope, type PageRequest, recordsPerRequest } from "./export-page.ts";

interface LogRecordRow {
  readonly unix_nano: string;
  readonly observed_nano: string;
  readonly record_id: string;
  readonly severity_number: number;
  readonly severity_text: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly flags: number;
  readonly event_name: string;
  readonly body: string;
  readonly body_type: string;
  readonly resource_id: string;
  readonly scope_id: string;
  readonly attribute_names: readonly string[];
  readonly attribute_values: readonly string[];
  readonly attribute_types: string;
  readonly dropped_attributes: number;
}

/** Undefined if the cursor is not one of logs. @throws AppError as the store does */
export async function exportLogs({
  after,
  limit,
  project,
  range,
  reader,
  signal,
}: PageRequest): Promise<ExportPage | undefined> {
  const [time, id] = after ?? [];
  if (after !== undefined && !(isTime(time) && isId(id))) return undefined;
  const condition = allOf([
    sql`organization = ${callerOrganization} AND project = ${bind.text(project)}`,
    sql`time >= ${bind.time(time ?? range.fromUnixNano)} AND time <= ${bind.time(range.toUnixNano)}`,
    time === undefined || id === undefined
      ? undefined
      : sql`(time > ${bind.time(time)} OR record_id > ${bind.uint64(id)})`,
  ]);
  const found = await reader.query<LogRecordRow>(
    sql`SELECT toUnixTimestamp64Nano(time) AS unix_nano, toUnixTimestamp64Nano(observed_time) AS observed_nano, record_id,
        severity_number, severity_text, trace_id, span_id, flags, event_name, body, body_type, resource_id, scope_id,
        mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types, dropped_attributes
      FROM logs WHERE ${condition} ORDER BY time, record_id LIMIT ${bind.uint32(limit + 1)}`,
    { signal, maximumRows: limit + 1, duplicates: "kept" },
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const rows = await deduplicateRows(page, ({ record_id, unix_nano }) => `${unix_nano} ${record_id}`);
  const lookup = await lookUpResources(reader, rows, { signal });
  const yielder = new CooperativeYield();
  const requests: object[] = [];
  for (let start = 0; start < rows.length; start += recordsPerRequest) {
    const some = rows.slice(start, start + recordsPerRequest);
    const records = (ofScope: readonly LogRecordRow[]): object => ({ logRecords: ofScope.map(toLogRecord) });
    requests.push({ resourceLogs: await groupByScope(some, lookup, { name: "scopeLogs", records, yielder }) });
  }
  return { requests, next: found.length > limit && last ? [last.unix_nano, last.record_id] : undefined };
}

function toLogRecord(row: LogRecordRow): object {
  const attributes = { names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types };
  const hasBody = row.body !== "" || row.body_type !== "";
  return {
    timeUnixNano: row.unix_nano,
    ...ifNotZero("observedTimeUnixNano", row.observed_nano),
    ...ifSet("severityNumber", row.severity_number),
    ...ifSet("severityText", row.severity_text),
    ...(hasBody ? { body: toAnyValue(row.body, row.body_type) } : {}),
    ...ifAny("attributes", toKeyValues(attributes)),
    ...ifSet("droppedAttributesCount", row.dropped_attributes),
    ...ifSet("flags", row.flags),
    ...ifSet("traceId", row.trace_id),
    ...ifSet("spanId", row.span_id),
    ...ifSet("eventName", row.event_name),
  };
}
