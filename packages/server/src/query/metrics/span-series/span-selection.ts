/** Translates a selector into a table expression, conditions and labels over `spans`. */
import { join, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { matchesAbsence } from "../label-matching.ts";
import { endedWithin, type EndRange, isCounted, withCallers } from "../../../store/counted-calls.ts";
import { callerLabels, isCallerLabel, isSpanLabel, spanLabels, type SpanLabel } from "../../../store/span-labels.ts";
import { serviceEdges } from "./service-edges.ts";
import { labelCondition, type SpanMatcher } from "./span-matchers.ts";
import type { SpanMetric } from "./span-metric.ts";

export interface SpanSelection {
  readonly metric: SpanMetric;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly matchers: readonly SpanMatcher[];
  /** Unix milliseconds of the spans' ends, both inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Parts of that time, if not all of it is read; in order, at least one. */
  readonly ranges?: readonly EndRange[];
  /** The labels that the statement reads. */
  readonly labels: readonly SpanLabel[];
  /** Whether every row that was sent is read, for lists, which rows that were sent twice do not change. */
  readonly keepsDuplicates?: boolean;
  /** Whether every span of a call is read. */
  readonly keepsRepeatedCalls?: boolean;
}

/** The spans that a metric counts, for a statement that reads with `duplicates: "kept"`. */
export interface SelectedSpans {
  /** The table expression and its condition: `… WHERE …`. */
  readonly rows: Statement;
  /** The labels' expressions as one array of strings. */
  readonly labelList: Statement;
}

/** Null if no series can match. */
export function selectSpans(selection: SpanSelection): SelectedSpans | null {
  const { labels, metric, project, ranges = [selection] } = selection;
  const matched = matchedLabels(selection);
  if (matched === null) return null;
  const used = [...labels, ...matched.map(({ label }) => label), ...(metric.required ?? [])];
  const countsCalls = metric.countsCalls === true && selection.keepsRepeatedCalls !== true;
  const joinsCallers = countsCalls && used.some(isCallerLabel);
  const expressionOf = (label: SpanLabel): Statement =>
    joinsCallers && isCallerLabel(label) ? callerLabels[label] : spanLabels[label];
  const ofSpans = allOf([
    endedWithin(ranges),
    projectCondition(project),
    metric.condition,
    countsCalls ? isCounted(ranges) : undefined,
  ]);
  const ofLabels = [
    ...matched.map(({ label, matcher }) => labelCondition(expressionOf(label), matcher)),
    ...(metric.required ?? []).map((label) => sql`${expressionOf(label)} != ''`),
  ];
  const arrayJoin = metric.arrayJoin === undefined ? sql`` : sql` ARRAY JOIN ${metric.arrayJoin}`;
  const ofItems = metric.itemCondition === undefined ? [] : [metric.itemCondition];
  const labelList = textList(labels.map(expressionOf));
  if (metric.countsEdges === true) {
    const condition = allOf([metric.condition, ...ofLabels]);
    return { labelList, rows: sql`${serviceEdges(selection, project)} AS edges WHERE ${condition}` };
  }
  const table = selection.keepsDuplicates === true ? sql`spans` : sql`spans FINAL`;
  if (!joinsCallers) {
    return { labelList, rows: sql`${table}${arrayJoin} WHERE ${allOf([ofSpans, ...ofLabels, ...ofItems])}` };
  }
  const calls = withCallers(sql`${table} WHERE ${ofSpans}`, ranges, project);
  const condition = allOf([sql`1`, ...ofLabels, ...ofItems]);
  return { labelList, rows: sql`${calls}${arrayJoin} WHERE ${condition}` };
}

export interface MatchedLabel {
  readonly label: SpanLabel;
  readonly matcher: SpanMatcher;
}

/** The matchers of a metric's labels; null if no series can match. */
export function matchedLabels({ matchers, metric }: SpanSelection): MatchedLabel[] | null {
  const matched: MatchedLabel[] = [];
  for (const matcher of matchers) {
    if (matcher.name === "__name__" || matcher.name === "le") continue;
    const label = labelOf(metric, matcher.name);
    if (label !== undefined) matched.push({ label, matcher });
    else if (!matchesAbsence(matcher)) return null;
  }
  return matched;
}

/** A metric's label; undefined if the metric does not have it. */
export function labelOf(metric: SpanMetric, name: string): SpanLabel | undefined {
  const known = isSpanLabel(name) && (metric.labels.includes(name) || metric.labelsWhenNamed.includes(name));
  return known ? name : undefined;
}

/** Expressions as one array of strings. */
export function textList(expressions: readonly Statement[]): Statement {
  const texts = expressions.map((expression) => sql`toString(${expression})`);
  return texts.length === 0 ? sql`CAST([], 'Array(String)')` : sql`[${join(texts, sql`, `)}]`;
}
