/**
 * Counts each model call once. An instrumented application reports a call that Sounding serves as well: Sounding's span
 * counts, the application's does not, and what only the application knows becomes the call's labels. Spans of the same call
 * have the same response ID, or the same HTTP request between them (telemetry/rows/call-keys.ts).
 * docs/adr/0035-rollups.md
 */
import { bind, callerOrganization, join, sql, type Statement } from "./statement.ts";
import { inferenceOperations } from "./span-operations.ts";

/** By how much the ends of two spans of one call may differ; call-minutes.ts has it in SQL. */
const marginMs = 300_000;

/** Spans are found by their start, but count when they end: longer ones do not count, nor those that end long before they start. */
const longestSpanMs = 86_400_000;
const largestSkewMs = 300_000;
const isFound = sql`start_time >= end_time - toIntervalDay(1) AND start_time <= end_time + toIntervalMinute(5)`;

/** When spans ended, in Unix milliseconds, both inclusive. */
export interface EndRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Every part of a statement that reads `spans` needs this condition. @param ranges at least one, in order of time */
export function endedWithin(ranges: readonly EndRange[]): Statement {
  const started = { fromMs: ranges[0]!.fromMs - longestSpanMs, toMs: ranges.at(-1)!.toMs + largestSkewMs };
  const ended = ranges.map((range) => sql`(${within(sql`end_time`, range)})`);
  return sql`organization = ${callerOrganization} AND ${within(sql`start_time`, started)}
    AND (${join(ended, sql` OR `)}) AND ${isFound}`;
}

function within(time: Statement, { fromMs, toMs }: EndRange): Statement {
  return sql`${time} >= ${bind.time(nanos(fromMs))} AND ${time} < ${bind.time(nanos(toMs + 1))}`;
}

function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n;
}

function withMargin(ranges: readonly EndRange[]): readonly EndRange[] {
  return ranges.map(({ fromMs, toMs }) => ({ fromMs: fromMs - marginMs, toMs: toMs + marginMs }));
}

/** Whether a span counts. Only calls that this server served hide others; other spans have no keys. */
export function isCounted(ranges: readonly EndRange[]): Statement {
  // Both lists are the same subquery, which runs once. The project does not matter: a call has one, its spans may have two.
  const served = sql`(SELECT key FROM (
      SELECT arrayJoin([response_key, request_key]) AS key FROM spans WHERE ${endedWithin(withMargin(ranges))} AND served = 1
    ) WHERE key != 0)`;
  return sql`repeated = 0 AND (served = 1 OR NOT (response_key IN ${served} OR request_key IN ${served}))`;
}

const callKey = sql`if(response_key != 0, response_key, request_key)`;

/** Joins the labels that applications know to their calls, within the call's project. */
export function withCallers(calls: Statement, ranges: readonly EndRange[], project: string | undefined): Statement {
  const ofProject = project === undefined ? sql`1` : sql`project = ${bind.text(project)}`;
  const condition = sql`${endedWithin(withMargin(ranges))} AND ${ofProject}
    AND served = 0 AND operation IN ${bind.texts(inferenceOperations)}`;
  return sql`(SELECT *, ${callKey} AS call_key FROM ${calls}) AS calls LEFT ANY JOIN (
      SELECT project AS caller_project, ${callKey} AS caller_key, max(toString(service)) AS caller_service,
        max(toString(agent_name)) AS caller_agent_name, max(toString(agent_class)) AS caller_agent_class,
        max(session_id) AS caller_session_id
      FROM spans WHERE ${condition} AND caller_key != 0 GROUP BY caller_project, caller_key
    ) AS callers ON calls.call_key = callers.caller_key AND calls.project = callers.caller_project`;
}
