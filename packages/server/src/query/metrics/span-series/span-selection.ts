/** Translates a selector into conditions and labels over `spans`. */
import { bind, join, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import type { LabelMatcher } from "../../../languages/promql/syntax/ast.ts";
import { matchesAbsence } from "../label-matching.ts";
import { isSpanLabel, spanLabels, type SpanLabel } from "./span-labels.ts";
import { bucketBounds, type SpanMetric } from "./span-metrics.ts";

/** Longer spans can be missed: spans are found by their start, but count when they end. */
const longestSpanMs = 86_400_000;

export interface SpanSelection {
  readonly metric: SpanMetric;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly matchers: readonly LabelMatcher[];
  /** Unix milliseconds of the spans' ends, both inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The end of a span in milliseconds, the resolution of metrics. */
export const endMs = sql`toUnixTimestamp64Milli(end_time)`;

/** The upper bound of the bucket that a value belongs to. */
export function bucketOf({ value }: SpanMetric): Statement {
  const highest = bucketBounds.at(-1)!;
  const negated = bucketBounds.map((bound) => -bound).reverse();
  // roundDown finds the greatest bound that is not above the value; with negated bounds, the least one that is not below.
  return sql`if(${value} > ${bind.float(highest)}, inf, -roundDown(-${value}, ${bind.floats(negated)}))`;
}

/** The condition of a selection; null if no series can match. */
export function selectionCondition(selection: SpanSelection): Statement | null {
  const { fromMs, matchers, metric, project, toMs } = selection;
  const conditions: Statement[] = [];
  for (const matcher of matchers) {
    if (matcher.name === "__name__" || matcher.name === "le") continue;
    const label = labelOf(metric, matcher.name);
    if (label !== undefined) conditions.push(labelCondition(spanLabels[label], matcher));
    else if (!matchesAbsence(matcher)) return null;
  }
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    sql`start_time >= ${bind.time(nanos(fromMs - longestSpanMs))} AND start_time < ${bind.time(nanos(toMs + 1))}`,
    sql`end_time >= ${bind.time(nanos(fromMs))} AND end_time < ${bind.time(nanos(toMs + 1))}`,
    metric.condition,
    ...conditions,
  ]);
}

function nanos(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n;
}

/** The expression of a metric's label; undefined if the metric does not have it. */
export function labelOf(metric: SpanMetric, name: string): SpanLabel | undefined {
  const known = isSpanLabel(name) && (metric.labels.includes(name) || metric.labelsWhenNamed.includes(name));
  return known ? name : undefined;
}

function labelCondition(label: Statement, { operator, value }: LabelMatcher): Statement {
  switch (operator) {
    case "=":
      return sql`(${label}) = ${bind.text(value)}`;
    case "!=":
      return sql`(${label}) != ${bind.text(value)}`;
    // ClickHouse uses RE2 like Prometheus; `s` lets a dot match a newline, as in Prometheus.
    case "=~":
      return sql`match(${label}, ${bind.text(`^(?s:${value})$`)})`;
    default:
      return sql`NOT match(${label}, ${bind.text(`^(?s:${value})$`)})`;
  }
}

/** The labels' expressions as one array of strings. */
export function labelList(labels: readonly SpanLabel[]): Statement {
  if (labels.length === 0) return sql`CAST([], 'Array(String)')`;
  const expressions = labels.map((label) => sql`toString(${spanLabels[label]})`);
  return sql`[${join(expressions, sql`, `)}]`;
}
