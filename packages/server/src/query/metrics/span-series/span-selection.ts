/** What of `spans` a selector means: conditions and labels of a statement. */
import { bind, join, ownOrganization, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import type { LabelMatcher } from "../../../languages/promql/syntax/ast.ts";
import { matchesAbsence } from "../label-matching.ts";
import { isSpanLabel, spanLabels, type SpanLabel } from "./span-labels.ts";
import { bucketBounds, type SpanMetric } from "./span-metrics.ts";

/** A span that took longer than this may be missed: spans are found by their begin, and counted when they end. */
const longestSpanMs = 86_400_000;

export interface SpanSelection {
  readonly metric: SpanMetric;
  /** Undefined: all projects of the organization. */
  readonly project: string | undefined;
  readonly matchers: readonly LabelMatcher[];
  /** Unix milliseconds of the spans' ends, both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The end of a span as metrics see it. */
export const endMs = sql`toUnixTimestamp64Milli(end_time)`;

/** The upper bound of the bucket that a value belongs to. */
export function bucketOf({ value }: SpanMetric): Statement {
  const highest = bucketBounds.at(-1)!;
  const negated = bucketBounds.map((bound) => -bound).reverse();
  // roundDown searches the greatest bound that is not above: of the negated ones, the least that is not below.
  return sql`if(${value} > ${bind.float(highest)}, inf, -roundDown(-${value}, ${bind.floats(negated)}))`;
}

/** The condition of a selection, or null when no series can match. */
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
    sql`organization = ${ownOrganization}`,
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

/** A metric's label of this name, if it has it. */
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
    // ClickHouse's regular expressions are RE2's too; `s` lets a dot match a newline, as in Prometheus.
    case "=~":
      return sql`match(${label}, ${bind.text(`^(?s:${value})$`)})`;
    default:
      return sql`NOT match(${label}, ${bind.text(`^(?s:${value})$`)})`;
  }
}

/** Expressions as a list of texts, one for each label. */
export function labelList(labels: readonly SpanLabel[]): Statement {
  if (labels.length === 0) return sql`CAST([], 'Array(String)')`;
  const expressions = labels.map((label) => sql`toString(${spanLabels[label]})`);
  return sql`[${join(expressions, sql`, `)}]`;
}
