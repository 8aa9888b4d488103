/** Finds the traces with spans that may fulfil a query's conditions, newest first, in growing windows of time. */
import type { TracesRequest } from "@sounding/traceql/storage";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../../conditions.ts";
import { expandingWindows } from "../../expanding-windows.ts";
import { nowUnixNano, type TimeRange } from "../../time-window.ts";
import { conditionOf, or, type Bound } from "./approximation.ts";
import { approximate, type SpanRange } from "./span-condition.ts";

export interface MatchingTracesRequest extends Pick<
  TracesRequest,
  "conditions" | "combination" | "fromUnixNano" | "toUnixNano" | "signal"
> {
  readonly reader: TenantReader;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
}

interface FoundRow {
  readonly trace_id: string;
  readonly newest_nano: string;
}

/** Traces of one statement: a second page would repeat the search. */
const tracesOfStatement = 1000;

/** IDs of traces by the start of their newest matching span, each once. */
export async function* matchingTraces(request: MatchingTracesRequest): AsyncGenerator<readonly string[]> {
  const { fromUnixNano, reader, signal, toUnixNano } = request;
  const range = { fromUnixNano, toUnixNano: toUnixNano - 1n };
  const now = nowUnixNano();
  const seen = new Set<string>();
  // Spans around a window are read with it, so shorter windows would read hardly less.
  const firstNanos =
    requiredBounds(request, { ...range, project: request.project }).length > 1 ? marginNanos : undefined;
  for (const window of expandingWindows(range, range.toUnixNano < now ? range.toUnixNano : now, firstNanos)) {
    let last: FoundRow | undefined;
    for (;;) {
      const statement = tracesStatement(window, request, last);
      const rows = await reader.query<FoundRow>(statement, { signal, duplicates: "kept" });
      const found = rows.map(({ trace_id }) => trace_id).filter((id) => !seen.has(id));
      for (const id of found) seen.add(id);
      if (found.length > 0) yield found;
      if (rows.length < tracesOfStatement) break;
      last = rows.at(-1);
    }
  }
}

/** By how much the spans that fulfil the conditions of one trace may lie apart. */
const marginNanos = 3_600_000_000_000n;

/** @param after the last trace of the page before */
function tracesStatement(window: TimeRange, request: MatchingTracesRequest, after: FoundRow | undefined): Statement {
  const { project } = request;
  const inWindow = startTimeCondition(window);
  const each = requiredBounds(request, { ...widened(window), project });
  const needsEach = each.length > 1;
  const read = needsEach ? widened(window) : window;
  const some = needsEach ? each.reduce(or, false) : someBound(request, { ...window, project });
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(read),
    conditionOf(some),
  ]);
  const having = [
    ...(needsEach ? [sql`countIf(${inWindow}) > 0`] : []),
    ...(needsEach ? each.map((bound) => sql`countIf(${conditionOf(bound) ?? sql`true`}) > 0`) : []),
    ...(after === undefined ? [] : [isAfter(after)]),
  ];
  return sql`SELECT trace_id, toUnixTimestamp64Nano(${needsEach ? sql`maxIf(start_time, ${inWindow})` : sql`max(start_time)`}) AS newest_nano
    FROM spans WHERE ${conditions} GROUP BY trace_id${having.length === 0 ? sql`` : sql` HAVING ${join(having, sql` AND `)}`}
    ORDER BY newest_nano DESC, trace_id LIMIT ${bind.uint32(tracesOfStatement)}`;
}

function isAfter({ newest_nano, trace_id }: FoundRow): Statement {
  const newest = bind.int64(newest_nano);
  return sql`(newest_nano < ${newest} OR newest_nano = ${newest} AND trace_id > ${bind.text(trace_id)})`;
}

type Conditions = Pick<TracesRequest, "conditions" | "combination">;

/** The conditions of which a trace needs a span each, without those that every span fulfils; none if one of them is enough. */
export function requiredBounds({ combination, conditions }: Conditions, range: SpanRange): readonly Bound[] {
  if (combination === "any") return [];
  return conditions.map((condition) => approximate(condition, range).may).filter((bound) => bound !== true);
}

/** What a span of a trace has to fulfil: one of the conditions. */
function someBound({ combination, conditions }: Conditions, range: SpanRange): Bound {
  if (combination === "all") return requiredBounds({ combination, conditions }, range)[0] ?? true;
  return conditions.map((condition) => approximate(condition, range).may).reduce(or, false);
}

/** The spans that a query evaluates of a trace: those that fulfil one of its conditions. */
export function relevantBound({ conditions }: Pick<TracesRequest, "conditions">, range: SpanRange): Bound {
  return conditions.map((condition) => approximate(condition, range).may).reduce(or, false);
}

export function widened({ fromUnixNano, toUnixNano }: TimeRange): TimeRange {
  const last = 2n ** 63n - 1n;
  return {
    fromUnixNano: fromUnixNano > marginNanos ? fromUnixNano - marginNanos : 0n,
    toUnixNano: toUnixNano < last - marginNanos ? toUnixNano + marginNanos : last,
  };
}
