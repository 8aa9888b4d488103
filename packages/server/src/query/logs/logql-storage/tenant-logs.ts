/**
 * Serves one organization's log entries to the LogQL engine and to Loki's API. The reader fixes the organization and the key
 * fixes the project before any query is evaluated. docs/adr/0024-logql-traceql-and-searches.md
 */
import type { LogqlStorage } from "@sounding/logql/storage";
import {
  labelNames,
  labelValues,
  readStreams,
  streamStatistics,
  streamVolumes,
  type LabelValuesRequest,
  type LogStream,
  type StreamsRequest,
  type StreamStatistics,
  type StreamVolume,
  type VolumesRequest,
} from "../streams.ts";
import { countWindows } from "./count-windows.ts";
import { readEntries } from "./entries.ts";
import { EntrySample, type SampleOptions } from "./entry-sample.ts";
import type { LogsQuery } from "./logs-query.ts";

export interface TenantLogs extends LogqlStorage {
  /** The streams that have entries in the range and satisfy all matchers, sorted by their labels. */
  streams(request: StreamsRequest): Promise<readonly LogStream[]>;
  /** The names of these streams' labels, sorted. */
  labelNames(request: StreamsRequest): Promise<readonly string[]>;
  /** The values of one of their labels, sorted. */
  labelValues(request: LabelValuesRequest): Promise<readonly string[]>;
  /** The bytes of their lines by sets of labels and steps, in no order. */
  volumes(request: VolumesRequest): Promise<readonly StreamVolume[]>;
  statistics(request: StreamsRequest): Promise<StreamStatistics>;
  sample(options: SampleOptions): EntrySample;
}

export function createTenantLogs(query: LogsQuery): TenantLogs {
  return {
    entries: (request) => readEntries(request, query),
    counts: (request) => countWindows(request, query),
    streams: (request) => readStreams(request, query),
    labelNames: (request) => labelNames(request, query),
    labelValues: (request) => labelValues(request, query),
    volumes: (request) => streamVolumes(request, query),
    statistics: (request) => streamStatistics(request, query),
    sample: (options) => new EntrySample(query, options),
  };
}
