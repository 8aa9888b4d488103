/**
 * Reads the log entries of a LogQL query in order of time, without duplicates, in slices of bounded size: as long as the engine
 * evaluates one slice, no statement runs.
 */
import type { EntriesRequest, EntryBatch } from "@sounding/logql/storage";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { allOf } from "../../conditions.ts";
import { nowUnixNano } from "../../time-window.ts";
import { afterCondition } from "../log-position.ts";
import { EntryColumns } from "./entry-columns.ts";
import type { LogsQuery } from "./logs-query.ts";
import { readSlice, type SliceRequest } from "./read-slice.ts";
import { rowConditions } from "./row-conditions.ts";
import { SliceSizes } from "./slice-sizes.ts";
import { lastUnixNano } from "./store-times.ts";
import { StreamTable } from "./stream-table.ts";
import { StructuredMetadata } from "./structured-metadata.ts";

export async function* readEntries(request: EntriesRequest, query: LogsQuery): AsyncGenerator<EntryBatch> {
  const { direction, expectedEntries, matchers, signal, yieldBudget } = request;
  const charged = { signal, memory: { add: request.charge } };
  const columns = new EntryColumns(request.needs);
  const streams = new StreamTable(query.reader, { ...charged, matchers, yieldBudget });
  const metadata = new StructuredMetadata(request.needs.structuredMetadata);
  const matches = await rowConditions(request, query);
  if (matches === null) return;
  const { isIndexed } = matches;
  const sizes = new SliceSizes({
    ...rangeOf(request),
    direction,
    expectedEntries,
    isIndexed,
    nowUnixNano: nowUnixNano(),
  });
  for (let slice = sizes.next(); slice !== undefined; slice = sizes.next()) {
    const { after, fromUnixNano, limit, toUnixNano } = slice;
    const conditions = allOf([
      matches.condition,
      sql`time >= ${bind.time(fromUnixNano)} AND time <= ${bind.time(toUnixNano)}`,
      after === undefined ? undefined : afterCondition(after, direction),
    ]);
    const statement = sql`SELECT ${columns.selected} FROM logs WHERE ${conditions}
      ORDER BY ${orderOf(request, query)} LIMIT ${bind.uint32(limit)}`;
    const rows = await readSlice({ reader: query.reader, statement, limit, ...charged } satisfies SliceRequest);
    sizes.done(rows);
    if (rows === "too-large" || rows.count === 0) continue;
    const batch = await columns.batch(rows, { streams, metadata, yieldBudget });
    if (batch.count > 0) yield batch;
  }
}

function rangeOf({ fromUnixNano, toUnixNano }: EntriesRequest): { fromUnixNano: bigint; toUnixNano: bigint } {
  const last = toUnixNano - 1n;
  return { fromUnixNano: fromUnixNano > 0n ? fromUnixNano : 0n, toUnixNano: last < lastUnixNano ? last : lastUnixNano };
}

/** Within one project this is the sort order of the table, so the store can stop at the limit. */
function orderOf({ direction }: EntriesRequest, { project }: LogsQuery): Statement {
  const sequence = direction === "backward" ? sql`time DESC, record_id DESC` : sql`time, record_id`;
  return project === undefined ? sql`${sequence}, project` : sequence;
}
