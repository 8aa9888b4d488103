/**
 * Reads a sample of the entries of a query: the newest ones of each slice of its time range, by two statements for all slices. The
 * first counts entries by short cells of time, the second reads the cells that have enough.
 */
import type { EntriesRequest, EntryBatch } from "@sounding/logql/storage";
import { rolledUpPart } from "../../../store/rollups/rolled-up-part.ts";
import { minuteNanos } from "../../../store/rollups/rollup.ts";
import { logMinutes } from "../../../store/rollups/rollup-tables.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import type { TimeRange } from "../../time-window.ts";
import { EntryColumns } from "./entry-columns.ts";
import type { LogsQuery } from "./logs-query.ts";
import { readSlice, type SliceRows } from "./read-slice.ts";
import { rowConditions, type RowConditions } from "./row-conditions.ts";
import { logMinuteRows } from "./log-minutes.ts";
import { clampedTime, timesCondition } from "./store-times.ts";
import { StreamTable } from "./stream-table.ts";
import { StructuredMetadata } from "./structured-metadata.ts";

export interface SampleOptions {
  /** The range of the query: from included, to excluded. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
  readonly slices: number;
  readonly entriesPerSlice: number;
}

interface MinuteRow {
  /** Seconds since 1970. */
  readonly start: number;
  readonly count: string;
}

/** More make the windows shorter, which then have fewer entries in vain. */
const cellsPerSlice = 64n;

/** Entries of one query, in no particular order. */
export class EntrySample {
  readonly #query: LogsQuery;
  readonly #options: SampleOptions;
  readonly #cellNanos: bigint;
  readonly #sliceNanos: bigint;
  /** Rows by slice that meet the conditions of the query, and those that were read. */
  readonly #found: number[];
  readonly #read: number[];

  constructor(query: LogsQuery, options: SampleOptions) {
    const cells = BigInt(options.slices) * cellsPerSlice;
    const length = options.toUnixNano - options.fromUnixNano;
    this.#query = query;
    this.#options = options;
    this.#cellNanos = length > cells ? (length + cells - 1n) / cells : 1n;
    this.#sliceNanos = this.#cellNanos * cellsPerSlice;
    this.#found = Array.from({ length: options.slices }, () => 0);
    this.#read = this.#found.slice();
  }

  sliceOf(unixNano: bigint): number {
    return Number((unixNano - this.#options.fromUnixNano) / this.#sliceNanos);
  }

  /** From included, to excluded. */
  boundsOf(slice: number): TimeRange {
    const { fromUnixNano, toUnixNano } = this.#options;
    const start = fromUnixNano + BigInt(slice) * this.#sliceNanos;
    const end = start + this.#sliceNanos;
    return { fromUnixNano: start, toUnixNano: end < toUnixNano ? end : toUnixNano };
  }

  /** How many entries each sampled entry of a slice stands for. */
  weightOf(slice: number): number {
    const read = this.#read[slice]!;
    return read === 0 ? 1 : Math.max(1, this.#found[slice]! / read);
  }

  async *entries(request: EntriesRequest): AsyncGenerator<EntryBatch> {
    const { matchers, needs, signal, yieldBudget } = request;
    const matches = await rowConditions(request, this.#query);
    if (matches === null) return;
    const windows = await this.#windows(matches, request);
    const charged = { signal, memory: { add: request.charge } };
    const columns = new EntryColumns(needs);
    const streams = new StreamTable(this.#query.reader, { ...charged, matchers, yieldBudget });
    const metadata = new StructuredMetadata(needs.structuredMetadata);
    let limit = this.#options.entriesPerSlice;
    const waiting = windows.length === 0 ? [] : [windows];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const rows = await readSlice({
        reader: this.#query.reader,
        statement: this.#statement(columns, matches, { windows: next, limit }),
        limit: limit * next.length,
        ...charged,
      });
      if (rows === "too-large") {
        const half = Math.ceil(next.length / 2);
        if (next.length === 1) limit = Math.ceil(limit / 4);
        waiting.push(...[next.slice(half), next.slice(0, half)].filter((part) => part.length > 0));
        continue;
      }
      this.#countRead(rows);
      const batch = await columns.batch(rows, { streams, metadata, yieldBudget });
      if (batch.count > 0) yield batch;
    }
  }

  /** Of each slice, the cells that have the newest entries: from included, to excluded. */
  async #windows(matches: RowConditions, request: EntriesRequest): Promise<TimeRange[]> {
    const { entriesPerSlice, slices } = this.#options;
    const found = await this.#countCells(matches, request);
    const windows: TimeRange[] = [];
    for (let slice = slices - 1; slice >= 0; slice -= 1) {
      const last = (slice + 1) * Number(cellsPerSlice);
      const counts = found.subarray(last - Number(cellsPerSlice), last);
      let taken = 0;
      let first = counts.length;
      while (first > 0 && taken < entriesPerSlice) taken += counts[--first]!;
      this.#found[slice] = counts.reduce((sum, count) => sum + count, 0);
      if (taken === 0) continue;
      const bounds = this.boundsOf(slice);
      windows.push({ ...bounds, fromUnixNano: bounds.fromUnixNano + BigInt(first) * this.#cellNanos });
    }
    return windows;
  }

  /** Entries by cell, from sums by minute where these have all that is asked: within a minute, they are taken to be spread evenly. */
  async #countCells({ condition }: RowConditions, request: EntriesRequest): Promise<Float64Array> {
    const { fromUnixNano, slices, toUnixNano } = this.#options;
    const { charge, lineFilters, metadataMatchers, signal } = request;
    const { reader } = this.#query;
    const options = { signal, memory: { add: charge }, duplicates: "kept" } as const;
    const range = { fromUnixNano: clampedTime(fromUnixNano), toUnixNano: clampedTime(toUnixNano - 1n) };
    const isSummed = lineFilters.length === 0 && metadataMatchers.length === 0;
    const { condition: rolledUp, rest } = await rolledUpPart(logMinutes, range, { reader, signal, isSummed });
    const cell = sql`intDiv(toUnixTimestamp64Nano(time) - ${bind.int64(fromUnixNano)}, ${bind.int64(this.#cellNanos)})`;
    const cells = slices * Number(cellsPerSlice);
    const [minutes, [row]] = await Promise.all([
      rolledUp === undefined
        ? []
        : reader.query<MinuteRow>(
            sql`SELECT toUnixTimestamp(minute) AS start, sum(entries) AS count FROM ${logMinuteRows}
              WHERE ${condition} AND ${rolledUp} GROUP BY minute`,
            options,
          ),
      reader.query<{ readonly counts: readonly string[] }>(
        sql`SELECT countResample(0, ${bind.uint32(cells)}, 1)(toUInt32(${cell})) AS counts FROM logs
          WHERE ${condition} AND ${timesCondition(rest)}`,
        options,
      ),
    ]);
    const counts = Float64Array.from(row!.counts, Number);
    for (const { count, start } of minutes) this.#spread(counts, BigInt(start) * 1_000_000_000n, Number(count));
    return counts;
  }

  /** Adds the entries of a minute to the cells that it covers. */
  #spread(counts: Float64Array, minuteNano: bigint, count: number): void {
    const from = Number(minuteNano - this.#options.fromUnixNano);
    const length = Number(this.#cellNanos);
    const end = from + Number(minuteNanos);
    for (let cell = Math.floor(from / length); cell * length < end && cell < counts.length; cell += 1) {
      const covered = Math.min(end, (cell + 1) * length) - Math.max(from, cell * length);
      counts[cell]! += (count * covered) / Number(minuteNanos);
    }
  }

  #statement(
    columns: EntryColumns,
    { condition }: RowConditions,
    { limit, windows }: { readonly windows: readonly TimeRange[]; readonly limit: number },
  ): Statement {
    const { fromUnixNano } = this.#options;
    const within = windows.map(({ toUnixNano, ...window }) => ({ ...window, toUnixNano: toUnixNano - 1n }));
    return sql`SELECT ${columns.selected} FROM logs WHERE ${condition} AND ${timesCondition(within)}
      ORDER BY time DESC, record_id DESC, project
      LIMIT ${bind.uint32(limit)} BY intDiv(toUnixTimestamp64Nano(time) - ${bind.int64(fromUnixNano)}, ${bind.int64(this.#sliceNanos)})`;
  }

  #countRead({ blocks }: SliceRows): void {
    for (const { columns } of blocks) {
      for (const unixNano of columns.get("unix_nano") as BigInt64Array) this.#read[this.sliceOf(unixNano)]! += 1;
    }
  }
}
