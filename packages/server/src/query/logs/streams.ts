/**
 * Lists the streams of a time range, their labels and their volumes, for Loki's API. Rows that were sent twice count twice here
 * until the store merges them: Loki's numbers are estimates as well.
 */
import { compareLabels, compareText, entriesOf, getLabel, type Labels } from "../../languages/promql/series/labels.ts";
import { matchesAll } from "../../languages/promql/series/matcher.ts";
import type { LabelMatcher } from "../../languages/promql/syntax/ast.ts";
import type { YieldBudget } from "../../languages/regex/yield-budget.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../store/statement.ts";
import { allOf, projectCondition } from "../conditions.ts";
import { lookUpResources } from "../resource-lookup.ts";
import { nowUnixNano } from "../time-window.ts";
import type { LogsQuery } from "./logql-storage/logs-query.ts";
import { labelsOfResources } from "./logql-storage/resource-conditions.ts";
import { streamConditions, type StreamConditions } from "./logql-storage/stream-conditions.ts";
import { ownLabels, streamLabels, type StreamColumns } from "./logql-storage/stream-labels.ts";
import { storeTime } from "./logql-storage/store-times.ts";
import { streamLevel } from "./logql-storage/stream-level.ts";

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

interface StreamRow {
  readonly project_name: string;
  readonly service_name: string;
  readonly level_number: number;
  readonly resource: string;
  readonly step: string;
  readonly entries: string;
  readonly bytes: string;
}

interface FoundStream {
  readonly labels: Labels;
  readonly row: StreamRow;
}

/** What a list needs to know of streams. */
interface Wanted {
  /** Labels by name; of others the values are arbitrary. */
  readonly labels: "all" | readonly string[];
  /** Whether entries and bytes are counted, and in which steps. */
  readonly step?: Statement | undefined;
}

/** The cost of building and matching a stream's labels, in samples. */
const streamCost = 128;

/** Lists of longer ranges may have streams whose entries are next to the range: reading the time of each row takes most of the time. */
const longestExactNanos = 3_600_000_000_000n;

/** Rows of different resources may be of the same stream. */
async function* foundStreams(request: StreamsRequest, query: LogsQuery, wanted: Wanted): AsyncGenerator<FoundStream> {
  const { charge, matchers, maximumStreams, signal, yieldBudget } = request;
  const { reader } = query;
  const selected = await streamConditions(matchers, query, request);
  if (selected.isEmpty) return;
  const options = { signal, memory: { add: charge } };
  const rows = await reader.query<StreamRow>(streamsStatement(request, query, { selected, wanted }), {
    ...options,
    duplicates: "kept",
    maximumRows: maximumStreams,
  });
  const references = rows.map(({ resource }) => ({ resource_id: resource, scope_id: "0" }));
  const { resources } = await lookUpResources(reader, references, options);
  for (const row of rows) {
    const { level_number: level, project_name: project, resource: resource_id, service_name: service } = row;
    const labels = streamLabels({ project, service, level, resource_id }, resources.get(resource_id));
    if (yieldBudget.spend(streamCost)) await yieldBudget.yield();
    if (await matchesAll(selected.inexact, (name) => getLabel(labels, name), yieldBudget)) yield { labels, row };
  }
}

/** Grouped by one number, which is several times faster than by the texts that it is computed of. */
function streamsStatement(
  { fromUnixNano, toUnixNano }: StreamsRequest,
  { project }: LogsQuery,
  { selected, wanted }: { readonly selected: StreamConditions; readonly wanted: Wanted },
): Statement {
  const within = sql`time >= ${storeTime(fromUnixNano)} AND time < ${storeTime(toUnixNano)}`;
  const isList = wanted.step === undefined;
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    ...selected.conditions,
    isList && toUnixNano - fromUnixNano > longestExactNanos ? sql`indexHint(${within})` : within,
  ]);
  const inexact = selected.inexact.map(({ name }) => name);
  const reads = columnsOf(wanted.labels === "all" ? "all" : [...wanted.labels, ...inexact]);
  const step = wanted.step ?? sql`0`;
  const keys = [
    reads.has("project") ? sql`toUInt64(cityHash64(project))` : undefined,
    reads.has("service") ? sql`toUInt64(cityHash64(service)) * 3` : undefined,
    reads.has("level") ? sql`${streamLevel} * 5` : undefined,
    reads.has("resource_id") ? sql`resource_id * 7` : undefined,
    isList ? undefined : sql`toUInt64(cityHash64(${step}))`,
  ];
  const counts = isList ? sql`0 AS entries, 0 AS bytes` : sql`count() AS entries, sum(length(body)) AS bytes`;
  return sql`SELECT ${reads.has("project") ? sql`any(project)` : sql`''`} AS project_name,
      ${reads.has("service") ? sql`any(service)` : sql`''`} AS service_name,
      ${reads.has("level") ? sql`any(${streamLevel})` : sql`0`} AS level_number,
      ${reads.has("resource_id") ? sql`toString(any(resource_id))` : sql`'0'`} AS resource,
      any(${step}) AS step, ${counts}
    FROM logs WHERE ${conditions} GROUP BY ${join(
      keys.filter((key) => key !== undefined),
      sql` + `,
    )}`;
}

/** The columns that labels are made of. A level may also be a label that a stream was pushed with. */
function columnsOf(labels: "all" | readonly string[]): ReadonlySet<keyof StreamColumns> {
  if (labels === "all") return new Set(["project", "service", "level", "resource_id"]);
  const columns = new Set<keyof StreamColumns>();
  for (const label of labels) {
    if (label === "project_name") columns.add("project");
    else if (label === "service_name") columns.add("service");
    else if (label === "detected_level") columns.add("level");
    else if (label === "level") columns.add("level").add("resource_id");
    else columns.add("resource_id");
  }
  return columns;
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

const wholeRange = sql`0`;
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
  const { charge, fromUnixNano, labelSets, stepNanos, yieldBudget } = request;
  const stepOfRow =
    stepNanos === undefined
      ? wholeRange
      : sql`intDiv(toUnixTimestamp64Nano(time) - ${bind.int64(fromUnixNano)}, ${bind.int64(stepNanos)})`;
  const volumes = new Map<string, SummedVolume>();
  for await (const { labels: stream, row } of foundStreams(request, query, { labels: "all", step: stepOfRow })) {
    const step = Number(row.step);
    const bytes = Number(row.bytes);
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
  for await (const { labels, row } of foundStreams(request, query, { labels: "all", step: wholeRange })) {
    keys.add(labels.key);
    entries += Number(row.entries);
    bytes += Number(row.bytes);
  }
  return { streams: keys.size, chunks: keys.size, entries, bytes };
}
