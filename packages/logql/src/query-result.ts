/** The results of LogQL queries, as their callers get them. */
import type { MatrixSeries, VectorSample } from "@sounding/promql/query-value";
import type { Labels } from "@sounding/promql/series/labels";

/** An entry after the pipeline, with its labels by where they came from. */
export interface LogEntry {
  readonly unixNano: bigint;
  readonly line: string;
  readonly structuredMetadata: Labels;
  /** Labels that a stage of the query set. */
  readonly parsed: Labels;
}

/** Entries with the same labels, in the direction of the query. */
export interface LogStream {
  /** All labels, or only the stream's own ones if the query categorizes them. */
  readonly labels: Labels;
  readonly entries: readonly LogEntry[];
}

export type LogqlValue =
  /** Sorted by labels. */
  | { readonly type: "streams"; readonly streams: readonly LogStream[] }
  /** Sorted by labels, unless the query sorts by value. */
  | { readonly type: "vector"; readonly samples: readonly VectorSample[] }
  /** Sorted by labels. */
  | { readonly type: "matrix"; readonly series: readonly MatrixSeries[] }
  | { readonly type: "scalar"; readonly value: number };

/** What a query cost. */
export interface QueryStatistics {
  /** Entries that the engine got from the store, including those that the pipeline removed. */
  readonly entriesRead: number;
  /** Bytes of their lines. */
  readonly bytesRead: number;
  /** Entries, or samples, of the result. */
  readonly entriesReturned: number;
  readonly durationMs: number;
}

export interface LogqlResult {
  readonly value: LogqlValue;
  readonly statistics: QueryStatistics;
}
