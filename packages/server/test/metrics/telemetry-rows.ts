/** Spans and points of metrics as rows of a store, written by hand so that every number of an answer is known. */
import { BlockWriter } from "../../src/store/block.ts";
import {
  distributionPoints,
  exemplars,
  metricTypes,
  points,
  series,
  temporalities,
} from "../../src/store/metric-tables.ts";
import { resources, spans } from "../../src/store/schema.ts";
import type { Batch, Store } from "../../src/store/store.ts";

export interface SpanRow {
  readonly endMs: number;
  /** Absent: its own trace. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  /** OTLP SpanKind. */
  readonly kind?: number;
  readonly durationMs?: number;
  readonly project?: string;
  readonly service?: string;
  readonly operation?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly agentName?: string;
  readonly agentClass?: string;
  readonly sessionId?: string;
  readonly inputTokens?: number;
  /** Undefined: not known. */
  readonly costBillionths?: number;
  readonly currency?: string;
  readonly outputTokens?: number;
  readonly errorType?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Whether Sounding recorded it of a call that it served. */
  readonly served?: boolean;
  readonly responseKey?: bigint;
  readonly requestKey?: bigint;
}

let lastId = 0;

function nextId(digits: number): string {
  lastId += 1;
  return lastId.toString(16).padStart(digits, "0");
}

/** Nanoseconds including a fraction of a millisecond, as from real clocks. */
function nanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n;
}

/** @param sentTimes how often the same rows are sent, as by a sender that received no answer */
export async function appendSpans(
  store: Store,
  organizationId: string,
  rows: readonly SpanRow[],
  sentTimes = 1,
): Promise<void> {
  const writer = new BlockWriter(spans);
  const { columns } = writer;
  for (const row of rows) {
    columns.organization.text(organizationId);
    columns.project.text(row.project ?? "default");
    columns.trace_id.text(row.traceId ?? nextId(32));
    columns.span_id.text(row.spanId ?? nextId(16));
    columns.parent_span_id.text(row.parentSpanId ?? "");
    columns.name.text(row.name ?? "");
    columns.kind.unsigned(row.kind ?? 0);
    columns.start_time.bigint(nanos(row.endMs - (row.durationMs ?? 100)));
    columns.end_time.bigint(nanos(row.endMs));
    columns.service.text(row.service ?? "app");
    columns.operation.text(row.operation ?? "chat");
    columns.provider.text(row.provider ?? "");
    columns.request_model.text(row.model ?? "");
    columns.agent_name.text(row.agentName ?? "");
    columns.agent_class.text(row.agentClass ?? "");
    columns.session_id.text(row.sessionId ?? "");
    columns.input_tokens.unsigned(row.inputTokens ?? 0);
    columns.output_tokens.unsigned(row.outputTokens ?? 0);
    columns.priced.unsigned(row.costBillionths === undefined ? 0 : 1);
    columns.cost_billionths.unsigned(row.costBillionths ?? 0);
    columns.currency.text(row.currency ?? "");
    columns.error_type.text(row.errorType ?? "");
    columns.status_code.unsigned(row.errorType === undefined ? 0 : 2);
    columns.served.unsigned(row.served === true ? 1 : 0);
    columns.response_key.bigint(row.responseKey ?? 0n);
    columns.request_key.bigint(row.requestKey ?? 0n);
    writeMap(columns.attributes, row.attributes ?? {});
    columns.days.unsigned(30);
    writer.endRow();
  }
  const batch = batchOf(organizationId, "spans", writer);
  for (let sent = 0; sent < sentTimes; sent += 1) await store.append(batch);
}

function writeMap(
  column: { keys: { text(value: string): void }; values: { text(value: string): void }; end(): void },
  entries: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(entries)) {
    column.keys.text(name);
    column.values.text(value);
  }
  column.end();
}

function batchOf(organizationId: string, table: Batch["table"], writer: { finish(): Buffer; rowCount: number }): Batch {
  return { organizationId, table, block: writer.finish(), rowCount: writer.rowCount };
}

export interface SeriesRow {
  readonly metric: string;
  readonly type: keyof typeof metricTypes;
  readonly unit?: string;
  readonly temporality?: keyof typeof temporalities;
  readonly monotonic?: boolean;
  readonly project?: string;
  readonly service?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly resource?: Readonly<Record<string, string>>;
  readonly points: readonly PointRow[];
  readonly exemplars?: readonly ExemplarRow[];
}

export interface ExemplarRow {
  readonly timeMs: number;
  readonly value: number;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface PointRow {
  readonly timeMs: number;
  readonly startMs?: number;
  readonly value?: number;
  readonly stale?: boolean;
  readonly count?: number;
  readonly sum?: number;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
  readonly scale?: number;
  readonly zeroCount?: number;
  readonly zeroThreshold?: number;
  readonly positive?: { readonly offset: number; readonly counts: readonly number[] };
  readonly negative?: { readonly offset: number; readonly counts: readonly number[] };
  readonly quantiles?: Readonly<Record<string, number>>;
}

export async function appendSeries(store: Store, organizationId: string, rows: readonly SeriesRow[]): Promise<void> {
  const described = new BlockWriter(series);
  const resourceRows = new BlockWriter(resources);
  const values = new BlockWriter(points);
  const distributions = new BlockWriter(distributionPoints);
  const examples = new BlockWriter(exemplars);
  for (const row of rows) {
    const id = BigInt((lastId += 1));
    writeSeries(described, organizationId, { row, id });
    resourceRows.columns.organization.text(organizationId);
    resourceRows.columns.resource_id.bigint(id);
    writeMap(resourceRows.columns.attributes, row.resource ?? { "service.name": row.service ?? "app" });
    resourceRows.columns.seen.unsigned(Math.floor(Date.now() / 1000));
    resourceRows.columns.days.unsigned(30);
    resourceRows.endRow();
    const isValue = row.type === "gauge" || row.type === "sum";
    for (const point of row.points) {
      const writer = isValue ? values : distributions;
      writer.columns.organization.text(organizationId);
      writer.columns.metric.text(row.metric);
      writer.columns.series_id.bigint(id);
      writer.columns.start_time.bigint(nanos(point.startMs ?? 0));
      writer.columns.time.bigint(nanos(point.timeMs));
      writer.columns.flags.unsigned(point.stale === true ? 1 : 0);
      writer.columns.days.unsigned(30);
      if (isValue) values.columns.value.float(point.value ?? 0);
      else writeDistribution(distributions, point);
      writer.endRow();
    }
    for (const exemplar of row.exemplars ?? []) {
      examples.columns.organization.text(organizationId);
      examples.columns.metric.text(row.metric);
      examples.columns.series_id.bigint(id);
      examples.columns.time.bigint(nanos(exemplar.timeMs));
      examples.columns.value.float(exemplar.value);
      examples.columns.trace_id.text(exemplar.traceId ?? "");
      examples.columns.span_id.text(exemplar.spanId ?? "");
      writeMap(examples.columns.attributes, exemplar.attributes ?? {});
      examples.columns.days.unsigned(30);
      examples.endRow();
    }
  }
  await store.append(batchOf(organizationId, "resources", resourceRows));
  await store.append(batchOf(organizationId, "series", described));
  await store.append(batchOf(organizationId, "points", values));
  await store.append(batchOf(organizationId, "distribution_points", distributions));
  if (examples.rowCount > 0) await store.append(batchOf(organizationId, "exemplars", examples));
}

function writeSeries(
  writer: BlockWriter<(typeof series)["columns"]>,
  organizationId: string,
  { id, row }: { row: SeriesRow; id: bigint },
): void {
  const { columns } = writer;
  columns.organization.text(organizationId);
  columns.project.text(row.project ?? "default");
  columns.metric.text(row.metric);
  columns.series_id.bigint(id);
  columns.type.unsigned(metricTypes[row.type]);
  columns.unit.text(row.unit ?? "");
  columns.temporality.unsigned(temporalities[row.temporality ?? "cumulative"]);
  columns.monotonic.unsigned(row.monotonic === true ? 1 : 0);
  columns.service.text(row.service ?? "app");
  columns.resource_id.bigint(id);
  writeMap(columns.attributes, row.attributes ?? {});
  columns.seen.unsigned(Math.floor(Date.now() / 1000));
  columns.days.unsigned(30);
  writer.endRow();
}

function writeDistribution(writer: BlockWriter<(typeof distributionPoints)["columns"]>, point: PointRow): void {
  const { columns } = writer;
  columns.count.unsigned(point.count ?? 0);
  columns.sum.float(point.sum ?? Number.NaN);
  for (const bound of point.bounds ?? []) columns.bounds.items.float(bound);
  columns.bounds.end();
  for (const count of point.counts ?? []) columns.counts.items.unsigned(count);
  columns.counts.end();
  columns.scale.signed(point.scale ?? 0);
  columns.zero_count.unsigned(point.zeroCount ?? 0);
  columns.zero_threshold.float(point.zeroThreshold ?? Number.NaN);
  columns.positive_offset.signed(point.positive?.offset ?? 0);
  for (const count of point.positive?.counts ?? []) columns.positive_counts.items.unsigned(count);
  columns.positive_counts.end();
  columns.negative_offset.signed(point.negative?.offset ?? 0);
  for (const count of point.negative?.counts ?? []) columns.negative_counts.items.unsigned(count);
  columns.negative_counts.end();
  for (const [quantile, value] of Object.entries(point.quantiles ?? {})) {
    columns.quantiles.items.float(Number(quantile));
    columns.quantile_values.items.float(value);
  }
  columns.quantiles.end();
  columns.quantile_values.end();
}
