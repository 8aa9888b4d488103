/** Decodes OTLP metrics: series, and points by kind of metric. */
import { metricTypes, prometheusUnit, series, temporalities } from "../../store/metric-tables.ts";
import { textAt } from "./any-value.ts";
import { AttributeWriter, hashAttributes } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { Hash64 } from "../rows/hash64.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { uint32Of, writeTextOf } from "./message-fields.ts";
import { metric, metricParts } from "../../protobuf/otlp-messages.ts";
import type { MessageType } from "../../protobuf/message-type.ts";
import { MessageScan, type RangeList } from "../../protobuf/message-scan.ts";
import { maxRecordBytes } from "./record-limit.ts";
import { ExponentialWriter, HistogramWriter, NumberWriter, SummaryWriter, type PointWriter } from "./metric-points.ts";
import { boolAt } from "../../protobuf/numbers.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { noRecordedValue } from "./point-context.ts";
import { TargetInfoWriter } from "./target-info.ts";
import { timeProblem } from "./time-check.ts";

/** A kind of metric's data. */
interface MetricKind {
  readonly field: number;
  readonly type: number;
  readonly point: MessageType;
  /** Fields of the point message. */
  readonly attributesField: number;
  readonly exemplarsField: number | undefined;
  readonly flagsField: number;
  readonly makeWriter: (builder: ExportBuilder) => PointWriter;
}

const field = metric.fields;
const dataField = metricParts.data.fields;
/** The same in every kind of point. */
const { timeUnixNano } = metricParts.numberPoint.fields;

const kinds: readonly MetricKind[] = [
  {
    field: field.gauge,
    type: metricTypes.gauge,
    point: metricParts.numberPoint,
    attributesField: metricParts.numberPoint.fields.attributes,
    exemplarsField: metricParts.numberPoint.fields.exemplars,
    flagsField: metricParts.numberPoint.fields.flags,
    makeWriter: (builder) => new NumberWriter(builder),
  },
  {
    field: field.sum,
    type: metricTypes.sum,
    point: metricParts.numberPoint,
    attributesField: metricParts.numberPoint.fields.attributes,
    exemplarsField: metricParts.numberPoint.fields.exemplars,
    flagsField: metricParts.numberPoint.fields.flags,
    makeWriter: (builder) => new NumberWriter(builder),
  },
  {
    field: field.histogram,
    type: metricTypes.histogram,
    point: metricParts.histogramPoint,
    attributesField: metricParts.histogramPoint.fields.attributes,
    exemplarsField: metricParts.histogramPoint.fields.exemplars,
    flagsField: metricParts.histogramPoint.fields.flags,
    makeWriter: (builder) => new HistogramWriter(builder),
  },
  {
    field: field.exponentialHistogram,
    type: metricTypes.exponential_histogram,
    point: metricParts.exponentialPoint,
    attributesField: metricParts.exponentialPoint.fields.attributes,
    exemplarsField: metricParts.exponentialPoint.fields.exemplars,
    flagsField: metricParts.exponentialPoint.fields.flags,
    makeWriter: (builder) => new ExponentialWriter(builder),
  },
  {
    field: field.summary,
    type: metricTypes.summary,
    point: metricParts.summaryPoint,
    attributesField: metricParts.summaryPoint.fields.attributes,
    exemplarsField: undefined,
    flagsField: metricParts.summaryPoint.fields.flags,
    makeWriter: (builder) => new SummaryWriter(builder),
  },
];

/** What all points of the current metric share. */
interface Metric {
  readonly name: Uint8Array;
  readonly temporality: number;
  readonly monotonic: number;
  readonly group: ResourceScope;
  readonly kind: MetricKind;
  /** Whether its points are times of `target_info`. Clients of remote write send their own. */
  readonly hasTarget: boolean;
  /** A hash of the above, to which each point adds its attributes. */
  readonly low: number;
  readonly high: number;
}

export class MetricDecoder {
  readonly #builder: ExportBuilder;
  readonly #yielder: CooperativeYield;
  readonly #metric = new MessageScan(metric);
  readonly #data = new MessageScan(metricParts.data);
  readonly #points = new Map<MetricKind, { readonly scan: MessageScan; readonly writer: PointWriter }>();
  readonly #hash = new Hash64();
  readonly #writer = new AttributeWriter();
  readonly #targets: TargetInfoWriter;

  constructor(builder: ExportBuilder, yielder: CooperativeYield) {
    this.#builder = builder;
    this.#targets = new TargetInfoWriter(builder);
    this.#yielder = yielder;
  }

  /** How many points the metric has. */
  count(bytes: Uint8Array, start: number, end: number): number {
    this.#metric.read(bytes, start, end);
    const kind = this.#kind();
    if (kind === undefined) return 0;
    this.#data.read(bytes, this.#metric.starts[kind.field]!, this.#metric.ends[kind.field]!);
    return this.#data.list(dataField.dataPoints).length;
  }

  /** Returns a promise if the metric has so many points that decoding must yield. */
  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void | Promise<void> {
    const count = this.count(bytes, start, end);
    const kind = this.#kind();
    if (kind === undefined) return undefined;
    const { starts, ends } = this.#metric;
    if (starts[field.name] === ends[field.name]) {
      this.#builder.reject("of a metric without a name", count);
      return undefined;
    }
    return this.#addPoints(
      { bytes, list: this.#data.list(dataField.dataPoints), from: 0 },
      this.#describe(bytes, kind, group),
    );
  }

  /** Of a oneof's members, the last on the wire counts. */
  #kind(): MetricKind | undefined {
    const { starts } = this.#metric;
    let last: MetricKind | undefined;
    for (const kind of kinds) if (starts[kind.field]! > (last === undefined ? 0 : starts[last.field]!)) last = kind;
    return last;
  }

  #describe(bytes: Uint8Array, kind: MetricKind, group: ResourceScope): Metric {
    const { starts, ends } = this.#metric;
    const data = this.#data;
    const sent = uint32Of(data, dataField.aggregationTemporality);
    const temporality = sent > temporalities.cumulative ? temporalities.unspecified : sent;
    const monotonicAt = data.starts[dataField.isMonotonic]!;
    const monotonic = kind.type === metricTypes.sum && monotonicAt !== 0 && boolAt(bytes, monotonicAt) ? 1 : 0;
    const hash = this.#hash.reset();
    hash.addBytes(group.project, 0, group.project.length).addBytes(bytes, starts[field.name]!, ends[field.name]!);
    hash.addBytes(bytes, starts[field.unit]!, ends[field.unit]!).add(kind.type * 16 + temporality, monotonic);
    hash.addBytes(group.resourceId, 0, 8).addBytes(group.scopeId, 0, 8).finish();
    return {
      name: validText(bytes, starts[field.name]!, ends[field.name]!),
      temporality,
      monotonic,
      group,
      kind,
      hasTarget: textAt(bytes, starts[field.unit]!, ends[field.unit]!) !== prometheusUnit,
      low: hash.low,
      high: hash.high,
    };
  }

  #addPoints(points: { bytes: Uint8Array; list: RangeList; from: number }, described: Metric): void | Promise<void> {
    const { bytes, list } = points;
    const { scan, writer } = this.#tools(described.kind);
    for (let index = points.from; index < list.length; index += 1) {
      if (list.end(index) - list.start(index) > maxRecordBytes) {
        this.#builder.reject(`larger than ${maxRecordBytes} bytes`);
      } else {
        scan.read(bytes, list.start(index), list.end(index));
        this.#addPoint(bytes, described, { scan, writer });
      }
      if (this.#yielder.isDue()) {
        return this.#yielder.yield().then(() => this.#addPoints({ bytes, list, from: index + 1 }, described));
      }
    }
    return undefined;
  }

  #tools(kind: MetricKind) {
    let tools = this.#points.get(kind);
    if (tools === undefined) {
      tools = { scan: new MessageScan(kind.point), writer: kind.makeWriter(this.#builder) };
      this.#points.set(kind, tools);
    }
    return tools;
  }

  #addPoint(bytes: Uint8Array, described: Metric, { scan, writer }: { scan: MessageScan; writer: PointWriter }): void {
    const { kind, group } = described;
    const flags = uint32Of(scan, kind.flagsField) & 0xff;
    const problem = scan.has(timeUnixNano)
      ? (timeProblem(bytes, scan.starts[timeUnixNano]!, group) ?? writer.problem(bytes, scan, flags))
      : "without a time";
    if (problem !== undefined) {
      this.#builder.reject(problem);
      return;
    }
    const attributes = scan.list(kind.attributesField);
    const hash = this.#hash.reset().add(described.low, described.high);
    hashAttributes(hash, bytes, attributes).finish();
    if (this.#builder.isNew("series", hash.toBigInt())) this.#writeSeries(bytes, described, attributes);
    writer.write(bytes, scan, {
      metric: described.name,
      seriesId: hash,
      days: group.days,
      flags,
      exemplars: kind.exemplarsField === undefined ? undefined : scan.list(kind.exemplarsField),
      group,
    });
    if (described.hasTarget && (flags & noRecordedValue) === 0)
      this.#targets.note(bytes, scan.starts[timeUnixNano]!, group);
    this.#builder.accepted += 1;
  }

  #writeSeries(bytes: Uint8Array, described: Metric, attributes: RangeList): void {
    const { group } = described;
    const block = this.#builder.block(series);
    const { columns } = block;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.metric.bytes(described.name, 0, described.name.length);
    columns.series_id.copy(this.#hash.bytes(), 0);
    columns.type.unsigned(described.kind.type);
    writeTextOf(columns.unit, this.#metric, field.unit);
    writeTextOf(columns.description, this.#metric, field.description);
    columns.temporality.unsigned(described.temporality);
    columns.monotonic.unsigned(described.monotonic);
    columns.service.bytes(group.service, 0, group.service.length);
    columns.resource_id.copy(group.resourceId, 0);
    columns.scope_id.copy(group.scopeId, 0);
    this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, bytes, attributes);
    columns.seen.unsigned(Math.floor(this.#builder.nowMs / 1000));
    columns.days.unsigned(group.days);
    block.endRow();
  }
}

/** A copy of the text's bytes; invalid UTF-8 becomes U+FFFD. */
function validText(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Buffer.from(textAt(bytes, start, end), "utf8");
}
