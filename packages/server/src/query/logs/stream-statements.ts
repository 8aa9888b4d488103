/** The statements that find streams: over rows of `logs`, and over sums of them by minute. */
import { isWholeMinute, minuteUnixNano, rolledUpPart } from "../../store/rollups/rolled-up-part.ts";
import { logMinutes } from "../../store/rollups/rollup-tables.ts";
import { lineBytes } from "../../store/row-expressions.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../store/statement.ts";
import { allOf, projectCondition } from "../conditions.ts";
import { logMinuteRows } from "./logql-storage/log-minutes.ts";
import type { LogsQuery } from "./logql-storage/logs-query.ts";
import { clampedTime, timesCondition } from "./logql-storage/store-times.ts";
import type { StreamConditions } from "./logql-storage/stream-conditions.ts";
import type { StreamColumns } from "./logql-storage/stream-labels.ts";
import { streamLevel } from "./logql-storage/stream-level.ts";

export interface StreamRow {
  readonly project_name: string;
  readonly service_name: string;
  readonly level_number: number;
  readonly resource: string;
  readonly step: string;
  readonly entry_count: string;
  readonly byte_count: string;
}

/** What a list needs to know of streams. */
export interface WantedOfStreams {
  /** Labels by name; of others the values are arbitrary. */
  readonly labels: "all" | readonly string[];
  /** Whether entries and bytes are counted, and in which steps: of this length, or in one. */
  readonly counts?: { readonly stepNanos: bigint | undefined } | undefined;
}

interface StreamsRange {
  /** Nanoseconds since 1970: from included, to excluded. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
  readonly signal: AbortSignal;
}

/** Lists of longer ranges may have streams whose entries are next to the range: reading the time of each row takes most of the time. */
const longestExactNanos = 3_600_000_000_000n;

/** Rows of `logs`, or sums of them. */
export interface StreamSource {
  readonly from: Statement;
  /** The rows of the range. */
  readonly within: Statement;
  /** The number of a row's step. */
  readonly step: Statement;
  readonly entries: Statement;
  readonly bytes: Statement;
}

/** Sums by minute are read where steps begin with minutes. An entry at the very start of a minute counts for the minute before. */
export async function streamSources(
  request: StreamsRange,
  { reader }: LogsQuery,
  { counts }: WantedOfStreams,
): Promise<StreamSource[]> {
  const { fromUnixNano, signal, toUnixNano } = request;
  const range = { fromUnixNano: clampedTime(fromUnixNano), toUnixNano: clampedTime(toUnixNano - 1n) };
  const { stepNanos } = counts ?? {};
  const isSummed = stepNanos === undefined || (isWholeMinute(fromUnixNano) && isWholeMinute(stepNanos));
  const { condition, rest } = await rolledUpPart(logMinutes, range, { reader, signal, isSummed });
  const stepOf = (unixNano: Statement): Statement =>
    stepNanos === undefined ? sql`0` : sql`intDiv(${unixNano} - ${bind.int64(fromUnixNano)}, ${bind.int64(stepNanos)})`;
  const sources: StreamSource[] = [];
  if (condition !== undefined) {
    sources.push({
      from: logMinuteRows,
      within: condition,
      step: stepOf(minuteUnixNano),
      entries: sql`sum(entries)`,
      bytes: sql`sum(bytes)`,
    });
  }
  if (rest.length > 0) {
    const within = timesCondition(rest);
    const isEstimate = counts === undefined && toUnixNano - fromUnixNano > longestExactNanos;
    sources.push({
      from: sql`logs`,
      within: isEstimate ? sql`indexHint(${within})` : within,
      step: stepOf(sql`toUnixTimestamp64Nano(time)`),
      entries: sql`count()`,
      bytes: sql`sum(${lineBytes})`,
    });
  }
  return sources;
}

/** Grouped by one number, which is several times faster than by the texts that it is computed of. */
export function streamsStatement(
  source: StreamSource,
  { project }: LogsQuery,
  { selected, wanted }: { readonly selected: StreamConditions; readonly wanted: WantedOfStreams },
): Statement {
  const isList = wanted.counts === undefined;
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    ...selected.conditions,
    source.within,
  ]);
  const inexact = selected.inexact.map(({ name }) => name);
  const reads = columnsOf(wanted.labels === "all" ? "all" : [...wanted.labels, ...inexact]);
  const keys = [
    reads.has("project") ? sql`toUInt64(cityHash64(project))` : undefined,
    reads.has("service") ? sql`toUInt64(cityHash64(service)) * 3` : undefined,
    reads.has("level") ? sql`${streamLevel} * 5` : undefined,
    reads.has("resource_id") ? sql`resource_id * 7` : undefined,
    isList ? undefined : sql`toUInt64(cityHash64(${source.step}))`,
  ];
  const counts = isList
    ? sql`0 AS entry_count, 0 AS byte_count`
    : sql`${source.entries} AS entry_count, ${source.bytes} AS byte_count`;
  return sql`SELECT ${reads.has("project") ? sql`any(project)` : sql`''`} AS project_name,
      ${reads.has("service") ? sql`any(service)` : sql`''`} AS service_name,
      ${reads.has("level") ? sql`any(${streamLevel})` : sql`0`} AS level_number,
      ${reads.has("resource_id") ? sql`toString(any(resource_id))` : sql`'0'`} AS resource,
      any(${source.step}) AS step, ${counts}
    FROM ${source.from} WHERE ${conditions} GROUP BY ${join(
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
