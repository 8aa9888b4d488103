/** Counters, gauges and histograms of a few dozen processes, scraped every 15 s, for the store and for Prometheus. */
import { BlockWriter } from "../../packages/server/src/store/block.ts";
import {
  distributionPoints,
  metricTypes,
  points,
  series,
  temporalities,
} from "../../packages/server/src/store/metric-tables.ts";
import { resources } from "../../packages/server/src/store/schema.ts";
import type { Batch, Store } from "../../packages/server/src/store/store.ts";
import type { PrometheusSeries } from "../../packages/server/test/support/prometheus-server.ts";
import { organizationId } from "./queries.ts";

export interface MetricsSize {
  /** Counted as in Prometheus: each bucket of a histogram is a series. */
  readonly seriesCount: number;
  readonly hours: number;
  readonly endMs: number;
}

interface SourceSeries {
  readonly id: bigint;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly instance: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly random: () => number;
  /** The counter's or gauge's value, or a histogram's sum. */
  value: number;
  readonly counts: number[];
}

interface Chunk {
  readonly source: SourceSeries;
  readonly timesMs: readonly number[];
  /** Values, or a histogram's sums. */
  readonly values: readonly number[];
  /** Of a histogram: the counts of each bucket by point. */
  readonly counts: readonly (readonly number[])[];
}

const scrapeMs = 15_000;
const chunkSamples = 80;
const bounds = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const metrics = {
  counter: { metric: "http.requests", type: "sum", unit: "", name: "http_requests_total" },
  gauge: { metric: "memory.usage", type: "gauge", unit: "By", name: "memory_usage_bytes" },
  histogram: { metric: "request.duration", type: "histogram", unit: "s", name: "request_duration_seconds" },
} as const;

/** Of ten series, six are counters, two are gauges and two belong to histograms. */
function sourceSeries({ seriesCount }: MetricsSize): SourceSeries[] {
  const make = (kind: SourceSeries["kind"], count: number, own: (index: number) => Record<string, string>) =>
    Array.from({ length: count }, (_, index): SourceSeries => {
      const seed = index * 3 + { counter: 0, gauge: 1, histogram: 2 }[kind];
      const random = randomNumbers(seed + 1);
      const value = kind === "gauge" ? 1e9 * random() : Math.floor(1e6 * random());
      const counts = Array.from({ length: bounds.length + 1 }, () => Math.floor(1000 * random()));
      return { id: BigInt(seed + 1), kind, instance: `i${index % 50}`, attributes: own(index), random, value, counts };
    });
  const at = (index: number, divisor: number, of: number): number => Math.floor(index / divisor) % of;
  return [
    ...make("counter", Math.floor(seriesCount * 0.6), (index) => ({
      route: `/r${at(index, 200, 30)}`,
      code: ["200", "201", "404", "500"][at(index, 50, 4)]!,
      number: String(Math.floor(index / 6000)),
    })),
    ...make("gauge", Math.floor(seriesCount * 0.2), (index) => ({ pod: `p${Math.floor(index / 50)}` })),
    ...make("histogram", Math.floor((seriesCount * 0.2) / (bounds.length + 3)), (index) => ({
      route: `/r${Math.floor(index / 50)}`,
    })),
  ];
}

/** Twenty minutes of each series, then the next twenty, in the order in which they would arrive. */
function* chunksOf(size: MetricsSize): Generator<Chunk> {
  const sources = sourceSeries(size);
  const count = (size.hours * 3_600_000) / scrapeMs;
  for (let first = 0; first < count; first += chunkSamples) {
    for (const source of sources) {
      const phase = Number((source.id * 7919n) % 14_000n) + 137;
      const indexes = Array.from({ length: Math.min(chunkSamples, count - first) }, (_, index) => first + index);
      const counts: number[][] = [];
      const values = indexes.map(() => {
        const { kind, random } = source;
        if (kind === "gauge") return (source.value = Math.max(0, source.value + Math.round((random() - 0.5) * 1e6)));
        const more = Math.floor(random() * 30);
        if (kind === "histogram") {
          source.counts[Math.floor(random() * source.counts.length)]! += more;
          counts.push([...source.counts]);
          return (source.value += more * random());
        }
        return (source.value += more);
      });
      const timesMs = indexes.map((index) => size.endMs - (count - index) * scrapeMs + phase);
      yield { source, timesMs, values, counts };
    }
  }
}

/** The same as lines for Prometheus. */
export function* prometheusChunks(size: MetricsSize): Generator<PrometheusSeries> {
  for (const { counts, source, timesMs, values } of chunksOf(size)) {
    const { attributes, instance, kind } = source;
    const labels = { job: "bench", instance, service_name: "bench", project_name: "default", ...attributes };
    const samples = (of: (index: number) => number) => timesMs.map((timeMs, index) => [timeMs, of(index)] as const);
    const { name } = metrics[kind];
    if (kind !== "histogram") {
      yield { name, labels, samples: samples((index) => values[index]!) };
      continue;
    }
    const upTo = (index: number, bucket: number): number =>
      counts[index]!.slice(0, bucket + 1).reduce((sum, count) => sum + count, 0);
    for (let bucket = 0; bucket <= bounds.length; bucket++) {
      const le = bucket === bounds.length ? "+Inf" : String(bounds[bucket]);
      yield { name: `${name}_bucket`, labels: { ...labels, le }, samples: samples((index) => upTo(index, bucket)) };
    }
    yield { name: `${name}_count`, labels, samples: samples((index) => upTo(index, bounds.length)) };
    yield { name: `${name}_sum`, labels, samples: samples((index) => values[index]!) };
  }
}

/**
 * Writes the samples as OTLP points.
 * @returns the number of samples, as Prometheus counts them
 */
export async function writeMetrics(store: Store, size: MetricsSize): Promise<number> {
  await writeDescriptions(store, size);
  let samples = 0;
  let writers = freshWriters();
  for (const { counts, source, timesMs, values } of chunksOf(size)) {
    const isHistogram = source.kind === "histogram";
    const writer = isHistogram ? writers.distributions : writers.values;
    for (const [index, timeMs] of timesMs.entries()) {
      writer.columns.organization.text(organizationId);
      writer.columns.metric.text(metrics[source.kind].metric);
      writer.columns.series_id.bigint(source.id);
      writer.columns.time.bigint(BigInt(timeMs) * 1_000_000n);
      writer.columns.days.unsigned(30);
      if (isHistogram) writeHistogram(writers.distributions, values[index]!, counts[index]!);
      else writers.values.columns.value.float(values[index]!);
      writer.endRow();
    }
    samples += timesMs.length * (isHistogram ? bounds.length + 3 : 1);
    if (writers.values.rowCount >= 100_000) {
      await appendAll(store, writers);
      writers = freshWriters();
    }
  }
  await appendAll(store, writers);
  return samples;
}

function freshWriters() {
  return { values: new BlockWriter(points), distributions: new BlockWriter(distributionPoints) };
}

function writeHistogram(
  { columns }: BlockWriter<(typeof distributionPoints)["columns"]>,
  sum: number,
  counts: readonly number[],
): void {
  columns.count.unsigned(counts.reduce((total, count) => total + count, 0));
  columns.sum.float(sum);
  for (const bound of bounds) columns.bounds.items.float(bound);
  columns.bounds.end();
  for (const count of counts) columns.counts.items.unsigned(count);
  columns.counts.end();
}

async function appendAll(store: Store, { distributions, values }: ReturnType<typeof freshWriters>): Promise<void> {
  await Promise.all([
    store.append(batchOf("points", values)),
    store.append(batchOf("distribution_points", distributions)),
  ]);
}

export function batchOf(table: Batch["table"], writer: { finish(): Buffer; rowCount: number }): Batch {
  return { organizationId, table, block: writer.finish(), rowCount: writer.rowCount };
}

async function writeDescriptions(store: Store, size: MetricsSize): Promise<void> {
  const described = new BlockWriter(series);
  const instances = new BlockWriter(resources);
  const seen = Math.floor(size.endMs / 1000);
  const resourceIds = new Map<string, bigint>();
  for (const { attributes, id, instance, kind } of sourceSeries(size)) {
    const resourceId = resourceIds.get(instance) ?? BigInt(resourceIds.size + 1);
    const { columns } = described;
    columns.organization.text(organizationId);
    columns.project.text("default");
    columns.metric.text(metrics[kind].metric);
    columns.series_id.bigint(id);
    columns.type.unsigned(metricTypes[metrics[kind].type]);
    columns.unit.text(metrics[kind].unit);
    columns.temporality.unsigned(temporalities.cumulative);
    columns.monotonic.unsigned(kind === "counter" ? 1 : 0);
    columns.service.text("bench");
    columns.resource_id.bigint(resourceId);
    writeMap(columns.attributes, attributes);
    columns.seen.unsigned(seen);
    columns.days.unsigned(30);
    described.endRow();
    if (resourceIds.has(instance)) continue;
    resourceIds.set(instance, resourceId);
    instances.columns.organization.text(organizationId);
    instances.columns.resource_id.bigint(resourceId);
    writeMap(instances.columns.attributes, { "service.name": "bench", "service.instance.id": instance });
    instances.columns.seen.unsigned(seen);
    instances.columns.days.unsigned(30);
    instances.endRow();
  }
  await store.append(batchOf("series", described));
  await store.append(batchOf("resources", instances));
}

interface MapWriter {
  readonly keys: { text(value: string): void };
  readonly values: { text(value: string): void };
  end(): void;
}

export function writeMap(column: MapWriter, entries: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(entries)) {
    column.keys.text(name);
    column.values.text(value);
  }
  column.end();
}

/**
 * Pseudo-random numbers from 0 to 1, the same in each run.
 * https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
export function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
