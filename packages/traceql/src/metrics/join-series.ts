/** Arithmetic between two metrics queries: series with the same labels, or one without labels with all of the other side. */
import { stringValue } from "../spans/static-value.ts";
import type { NamedValue } from "../spans/spanset.ts";
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import { calculateMetrics, sizeOf } from "./second-stage.ts";
import { nameLabel, seriesKey, type Series, type SeriesSet } from "./series.ts";

type Operator = "+" | "-" | "*" | "/";
const withoutLabels = seriesKey([]);

export async function joinSeries(
  operator: Operator,
  left: SeriesSet,
  right: SeriesSet,
  budget: Budget,
): Promise<SeriesSet> {
  const target = right.has(withoutLabels) ? left : right;
  const samples = sizeOf(target);
  budget.holdSamples(samples);
  const output = new Map<string, Series>();
  for (const key of target.keys()) {
    if (budget.spend(workOfLabels)) await budget.yield();
    const [one, other] = [left.get(key) ?? left.get(withoutLabels), right.get(key) ?? right.get(withoutLabels)];
    if (one === undefined || other === undefined) continue;
    if (budget.spend(2 * one.values.length)) await budget.yield();
    const values = one.values.map((value, index) => calculateMetrics(operator, value, other.values[index]!));
    const [isOneForAll, isOtherForAll] = [!left.has(key), !right.has(key)];
    const exemplars =
      isOneForAll === isOtherForAll ? [...one.exemplars, ...other.exemplars] : (isOneForAll ? other : one).exemplars;
    output.set(key, { labels: joinLabels(operator, one.labels, other.labels), values, exemplars });
  }
  budget.releaseSamples(samples);
  return output;
}

/** The name becomes `(rate / count_over_time)` if both have one. */
function joinLabels(
  operator: Operator,
  left: readonly NamedValue[],
  right: readonly NamedValue[],
): readonly NamedValue[] {
  const [leftName, rightName] = [left, right].map((labels) => labels.find(({ name }) => name === nameLabel)?.value);
  const added = right.filter(({ name }) => name !== nameLabel && !left.some((label) => label.name === name));
  if (leftName?.type !== "string" || rightName?.type !== "string") {
    return [...left.filter(({ name }) => name !== nameLabel), ...added];
  }
  const value = stringValue(`(${leftName.value} ${operator} ${rightName.value})`);
  return [...left.map((label) => (label.name === nameLabel ? { name: nameLabel, value } : label)), ...added];
}
