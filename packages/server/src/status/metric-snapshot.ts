/** The values of all metrics of one process, and their sum over the processes of one server. */
import { AggregatorRegistry, type Registry } from "prom-client";
import type { RenderedValue } from "./metric-series.ts";
import { renderRegistry, type Scrape } from "./scrape.ts";

interface SnapshotMetric<Value = Omit<RenderedValue, "sharedLabels">> {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** How the values of several processes become one. */
  readonly aggregator: string;
  readonly values: readonly Value[];
}

/** Plain data that can be sent to another process. */
export type MetricSnapshot = readonly SnapshotMetric[];

export async function snapshotOf(registry: Registry): Promise<MetricSnapshot> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly SnapshotMetric<RenderedValue>[];
  return metrics.map(({ name, help, type, aggregator, values }) => ({
    name,
    help,
    type,
    aggregator,
    // prom-client distinguishes series by `labels` alone.
    values: values.map(({ sharedLabels, labels, ...value }) => ({ ...value, labels: { ...sharedLabels, ...labels } })),
  }));
}

/** Renders the sum of the snapshots. */
export async function renderSum(snapshots: readonly MetricSnapshot[]): Promise<Scrape> {
  return renderRegistry(sum(snapshots));
}

const cumulative: ReadonlySet<unknown> = new Set(["counter", "histogram", "summary"]);

/** What stays of processes that ended: what they counted, so that no total ever decreases. */
export async function keepCounts(snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> {
  return snapshotOf(sum(snapshots.map((metrics) => metrics.filter(({ type }) => cumulative.has(type)))));
}

function sum(snapshots: readonly MetricSnapshot[]): Registry {
  // prom-client's types leave out what it reads: a metric may have no values, and several names.
  return AggregatorRegistry.aggregate(snapshots as never);
}
