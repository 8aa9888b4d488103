/** Serves Prometheus' exemplars of the series that a query selects. https://prometheus.io/docs/prometheus/latest/querying/api/#querying-exemplars */
import type { TenantReader } from "../../store/store.ts";
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import { storeAccess } from "@sounding/promql/evaluate/select-series";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import { compareLabels } from "@sounding/promql/series/labels";
import { childrenOf, type Expression, type LabelMatcher } from "@sounding/promql/syntax/ast";
import { formatSampleValue } from "@sounding/promql/syntax/number-literal";
import type { Exemplar, ExemplarSeries } from "../metrics/exemplar.ts";
import { namedLabels } from "../metrics/named-labels.ts";
import { labelsJson } from "../metrics/prometheus-json.ts";
import { createTenantMetrics } from "../metrics/tenant-metrics.ts";

interface ExemplarsRequest {
  readonly reader: TenantReader;
  readonly project: string | undefined;
  readonly query: Expression;
  readonly fromMs: number;
  readonly toMs: number;
  readonly budget: Budget;
}

/** Exemplars of one response. */
const maximumExemplars = 10_000;

/** The series of all selectors, sorted; exemplars in order of time. Functions, offsets and `@` do not matter, as in Prometheus. */
export async function findExemplars(request: ExemplarsRequest): Promise<readonly ExemplarSeries[]> {
  const { budget, query } = request;
  const metrics = createTenantMetrics({ ...request, namedLabels: namedLabels(query) });
  const found = new Map<string, ExemplarSeries>();
  let count = 0;
  for (const matchers of selectorsOf(query)) {
    const selected = { ...request, ...storeAccess(budget), matchers, maxSeries: budget.limits.maxSeries };
    for (const series of await metrics.exemplars(selected)) {
      if (found.has(series.labels.key) || count >= maximumExemplars) continue;
      const exemplars = series.exemplars.toSorted(byTime).slice(0, maximumExemplars - count);
      found.set(series.labels.key, { labels: series.labels, exemplars });
      count += exemplars.length;
      if (budget.spend(workOfLabels + exemplars.length)) await budget.yield();
    }
    budget.check();
  }
  return sortInSlices([...found.values()], (left, right) => compareLabels(left.labels, right.labels), budget);
}

function byTime(left: Exemplar, right: Exemplar): number {
  return left.timeMs - right.timeMs;
}

/** The matchers of each different selector. */
function selectorsOf(query: Expression): Iterable<readonly LabelMatcher[]> {
  const selectors = new Map<string, readonly LabelMatcher[]>();
  const visit = (node: Expression): void => {
    if (node.kind === "vector-selector") selectors.set(JSON.stringify(node.matchers), node.matchers);
    // The second argument of info only names labels.
    const children = node.kind === "call" && node.function === "info" ? node.arguments.slice(0, 1) : childrenOf(node);
    for (const child of children) visit(child);
  };
  visit(query);
  return selectors.values();
}

export function exemplarsJson({ exemplars, labels }: ExemplarSeries): unknown {
  return {
    seriesLabels: labelsJson(labels),
    exemplars: exemplars.map((each) => ({
      labels: labelsJson(each.labels),
      value: formatSampleValue(each.value),
      timestamp: each.timeMs / 1000,
    })),
  };
}
