/** Reads the exemplars that applications sent with the points of their metrics. */
import { CooperativeYield, longStep } from "../../../scheduling/cooperative-yield.ts";
import { prometheusUnit } from "../../../store/metric-tables.ts";
import { bind, callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { labelsFrom } from "@sounding/promql/series/labels";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { allOf, projectCondition } from "../../conditions.ts";
import { intervalOf, seriesPerInterval, type Exemplar, type ExemplarSeries } from "../exemplar.ts";
import { isMatchedBy } from "../label-matching.ts";
import { toNumber } from "../span-series/span-series.ts";
import { pointCondition, pointLists, type PointsRequest } from "./otlp-points.ts";
import { labelName } from "./prometheus-names.ts";
import { findSeries, partLabels, type OtlpQuery, type OtlpRequest } from "./series-lookup.ts";

type PickedExemplar = readonly [
  timeMs: string,
  value: number | string,
  traceId: string,
  spanId: string,
  names: readonly string[],
  values: readonly string[],
];

interface PickedRow {
  readonly series_id: string;
  readonly picked: readonly PickedExemplar[];
}

/** Attributes of an exemplar that become labels, and the length of their values: labels of exemplars are short. */
const maximumAttributes = 16;
const maximumCharacters = 128;

/** @throws AppError as the store does */
export async function otlpExemplars(request: OtlpRequest, query: OtlpQuery): Promise<ExemplarSeries[]> {
  if (request.names.length === 0) return [];
  const found = await findSeries(request, query);
  const byId = new Map<string, Exemplar[]>();
  const bounds = new Map<string, readonly number[]>();
  const yielder = new CooperativeYield();
  const fromPrometheus = new Set(
    found.filter(({ series }) => series.unit === prometheusUnit).map(({ series }) => series.id),
  );
  for (const list of pointLists(found.map(({ series }) => series))) {
    const points = { ...request, ...list };
    for (const row of await readPicked(points, query)) {
      byId.set(row.series_id, [...(byId.get(row.series_id) ?? []), ...exemplarsOf(row, fromPrometheus)]);
      if (yielder.isDue(longStep)) await yielder.yield();
    }
    const hasBuckets = found.some(({ name }) => name.part === "bucket" && list.metrics.includes(name.metric.metric));
    if (hasBuckets) for (const [id, each] of await readBounds(points, query)) bounds.set(id, each);
  }
  const ofParts = request.matchers.filter(({ name }) => partLabels.has(name));
  const matched: ExemplarSeries[] = [];
  for (const { name, series } of found) {
    const exemplars = byId.get(series.id);
    if (exemplars === undefined) continue;
    const ofSeries: ExemplarSeries[] = [];
    if (name.part !== "bucket")
      ofSeries.push({ labels: labelsFrom([...series.labels, ["__name__", name.name]]), exemplars });
    else {
      const byBound = Map.groupBy(exemplars, ({ value }) => boundOf(value, bounds.get(series.id) ?? []));
      for (const [bound, inBucket] of byBound) {
        const entries: [string, string][] = [...series.labels, ["le", formatPlain(bound)], ["__name__", name.name]];
        ofSeries.push({ labels: labelsFrom(entries), exemplars: inBucket });
      }
    }
    for (const one of ofSeries) if (await isMatchedBy(one.labels, ofParts, request.yieldBudget)) matched.push(one);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return matched;
}

function boundOf(value: number, bounds: readonly number[]): number {
  return bounds.find((bound) => value <= bound) ?? Infinity;
}

function exemplarsOf({ picked, series_id: id }: PickedRow, fromPrometheus: ReadonlySet<string>): Exemplar[] {
  const labelOf = fromPrometheus.has(id) ? (name: string): string => name : labelName;
  const distinct = new Map(picked.map((each) => [JSON.stringify(each), each]));
  return Array.from(distinct.values(), ([timeMs, value, traceId, spanId, names, values]) => ({
    timeMs: Number(timeMs),
    value: toNumber(value),
    // Ours come last: an attribute of the same name does not change where the exemplar leads.
    labels: labelsFrom(
      new Map([
        ...names.map((name, index): [string, string] => [labelOf(name), values[index] ?? ""]),
        ["trace_id", traceId],
        ["span_id", spanId],
      ]),
    ),
  }));
}

function readPicked(request: PointsRequest, { project, reader }: OtlpQuery): Promise<PickedRow[]> {
  const { charge, fromMs, metrics, seriesIds, signal } = request;
  const interval = sql`intDiv(toUnixTimestamp64Milli(time) - ${bind.int64(fromMs)}, ${bind.int64(intervalOf(request))})`;
  const text = sql`text -> substringUTF8(text, 1, ${bind.uint32(maximumCharacters)})`;
  const count = bind.uint32(maximumAttributes);
  const exemplar = sql`(toUnixTimestamp64Milli(time), value, toString(trace_id), toString(span_id),
    arrayMap(${text}, arraySlice(mapKeys(attributes), 1, ${count})),
    arrayMap(${text}, arraySlice(mapValues(attributes), 1, ${count})))`;
  return reader.query<PickedRow>(
    sql`SELECT series_id, [greatest, chance] AS picked FROM (
        SELECT series_id, ${interval} AS at, argMax(${exemplar}, (ifNotFinite(value, 0), time)) AS greatest,
          argMin(${exemplar}, cityHash64(time, trace_id, span_id)) AS chance
        FROM exemplars WHERE ${allOf([pointCondition(request), seriesIds === "all" ? ofProject(metrics, project) : undefined])}
        GROUP BY series_id, at
      ) ORDER BY at, greatest.2 DESC, series_id LIMIT ${bind.uint32(seriesPerInterval)} BY at`,
    { signal, memory: { add: charge }, duplicates: "kept" },
  );
}

/** Series that are not listed are those of the whole organization. */
function ofProject(metrics: readonly string[], project: string | undefined): Statement | undefined {
  if (project === undefined) return undefined;
  return sql`series_id IN (SELECT series_id FROM series WHERE ${allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    sql`metric IN ${bind.texts(metrics)}`,
  ])})`;
}

/** The upper bounds of the last point of each series. */
async function readBounds(request: PointsRequest, { reader }: OtlpQuery): Promise<Map<string, readonly number[]>> {
  const { charge, maxSeries, signal } = request;
  const rows = await reader.query<{ series_id: string; last_bounds: readonly (number | string)[] }>(
    sql`SELECT series_id, argMax(bounds, time) AS last_bounds FROM distribution_points
      WHERE ${pointCondition(request)} GROUP BY series_id`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maxSeries },
  );
  return new Map(rows.map(({ last_bounds, series_id }) => [series_id, last_bounds.map(toNumber)]));
}
