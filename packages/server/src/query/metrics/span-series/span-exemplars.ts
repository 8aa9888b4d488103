/**
 * Picks the spans that exemplify a metric over spans: of each series and interval the span with the highest value, the last
 * failed one, and one that is chosen by the hash of its ID, so that a repeated query returns the same.
 */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { bucketOf, endMs } from "../../../store/row-expressions.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { labelsFrom } from "@sounding/promql/series/labels";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import {
  intervalOf,
  seriesPerInterval,
  type Exemplar,
  type ExemplarRequest,
  type ExemplarSeries,
} from "../exemplar.ts";
import { isMatchedBy } from "../label-matching.ts";
import { spanLabels } from "../../../store/span-labels.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { withMatchingValues } from "./matching-values.ts";
import { selectSpans } from "./span-selection.ts";
import { seriesLabels, toNumber, type SpanQuery } from "./span-series.ts";

/** The IDs are empty if no span was picked. */
type PickedSpan = readonly [traceId: string, spanId: string, amount: number | string, endedMs: string];

interface PickedRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  readonly picked: readonly PickedSpan[];
}

const isFailed = sql`(${spanLabels.status}) != 'success'`;
const durationNano = sql`(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time))`;

/** Gauges have none: no single span explains a session's start. @throws AppError as the store does */
export async function spanExemplars(
  { metric, name, part }: SpanSeriesName,
  request: ExemplarRequest,
  { namedLabels, project, reader }: SpanQuery,
): Promise<ExemplarSeries[]> {
  if (metric.type === "gauge") return [];
  const labels = seriesLabels(metric, namedLabels);
  const selection = { ...request, metric, project, labels, keepsDuplicates: true };
  const selected = selectSpans(await withMatchingValues(selection, { ...request, reader }));
  if (selected === null) return [];
  const bucket = part === "bucket" ? bucketOf(metric.value) : sql`0.`;
  const rows = await reader.query<PickedRow>(pickStatement({ ...selected, bucket, value: metric.value, request }), {
    signal: request.signal,
    memory: { add: request.charge },
    duplicates: "kept",
  });
  const found = new Map<string, { labels: ExemplarSeries["labels"]; exemplars: Exemplar[] }>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    const entries = labels.map((label, index): [string, string] => [label, row.label_values[index]!]);
    if (part === "bucket") entries.push(["le", formatPlain(toNumber(row.bucket))]);
    const ofSeries = labelsFrom([["__name__", name], ...entries]);
    const known = found.get(ofSeries.key) ?? { labels: ofSeries, exemplars: [] };
    found.set(ofSeries.key, known);
    known.exemplars.push(...exemplarsOf(row));
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  const ofParts = request.matchers.filter((matcher) => matcher.name === "le");
  const matched: ExemplarSeries[] = [];
  for (const each of found.values()) {
    if (await isMatchedBy(each.labels, ofParts, request.yieldBudget)) matched.push(each);
  }
  return matched;
}

/** One span can be picked for several reasons, and can be stored twice. */
function exemplarsOf({ picked }: PickedRow): Exemplar[] {
  const spans = new Map(picked.filter(([traceId]) => traceId !== "").map((span) => [`${span[0]} ${span[1]}`, span]));
  return Array.from(spans.values(), ([traceId, spanId, amount, endedMs]) => ({
    timeMs: Number(endedMs),
    value: toNumber(amount),
    labels: labelsFrom([
      ["trace_id", traceId],
      ["span_id", spanId],
    ]),
  }));
}

interface PickParts {
  readonly rows: Statement;
  readonly labelList: Statement;
  readonly bucket: Statement;
  readonly value: Statement;
  readonly request: ExemplarRequest;
}

function pickStatement({ bucket, labelList, request, rows, value }: PickParts): Statement {
  const span = sql`(toString(trace_id), toString(span_id), toFloat64(${value}), ${endMs})`;
  const interval = sql`intDiv(${endMs} - ${bind.int64(request.fromMs)}, ${bind.int64(intervalOf(request))})`;
  return sql`SELECT label_values, bucket, [greatest_span, failed_span, chance_span] AS picked FROM (
      SELECT ${labelList} AS label_values, ${bucket} AS bucket, ${interval} AS at,
        argMax(${span}, (${value}, ${durationNano})) AS greatest_span,
        argMaxIf(${span}, end_time, ${isFailed}) AS failed_span,
        argMin(${span}, cityHash64(trace_id, span_id)) AS chance_span
      FROM ${rows} GROUP BY label_values, bucket, at
    ) ORDER BY at, failed_span.1 != '' DESC, greatest_span.3 DESC, label_values, bucket
    LIMIT ${bind.uint32(seriesPerInterval)} BY at`;
}
