/** Reads what is known of whole traces: their roots, times, and the spans and errors of each service. */
import type { ServiceCounts, TraceHead } from "@sounding/traceql/storage";
import { sql, type Statement } from "../../../store/statement.ts";
import type { ReadOptions, SpanRow } from "./read-spans.ts";

interface HeadRow {
  readonly trace_id: string;
  readonly root_name: string;
  readonly root_service: string;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly services: readonly [names: string[], spans: string[], errors: string[]];
}

/** @param condition the spans of the traces */
export async function readTraceHeads(
  condition: Statement,
  { charge, reader, signal }: Omit<ReadOptions, "needed">,
): Promise<ReadonlyMap<string, TraceHead>> {
  const order = sql`(start_time, span_id)`;
  const rows = await reader.query<HeadRow>(
    sql`SELECT trace_id, argMinIf(name, ${order}, parent_span_id = '') AS root_name,
        argMinIf(service, ${order}, parent_span_id = '') AS root_service,
        toUnixTimestamp64Nano(min(start_time)) AS start_nano, toUnixTimestamp64Nano(max(end_time)) AS end_nano,
        sumMap([toString(service)], [toUInt64(1)], [toUInt64(status_code = 2)]) AS services
      FROM (
        SELECT trace_id, span_id, parent_span_id, name, service, start_time, end_time, status_code FROM spans
        WHERE ${condition} LIMIT 1 BY project, start_time, trace_id, span_id
      ) GROUP BY trace_id`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
  return new Map(rows.map((row) => [row.trace_id, toHead(row)]));
}

function toHead({ end_nano, root_name, root_service, services, start_nano }: HeadRow): TraceHead {
  const [start, end] = [BigInt(start_nano), BigInt(end_nano)];
  const [names, spans, errors] = services;
  return {
    rootName: root_name,
    rootServiceName: root_service,
    startUnixNano: start,
    durationNano: end > start ? end - start : 0n,
    services: new Map(
      names.map((name, index): [string, ServiceCounts] => [
        name,
        { spans: Number(spans[index]), errors: Number(errors[index]) },
      ]),
    ),
  };
}

interface CountedHead {
  root: SpanRow | undefined;
  readonly startUnixNano: bigint;
  endUnixNano: bigint;
  readonly services: Map<string, { spans: number; errors: number }>;
}

/** The same heads from all spans of the traces, where they are read anyway. */
export class CountedHeads {
  readonly #heads = new Map<string, CountedHead>();

  /** The spans of a trace come in the order of their start and then their ID. */
  add(row: SpanRow): void {
    const end = BigInt(row.end_nano);
    let head = this.#heads.get(row.trace_id);
    if (head === undefined) {
      head = { root: undefined, startUnixNano: BigInt(row.start_nano), endUnixNano: end, services: new Map() };
      this.#heads.set(row.trace_id, head);
    }
    if (row.parent_span_id === "") head.root ??= row;
    if (end > head.endUnixNano) head.endUnixNano = end;
    let service = head.services.get(row.service);
    if (service === undefined) head.services.set(row.service, (service = { spans: 0, errors: 0 }));
    service.spans++;
    if (row.status_code === 2) service.errors++;
  }

  get(traceId: string): TraceHead | undefined {
    const head = this.#heads.get(traceId);
    if (head === undefined) return undefined;
    const { endUnixNano: end, root, services, startUnixNano: start } = head;
    return {
      rootName: root?.name ?? "",
      rootServiceName: root?.service ?? "",
      startUnixNano: start,
      durationNano: end > start ? end - start : 0n,
      services,
    };
  }
}
