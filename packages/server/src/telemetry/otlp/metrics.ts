/** Metrics as rows: what the points of a series share in `series`, the points apart by their kind. */
import { metricTypes, series, temporalities } from "../../store/metric-tables.ts";
import { textAt, writeText } from "./any-value.ts";
import { AttributeWriter, hashAttributes } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { Hash64 } from "./hash64.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { metric, metricParts } from "./messages.ts";
import type { MessageType } from "./message-type.ts";
import { MessageScan, type RangeList } from "./message-scan.ts";
import { ExponentialWriter, HistogramWriter, NumberWriter, SummaryWriter, type PointWriter } from "./metric-points.ts";
import { boolAt, uint32At } from "./numbers.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { timeProblem } from "./time-check.ts";

/** A kind of metric's data. */
interface MetricKind {
  readonly field: number;
  readonly type: number;
  readonly point: MessageType;
  /** Fields of the point message. */
  readonly attributesField: number;
  readonly exemplarsField: number;
  readonly flagsField: number;
  readonly makeWriter: (builder: ExportBuilder) => PointWriter;
}

const kinds: readonly MetricKind[] = [
  {
    field: 5,
    type: metricTypes.gauge,
    point: metricParts.numberPoint,
    attributesField: 7,
    exemplarsField: 5,
    flagsField: 8,
    makeWriter: (builder) => new NumberWriter(builder),
  },
  {
    field: 7,
    type: metricTypes.sum,
    point: metricParts.numberPoint,
    attributesField: 7,
    exemplarsField: 5,
    flagsField: 8,
    makeWriter: (builder) => new NumberWriter(builder),
  },
  {
    field: 9,
    type: metricTypes.histogram,
    point: metricParts.histogramPoint,
    attributesField: 9,
    exemplarsField: 8,
    flagsField: 10,
    makeWriter: (builder) => new HistogramWriter(builder),
  },
  {
    field: 10,
    type: metricTypes.exponential_histogram,
    point: metricParts.exponentialPoint,
    attributesField: 1,
    exemplarsField: 11,
    flagsField: 10,
    makeWriter: (builder) => new ExponentialWriter(builder),
  },
  {
    field: 11,
    type: metricTypes.summary,
    point: metricParts.summaryPoint,
    attributesField: 7,
    exemplarsField: 0,
    flagsField: 8,
    makeWriter: (builder) => new SummaryWriter(builder),
  },
];

/** The metric that is being read: what all its points share. */
interface Metric {
  readonly name: Uint8Array;
  readonly temporality: number;
  readonly monotonic: number;
  readonly group: ResourceScope;
  readonly kind: MetricKind;
  /** The hash of all that, to which each point adds its attributes. */
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

  constructor(builder: ExportBuilder, yielder: CooperativeYield) {
    this.#builder = builder;
    this.#yielder = yielder;
  }

  /** How many points the metric has. */
  count(bytes: Uint8Array, start: number, end: number): number {
    this.#metric.read(bytes, start, end);
    const kind = this.#kind();
    if (kind === undefined) return 0;
    this.#data.read(bytes, this.#metric.starts[kind.field]!, this.#metric.ends[kind.field]!);
    return this.#data.list(1).length;
  }

  /** A promise when the metric has so many points that others must be let in between. */
  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void | Promise<void> {
    const count = this.count(bytes, start, end);
    const kind = this.#kind();
    if (kind === undefined) return undefined;
    const { starts, ends } = this.#metric;
    if (starts[1] === ends[1]) {
      this.#builder.reject("of a metric without a name", count);
      return undefined;
    }
    return this.#addPoints({ bytes, list: this.#data.list(1), from: 0 }, this.#describe(bytes, kind, group));
  }

  /** Of a oneof the last on the wire counts. */
  #kind(): MetricKind | undefined {
    const { starts } = this.#metric;
    let last: MetricKind | undefined;
    for (const kind of kinds) if (starts[kind.field]! > (last === undefined ? 0 : starts[last.field]!)) last = kind;
    return last;
  }

  #describe(bytes: Uint8Array, kind: MetricKind, group: ResourceScope): Metric {
    const { starts, ends } = this.#metric;
    const data = this.#data;
    const sent = data.has(2) ? uint32At(bytes, data.starts[2]!) : 0;
    const temporality = sent > temporalities.cumulative ? temporalities.unspecified : sent;
    const monotonic = kind.type === metricTypes.sum && data.has(3) && boolAt(bytes, data.starts[3]!) ? 1 : 0;
    const hash = this.#hash.reset();
    hash.addBytes(group.project, 0, group.project.length).addBytes(bytes, starts[1]!, ends[1]!);
    hash.addBytes(bytes, starts[3]!, ends[3]!).add(kind.type * 16 + temporality, monotonic);
    hash.addBytes(group.resourceId, 0, 8).addBytes(group.scopeId, 0, 8).finish();
    return {
      name: validText(bytes, starts[1]!, ends[1]!),
      temporality,
      monotonic,
      group,
      kind,
      low: hash.low,
      high: hash.high,
    };
  }

  #addPoints(points: { bytes: Uint8Array; list: RangeList; from: number }, described: Metric): void | Promise<void> {
    const { bytes, list } = points;
    const { scan, writer } = this.#tools(described.kind);
    for (let index = points.from; index < list.length; index += 1) {
      scan.read(bytes, list.start(index), list.end(index));
      this.#addPoint(bytes, described, { scan, writer });
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
    const flags = scan.has(kind.flagsField) ? uint32At(bytes, scan.starts[kind.flagsField]!) & 0xff : 0;
    const problem = scan.has(3)
      ? (timeProblem(bytes, scan.starts[3]!, group) ?? writer.problem(bytes, scan, flags))
      : "without a time";
    if (problem !== undefined) {
      this.#builder.reject(problem);
      return;
    }
    const attributes = scan.list(kind.attributesField);
    const hash = this.#hash.reset().add(described.low, described.high);
    hashAttributes(hash, bytes, attributes).finish();
    if (this.#builder.isNew("series", hash)) this.#writeSeries(bytes, described, attributes);
    writer.write(bytes, scan, {
      metric: described.name,
      seriesId: hash,
      days: group.days,
      flags,
      exemplars: kind.exemplarsField === 0 ? undefined : scan.list(kind.exemplarsField),
      group,
    });
    this.#builder.accepted += 1;
  }

  #writeSeries(bytes: Uint8Array, described: Metric, attributes: RangeList): void {
    const { starts, ends } = this.#metric;
    const { group } = described;
    const block = this.#builder.block(series);
    const { columns } = block;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.metric.bytes(described.name, 0, described.name.length);
    columns.series_id.copy(this.#hash.bytes(), 0);
    columns.type.unsigned(described.kind.type);
    writeText(columns.unit, bytes, starts[3]!, ends[3]!);
    writeText(columns.description, bytes, starts[2]!, ends[2]!);
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

/** A copy of the text's bytes; what is not UTF-8 becomes U+FFFD. */
function validText(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Buffer.from(textAt(bytes, start, end), "utf8");
}
