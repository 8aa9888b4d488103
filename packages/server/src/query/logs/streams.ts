/**
 * Lists the streams of a time range, their labels and their volumes, for Loki's API. Rows that were sent twice count twice here
 * until the store merges or sums them: Loki's numbers are estimates as well.
 */
import { compareLabels, compareText, entriesOf, getLabel, type Labels } from "@sounding/promql/series/labels";
import { matchesAll } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { lookUpResources } from "../resource-lookup.ts";
import { nowUnixNano } from "../time-window.ts";
import type { LogsQuery } from "./logql-storage/logs-query.ts";
import { labelsOfResources } from "./logql-storage/resource-conditions.ts";
import { streamConditions } from "./logql-storage/stream-conditions.ts";
import { ownLabels, streamLabels } from "./logql-storage/stream-labels.ts";
import { streamSources, streamsStatement, type StreamRow, type WantedOfStreams } from "./stream-statements.ts";

export interface StreamsRequest {
  /** On stream labels; none: all streams. */
  readonly matchers: readonly LabelMatcher[];
  /** Nanoseconds since 1970: from included, to excluded. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  /** Charges the bytes of the store's result and of what is made of it; throws if they are too many. */
  readonly charge: (bytes: number) => void;
  /** More streams than this are an error. */
  readonly maximumStreams: number;
}

export interface LogStream {
  readonly labels: Labels;
}

export interface LabelValuesRequest extends StreamsRequest {
  readonly name: string;
}

export interface VolumesRequest extends StreamsRequest {
  /** The label sets that a stream's volume is added to. */
  readonly labelSets: (stream: Labels) => Iterable<Labels>;
  /** Steps that begin at the start of the range; undefined: one for the whole range. */
  readonly stepNanos?: bigint | undefined;
}

export interface StreamVolume {
  readonly labels: Labels;
  /** By the number of the step. Most streams have lines in few of many steps: the others are left out. */
  readonly bytes: ReadonlyMap<number, number>;
  /** Of all steps. */
  readonly totalBytes: number;
}

export interface StreamStatistics {
  readonly streams: number;
  readonly chunks: number;
  readonly entries: number;
  readonly bytes: number;
}

interface FoundStream {
  readonly labels: Labels;
  readonly row: StreamRow;
}

/** The cost of building and matching a stream's labels, in samples. */
const streamCost = 128;

/** Rows of different resources may be of the same stream, and a stream may have rows in several parts of the range. */
async function* foundStreams(
  request: StreamsRequest,
  query: LogsQuery,
  wanted: WantedOfStreams,
): AsyncGenerator<FoundStream> {
  const { charge, matchers, maximumStreams, signal, yieldBudget } = request;
  const { reader } = query;
  const selected = await streamConditions(matchers, query, request);
  if (selected.isEmpty) return;
  const options = { signal, memory: { add: charge } };
  const sources = await streamSources(request, query, wanted);
  const statements = sources.map((source) => streamsStatement(source, query, { selected, wanted }));
  const found = await Promise.all(
    statements.map((statement) =>
      reader.query<StreamRow>(statement, { ...options, duplicates: "kept", maximumRows: maximumStreams }),
    ),
  );
  const rows = found.flat();
  const references = rows.map(({ resource }) => ({ resource_id: resource, scope_id: "0" }));
  const { resources } = await lookUpResources(reader, references, options);
  for (const row of rows) {
    const { level_number: level, project_name: project, resource: resource_id, service_name: service } = row;
    const labels = streamLabels({ project, service, level, resource_id }, resources.get(resource_id));
    if (yieldBudget.spend(streamCost)) await yieldBudget.yield();
    if (await matchesAll(selected.inexact, (name) => getLabel(labels, name), yieldBudget)) yield { labels, row };
  }
}

export async function readStreams(request: StreamsRequest, query: LogsQuery): Promise<LogStream[]> {
  const streams = new Map<string, LogStream>();
  for await (const { labels } of foundStreams(request, query, { labels: "all" })) streams.set(labels.key, { labels });
  return [...streams.values()].sort((left, right) => compareLabels(left.labels, right.labels));
}

/** Stands for all labels of resources: they come from the same column. */
const anyResourceLabel = "k8s_pod_name";

/** The part of a range that is looked at first. */
const newestShare = 48n;

/** The newest entries usually have all labels that any resource has: then the others need not be read. */
export async function labelNames(request: StreamsRequest, query: LogsQuery): Promise<string[]> {
  const possible = await labelsOfResources(query, request);
  for (const part of possible === undefined ? [request] : [newestPart(request), request]) {
    const names = new Set<string>();
    const found = foundStreams(part, query, { labels: [anyResourceLabel] });
    for await (const { labels } of found) for (const [name] of entriesOf(labels)) names.add(name);
    // Every entry has the labels that are made of columns.
    if (names.size > 0) for (const name of ownLabels) names.add(name);
    if (part === request || (names.size > 0 && [...possible!].every((name) => names.has(name))))
      return [...names].sort(compareText);
  }
  return [];
}

function newestPart(request: StreamsRequest): StreamsRequest {
  const { fromUnixNano, toUnixNano } = request;
  const now = nowUnixNano();
  const end = toUnixNano < now ? toUnixNano : now;
  return { ...request, fromUnixNano: fromUnixNano < end ? end - (end - fromUnixNano) / newestShare : fromUnixNano };
}

export async function labelValues(request: LabelValuesRequest, query: LogsQuery): Promise<string[]> {
  const values = new Set<string>();
  const found = foundStreams(request, query, { labels: [request.name] });
  for await (const { labels } of found) values.add(getLabel(labels, request.name));
  values.delete("");
  return [...values].sort(compareText);
}

/** What a volume and a step of it take in memory. */
const bytesPerVolume = 512;
const bytesPerStep = 48;
/** The cost of adding to a volume, in samples. */
const volumeCost = 16;

interface SummedVolume extends StreamVolume {
  readonly bytes: Map<number, number>;
  totalBytes: number;
}

export async function streamVolumes(request: VolumesRequest, query: LogsQuery): Promise<StreamVolume[]> {
  const { charge, labelSets, stepNanos, yieldBudget } = request;
  const volumes = new Map<string, SummedVolume>();
  for await (const { labels: stream, row } of foundStreams(request, query, { labels: "all", counts: { stepNanos } })) {
    const step = Number(row.step);
    const bytes = Number(row.byte_count);
    for (const labels of labelSets(stream)) {
      let volume = volumes.get(labels.key);
      if (volume === undefined) {
        charge(bytesPerVolume);
        volumes.set(labels.key, (volume = { labels, bytes: new Map(), totalBytes: 0 }));
      }
      const before = volume.bytes.get(step);
      if (before === undefined) charge(bytesPerStep);
      volume.bytes.set(step, (before ?? 0) + bytes);
      volume.totalBytes += bytes;
      if (yieldBudget.spend(volumeCost)) await yieldBudget.yield();
    }
  }
  return [...volumes.values()];
}

/** The store has no chunks: each stream counts as one. */
export async function streamStatistics(request: StreamsRequest, query: LogsQuery): Promise<StreamStatistics> {
  const keys = new Set<string>();
  let entries = 0;
  let bytes = 0;
  for await (const { labels, row } of foundStreams(request, query, {
    labels: "all",
    counts: { stepNanos: undefined },
  })) {
    keys.add(labels.key);
    entries += Number(row.entry_count);
    bytes += Number(row.byte_count);
  }
  return { streams: keys.size, chunks: keys.size, entries, bytes };
}
