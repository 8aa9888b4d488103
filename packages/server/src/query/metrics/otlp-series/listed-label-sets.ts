/** Lists the label sets of OTLP series with the labels of parts, as Prometheus has them: one for each bucket and quantile. */
import type { Labels } from "@sounding/promql/series/labels";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import type { ListColumn } from "../../../store/native-reader.ts";
import { sql } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { isMatchedBy } from "../label-matching.ts";
import { partLabelOf } from "./otlp-metric.ts";
import { listOf, pointCondition, pointLists } from "./otlp-points.ts";
import { labelsOf } from "./otlp-series.ts";
import { seriesRows } from "./otlp-values.ts";
import { findSeries, partLabels, seriesCost, type OtlpQuery, type OtlpRequest } from "./series-lookup.ts";

/** The label sets of the names' series, whether or not they have points in the range; at most one more than `maxSeries`. */
export async function listedLabelSets(request: OtlpRequest, query: OtlpQuery): Promise<Labels[]> {
  const { maxSeries, names, yieldBudget } = request;
  if (names.length === 0) return [];
  const found = await findSeries(request, query);
  const parted = found.filter(({ name }) => partLabelOf(name) !== undefined);
  const values = await readPartValues(
    query.reader,
    request,
    // Of a metric of several projects, only one project's series are known here.
    pointLists(parted.map(({ series: { id, metric } }) => ({ id, metric, seriesOfMetric: undefined }))),
  );
  const matchers = request.matchers.filter(({ name }) => partLabels.has(name));
  const sets: Labels[] = [];
  for (const { name, series } of found) {
    const label = partLabelOf(name);
    const parts = label === undefined ? [undefined] : partsOf(label, values.get(series.id));
    for (const part of parts) {
      const labels = labelsOf(name, series, part);
      if (await isMatchedBy(labels, matchers, yieldBudget)) sets.push(labels);
      if (sets.length > maxSeries) return sets;
      if (yieldBudget.spend(seriesCost)) await yieldBudget.yield();
    }
  }
  return sets;
}

/** Distinct, in no order. */
interface PartValues {
  readonly bounds: readonly number[];
  readonly quantiles: readonly number[];
}

/** The bucket without a bound exists in every histogram. */
function partsOf(label: "le" | "quantile", values: PartValues | undefined): [label: string, value: string][] {
  const numbers = label === "le" ? new Set([...(values?.bounds ?? []), Infinity]) : (values?.quantiles ?? []);
  return Array.from(numbers, (number) => [label, formatPlain(number)]);
}

async function readPartValues(
  reader: TenantReader,
  request: OtlpRequest,
  lists: ReturnType<typeof pointLists>,
): Promise<ReadonlyMap<string, PartValues>> {
  const found = new Map<string, PartValues>();
  for (const list of lists) {
    const points = { ...request, ...list };
    const statement = sql`SELECT series_id, groupUniqArrayArray(bounds) AS bounds, groupUniqArrayArray(quantiles) AS quantiles
      FROM distribution_points WHERE ${pointCondition(points)} GROUP BY series_id`;
    for await (const { columns, id, row } of seriesRows(reader, points, statement)) {
      const numbers = (name: string): number[] => Array.from(listOf(columns.get(name) as ListColumn, row), Number);
      found.set(id, { bounds: numbers("bounds"), quantiles: numbers("quantiles") });
    }
  }
  return found;
}
