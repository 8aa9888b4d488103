/**
 * Finds which metrics over spans have any spans in a range, in one statement. A selector without a name, such as
 * `{__name__=~".+"}`, selects them all, and the statement of each takes the store about 20 ms even if it finds nothing.
 */
import { endedWithin } from "../../../store/counted-calls.ts";
import { spanLabels } from "../../../store/span-labels.ts";
import { join, sql, type Statement } from "../../../store/statement.ts";
import type { SelectRequest } from "@sounding/promql/storage";
import { allOf, projectCondition } from "../../conditions.ts";
import { isDecidedByStore, labelCondition } from "./span-matchers.ts";
import { endsEdge } from "./service-edges.ts";
import type { SpanMetric } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import type { SpanQuery } from "./span-series.ts";

/** Fewer metrics are read without looking. */
const fewestMetrics = 3;

type Range = Pick<SelectRequest, "matchers" | "fromMs" | "toMs" | "signal" | "charge">;

/** The names without those of metrics that have no spans; metrics that are left may have none that count. */
export async function namesWithSpans(
  names: readonly SpanSeriesName[],
  { charge, fromMs, matchers, signal, toMs }: Range,
  { project, reader }: Pick<SpanQuery, "project" | "reader">,
): Promise<readonly SpanSeriesName[]> {
  const metrics = [...new Set(names.map(({ metric }) => metric))];
  if (metrics.length < fewestMetrics) return names;
  const conditions = [...Map.groupBy(metrics, conditionOf)];
  const ofProjects = matchers
    .filter((matcher) => matcher.name === "project_name" && isDecidedByStore(matcher))
    .map((matcher) => labelCondition(spanLabels.project_name, matcher));
  const found = conditions.map(([condition]) => sql`toUInt8(max(${condition}))`);
  const [row] = await reader.query<{ found: readonly number[] }>(
    sql`SELECT [${join(found, sql`, `)}] AS found FROM spans
      WHERE ${allOf([endedWithin([{ fromMs, toMs }]), projectCondition(project), ...ofProjects])}`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
  const present = new Set(conditions.flatMap(([, group], index) => (row?.found[index] === 1 ? group : [])));
  return names.filter(({ metric }) => present.has(metric));
}

/** A condition of every span that a metric counts. Most metrics share it with others. */
function conditionOf({ condition, countsCalls, countsEdges, required = [] }: SpanMetric): Statement {
  // Conditions of requests between services are on columns that spans do not have.
  if (countsEdges === true) return endsEdge;
  // Calls may have labels from spans of applications.
  if (countsCalls === true || required.length === 0) return condition;
  return allOf([condition, ...required.map((label) => sql`${spanLabels[label]} != ''`)]);
}
