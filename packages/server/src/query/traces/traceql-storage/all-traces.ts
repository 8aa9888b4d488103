/**
 * Reads all traces of a time range, for queries that need every one of them: in slices by a hash of the trace's ID, so that the
 * spans of a trace come together and a slice fits in memory.
 */
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition, startTimeCondition } from "../../conditions.ts";
import type { TimeRange } from "../../time-window.ts";
import { conditionOf, type Bound } from "./approximation.ts";
import { relevantBound, requiredBounds, widened, type MatchingTracesRequest } from "./matching-traces.ts";

interface AllTracesRequest extends MatchingTracesRequest {
  readonly wholeTraces: boolean;
}

/** Spans of one slice, about. */
const spansPerSlice = 50_000;

/** Conditions on `spans`, one for each slice. */
export async function* traceSlices(request: AllTracesRequest): AsyncGenerator<Statement> {
  const { fromUnixNano, project, reader, signal, toUnixNano, wholeTraces } = request;
  const range = { fromUnixNano, toUnixNano: toUnixNano - 1n };
  const read = wholeTraces || request.conditions.length > 1 ? widened(range) : range;
  const relevant = relevantBound(request, { ...read, project });
  const spans = spansWithin(read, project, wholeTraces ? true : relevant);
  const required = requiredBounds(request, { ...read, project });
  const selected = [
    read === range ? undefined : tracesWith(spansWithin(range, project, relevant)),
    ...(required.length > 1 ? required.map((bound) => tracesWith(spansWithin(read, project, bound))) : []),
  ];
  const condition = allOf([spans, ...selected]);
  const [row] = await reader.query<{ spans: string }>(sql`SELECT count() AS spans FROM spans WHERE ${condition}`, {
    signal,
    duplicates: "kept",
  });
  const slices = Math.ceil(Number(row?.spans ?? 0) / spansPerSlice);
  for (let slice = 0; slice < slices; slice += 1) {
    yield slices === 1
      ? condition
      : sql`${condition} AND cityHash64(trace_id) % ${bind.uint32(slices)} = ${bind.uint32(slice)}`;
  }
}

function spansWithin(range: TimeRange, project: string | undefined, bound: Bound): Statement {
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
    conditionOf(bound),
  ]);
}

function tracesWith(spans: Statement): Statement {
  return sql`trace_id IN (SELECT trace_id FROM spans WHERE ${spans})`;
}
