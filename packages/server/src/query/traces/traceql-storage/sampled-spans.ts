/** Chooses examples of the spans that may fulfil a condition: the newest of each part of the time, at most one of a trace. */
import type { TraceSample, TracesRequest } from "@sounding/traceql/storage";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition, startTimeCondition } from "../../conditions.ts";
import type { TimeRange } from "../../time-window.ts";
import { conditionOf } from "./approximation.ts";
import { relevantBound } from "./matching-traces.ts";

/** @returns a condition that selects the rows of the examples */
export function sampledSpans(
  request: Pick<TracesRequest, "conditions" | "fromUnixNano" | "toUnixNano">,
  { parts, tracesPerPart }: TraceSample,
  project: string | undefined,
): Statement {
  const spansOf = (range: TimeRange): Statement =>
    allOf([sql`organization = ${callerOrganization}`, projectCondition(project), startTimeCondition(range)]);
  const examples = parts.map(({ fromUnixNano, toUnixNano }) => {
    const part = { fromUnixNano, toUnixNano: toUnixNano - 1n };
    const relevant = conditionOf(relevantBound(request, { ...part, project }));
    return sql`(SELECT project, start_time, trace_id, span_id FROM spans WHERE ${allOf([spansOf(part), relevant])}
      ORDER BY start_time DESC, trace_id DESC, span_id DESC LIMIT 1 BY trace_id LIMIT ${bind.uint32(tracesPerPart)})`;
  });
  const range = { fromUnixNano: request.fromUnixNano, toUnixNano: request.toUnixNano - 1n };
  return sql`${spansOf(range)} AND (project, start_time, trace_id, span_id) GLOBAL IN (${join(examples, sql` UNION ALL `)})`;
}
