/** Reads a page of spans as OTLP, in the order of their start. */
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { bind, callerOrganization, sql } from "../../store/statement.ts";
import { allOf } from "../conditions.ts";
import { lookUpResources } from "../resource-lookup.ts";
import { otlpForm, toResourceSpans } from "../traces/resource-spans.ts";
import { readFirstSpans, readSpanDetails } from "../traces/spans.ts";
import { isTime } from "./export-cursor.ts";
import { type ExportPage, type PageRequest, recordsPerRequest } from "./export-page.ts";

/** Undefined if the cursor is not one of traces. @throws AppError as the store does */
export async function exportTraces({
  after,
  limit,
  project,
  range,
  reader,
  signal,
}: PageRequest): Promise<ExportPage | undefined> {
  const [start, traceId, spanId] = after ?? [];
  if (after !== undefined && !(isTime(start) && traceId !== undefined && spanId !== undefined)) return undefined;
  const condition = allOf([
    sql`organization = ${callerOrganization} AND project = ${bind.text(project)}`,
    sql`start_time >= ${bind.time(start ?? range.fromUnixNano)} AND start_time <= ${bind.time(range.toUnixNano)}`,
    start === undefined || traceId === undefined || spanId === undefined
      ? undefined
      : sql`(start_time > ${bind.time(start)} OR trace_id > ${bind.text(traceId)}
          OR (trace_id = ${bind.text(traceId)} AND span_id > ${bind.text(spanId)}))`,
  ]);
  const { isComplete, spans } = await readFirstSpans(reader, condition, { signal, limit });
  const [descriptions, details] = await Promise.all([
    lookUpResources(reader, spans, { signal }),
    readSpanDetails(reader, spans, signal),
  ]);
  const context = { ...descriptions, details };
  const yielder = new CooperativeYield();
  const requests: object[] = [];
  for (let at = 0; at < spans.length; at += recordsPerRequest) {
    const some = spans.slice(at, at + recordsPerRequest);
    requests.push({ resourceSpans: await toResourceSpans(some, context, { form: otlpForm, yielder }) });
  }
  const last = spans.at(-1);
  return { requests, next: isComplete || !last ? undefined : [last.start_nano, last.trace_id, last.span_id] };
}
