/**
 * Lists the label sets of metrics over spans without reading samples. Metrics with the same labels are read in one statement, because
 * lists without a name, such as those of Grafana's query builder, are of all metrics.
 */
import { bucketBounds } from "../../../store/row-expressions.ts";
import { spanLabels, type SpanLabel } from "../../../store/span-labels.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import type { Labels } from "@sounding/promql/series/labels";
import type { SelectRequest } from "@sounding/promql/storage";
import { allOf } from "../../conditions.ts";
import { withMatchingValues } from "./matching-values.ts";
import type { SpanMetric } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { labelOf, selectSpans, type SelectedSpans } from "./span-selection.ts";
import { byMetric, matchesLe, seriesLabels, toLabels, type SpanQuery } from "./span-series.ts";

/** The projects and services that sent spans, as label sets with the metric's name; spans that do not count included. */
export async function spanSources(
  names: readonly SpanSeriesName[],
  request: LabelSetsSelection,
  { project, reader }: SpanQuery,
): Promise<Labels[]> {
  const labels = ["project_name", "service_name"] as const;
  const allRows = { keepsDuplicates: true, keepsRepeatedCalls: true };
  const sources: Labels[] = [];
  for (const [metric, ofMetric] of byMetric(names)) {
    const selection = { ...request, metric, project, labels, ...allRows };
    const selected = selectSpans(await withMatchingValues(selection, { ...request, reader }));
    const rows = await readLabelValues(reader, selected, request);
    for (const { name } of ofMetric) sources.push(...rows.map((values) => toLabels(values, { name, labels })));
  }
  return sources;
}

type LabelSetsSelection = Pick<SelectRequest, "matchers" | "fromMs" | "toMs" | "signal" | "yieldBudget" | "charge"> & {
  readonly maxSeries: number;
  /** Label sets may be without the labels that are not wanted, and have any value where only names are. Absent: complete ones. */
  readonly wanted?: { readonly values: ReadonlySet<string>; readonly names: boolean } | undefined;
};

/** The distinct label sets of the series of the names, for lists of series and labels. */
export async function spanLabelSets(
  names: readonly SpanSeriesName[],
  request: LabelSetsSelection,
  query: SpanQuery,
): Promise<Labels[]> {
  const sets: Labels[] = [];
  const groups = Map.groupBy(
    Array.from(byMetric(names), ([metric, ofMetric]) => listed(metric, ofMetric, { request, query })),
    ({ key }) => key,
  );
  for (const group of groups.values()) {
    const rows = await readGroup(group, request, query);
    for (const [at, { labels, names: ofMetric }] of group.entries()) {
      const ofRows = rows.filter(({ found }) => found[at] === 1);
      for (const { name, part } of ofMetric) {
        const bounds = part === "bucket" ? [...bucketBounds, Infinity] : [undefined];
        for (const { label_values: values } of ofRows) {
          for (const bound of bounds) {
            const set = toLabels(values, { name, labels }, bound);
            request.charge(set.key.length);
            if (await matchesLe(set, request)) sets.push(set);
            if (request.yieldBudget.spend(64)) await request.yieldBudget.yield();
          }
          if (sets.length > request.maxSeries) return sets;
        }
      }
    }
  }
  return sets;
}

interface ListedMetric {
  readonly metric: SpanMetric;
  readonly names: readonly SpanSeriesName[];
  /** The labels that are read. */
  readonly labels: readonly SpanLabel[];
  /** Metrics with the same key can be read together. */
  readonly key: string;
}

function listed(
  metric: SpanMetric,
  names: readonly SpanSeriesName[],
  { query, request }: { readonly query: SpanQuery; readonly request: LabelSetsSelection },
): ListedMetric {
  const all = seriesLabels(metric, query.namedLabels);
  const { wanted } = request;
  // Fewer labels are fewer rows. The matchers are part of the statement.
  const labels = wanted === undefined || wanted.names ? all : all.filter((label) => wanted.values.has(label));
  const matched = request.matchers.map(({ name }) => labelOf(metric, name));
  const splitsSpans = metric.arrayJoin !== undefined && [...labels, ...matched].includes(splitLabel);
  // The labels of a call may be those of another span.
  const needsLabels = metric.countsCalls === true && metric.required !== undefined;
  const alone = splitsSpans || needsLabels ? metric.name : "";
  const key = JSON.stringify([alone, labels, matched, metric.countsCalls === true, metric.countsEdges === true]);
  return { metric, names, labels, key };
}

/** The label of the items that a span is split into. */
const splitLabel: SpanLabel = "token_type";

interface GroupRow {
  readonly label_values: readonly string[];
  /** 1 for each metric of the group that has the labels. */
  readonly found: readonly number[];
}

async function readGroup(
  group: readonly ListedMetric[],
  request: LabelSetsSelection,
  { project, reader }: SpanQuery,
): Promise<readonly GroupRow[]> {
  const [{ labels, metric }] = group as [ListedMetric];
  const conditions = group.map((each) => conditionOf(each.metric));
  const { arrayJoin: _joined, itemCondition: _ofItems, required: _required, ...common } = metric;
  const combined = group.length === 1 ? metric : { ...common, condition: sql`(${join(conditions, sql` OR `)})` };
  const selection = { ...request, metric: combined, project, labels, keepsDuplicates: true };
  const selected = selectSpans(await withMatchingValues(selection, { ...request, reader }));
  if (selected === null) return [];
  if (group.length === 1) {
    const rows = await readLabelValues(reader, selected, request);
    return rows.map((values) => ({ label_values: values, found: [1] }));
  }
  const found = conditions.map((condition) => sql`toUInt8(max(${condition}))`);
  return reader.query<GroupRow>(
    sql`SELECT ${valuesOf(selected, request)} AS label_values, [${join(found, sql`, `)}] AS found
      FROM ${selected.rows} GROUP BY label_values LIMIT ${bind.uint32(request.maxSeries)}`,
    {
      signal: request.signal,
      memory: { add: request.charge },
      duplicates: "kept",
      maximumRows: request.maxSeries,
    },
  );
}

/** Which spans the metric counts, if they are not split into items. */
function conditionOf({ condition, hasItems, required = [] }: SpanMetric): Statement {
  const isLabeled = required.map((label) => sql`${spanLabels[label]} != ''`);
  return sql`(${allOf([condition, hasItems, ...isLabeled])})`;
}

function valuesOf({ labelList }: SelectedSpans, { wanted }: LabelSetsSelection): Statement {
  return wanted?.names === true ? sql`arrayMap(text -> if(text = '', '', 'x'), ${labelList})` : labelList;
}

/** The distinct values of a metric's labels. */
async function readLabelValues(
  reader: TenantReader,
  selected: SelectedSpans | null,
  request: LabelSetsSelection,
): Promise<readonly (readonly string[])[]> {
  if (selected === null) return [];
  const { charge, maxSeries, signal } = request;
  const rows = await reader.query<{ label_values: readonly string[] }>(
    sql`SELECT DISTINCT ${valuesOf(selected, request)} AS label_values FROM ${selected.rows} LIMIT ${bind.uint32(maxSeries)}`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maxSeries },
  );
  return rows.map(({ label_values: values }) => values);
}
