/** Looks up when and in which projects traces happened, so that only that part of the spans is read. */
import { bind, callerOrganization, join, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import type { TimeRange } from "../time-window.ts";
import { mergeRanges } from "./merge-ranges.ts";

/** When a trace's spans started, and in which projects. */
export interface TraceLocation extends TimeRange {
  readonly traceId: string;
  readonly projects: readonly string[];
}

interface LocateOptions {
  readonly project: string | undefined;
  readonly signal: AbortSignal;
}

/** The traces that the organization has, in any order. */
export async function locate(
  reader: TenantReader,
  traceIds: readonly string[],
  { project, signal }: LocateOptions,
): Promise<TraceLocation[]> {
  if (traceIds.length === 0) return [];
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    sql`trace_id IN ${bind.texts(traceIds)}`,
    projectCondition(project),
  ]);
  const rows = await reader.query<{ trace_id: string; first: string; last: string; projects: string[] }>(
    sql`SELECT trace_id, toUnixTimestamp64Nano(min(first_start)) AS first, toUnixTimestamp64Nano(max(last_start)) AS last,
        groupUniqArray(project) AS projects
      FROM trace_index WHERE ${conditions} GROUP BY trace_id`,
    { signal, duplicates: "kept" },
  );
  return rows.map((row) => ({
    traceId: row.trace_id,
    fromUnixNano: BigInt(row.first),
    toUnixNano: BigInt(row.last),
    projects: row.projects,
  }));
}

/**
 * The spans of the traces. The ranges only choose which blocks are read: comparing each row with all of them takes as long as
 * the rest of the statement.
 * @param locations at least one @param maximumRanges more ranges read fewer other spans
 */
export function locationsCondition(locations: readonly TraceLocation[], maximumRanges?: number): Statement {
  const merged = mergeRanges(locations, maximumRanges);
  const ranges = merged.map((range) => sql`(${startTimeCondition(range)})`);
  const whole = { fromUnixNano: merged[0]!.fromUnixNano, toUnixNano: merged.at(-1)!.toUnixNano };
  return allOf([
    sql`organization = ${callerOrganization}`,
    sql`project IN ${bind.texts([...new Set(locations.flatMap((location) => location.projects))])}`,
    startTimeCondition(whole),
    ranges.length === 1 ? undefined : sql`indexHint(${join(ranges, sql` OR `)})`,
    sql`trace_id IN ${bind.texts(locations.map((location) => location.traceId))}`,
  ]);
}
