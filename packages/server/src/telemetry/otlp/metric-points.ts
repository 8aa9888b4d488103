/** Writers of data points, one for each kind of metric, and of the exemplars that they carry. */
import { distributionPoints, exemplars, points } from "../../store/metric-tables.ts";
import type { ArrayColumn, FixedColumn } from "../../store/column-writers.ts";
import { AttributeWriter } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import type { Hash64 } from "./hash64.ts";
import { writeIdOrNothing } from "./ids.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { metricParts } from "./messages.ts";
import { MessageScan, type RangeList, varintEnd } from "./message-scan.ts";
import { doubleAt, sfixed64At, sint32At, uint64At } from "./numbers.ts";
import { timeProblem } from "./time-check.ts";

/** What a point's row takes from its metric. */
export interface PointContext {
  readonly metric: Uint8Array;
  readonly seriesId: Hash64;
  readonly days: number;
  readonly flags: number;
  readonly exemplars: RangeList | undefined;
  readonly group: ResourceScope;
}

export interface PointWriter {
  /** What is wrong with the point, as the end of "1 data point …". */
  problem(bytes: Uint8Array, point: MessageScan, flags: number): string | undefined;
  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void;
}

/** DataPointFlags: the point says that there is no value. */
const noRecordedValue = 1;
const largestTime = 0x8000_0000;

function pointBlock(builder: ExportBuilder) {
  return builder.block(points);
}

function distributionBlock(builder: ExportBuilder) {
  return builder.block(distributionPoints);
}

type HeadColumns = Pick<
  ReturnType<typeof pointBlock>["columns"],
  "organization" | "metric" | "series_id" | "start_time" | "time" | "flags" | "days"
>;

/** The columns that all points have; start time and time are fields 2 and 3 of every kind. */
function writeHead(
  columns: HeadColumns,
  source: { readonly bytes: Uint8Array; readonly point: MessageScan; readonly builder: ExportBuilder },
  context: PointContext,
): void {
  const { bytes, point, builder } = source;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.metric.bytes(context.metric, 0, context.metric.length);
  columns.series_id.copy(context.seriesId.bytes(), 0);
  const startAt = point.starts[2]!;
  // A start beyond the year 2262 is no time that the store can hold: unknown.
  if (startAt !== 0 && bytes[startAt + 7]! * 0x100_0000 < largestTime) columns.start_time.copy(bytes, startAt);
  columns.time.copy(bytes, point.starts[3]!);
  columns.flags.unsigned(context.flags);
  columns.days.unsigned(context.days);
}

function writeDouble(column: FixedColumn, bytes: Uint8Array, at: number): void {
  if (at === 0) column.float(Number.NaN);
  else column.copy(bytes, at);
}

/** Numbers of eight bytes each, packed or not. */
function writeFixedList(column: ArrayColumn<FixedColumn>, bytes: Uint8Array, list: RangeList): void {
  for (let index = 0; index < list.length; index += 1) {
    for (let at = list.start(index); at < list.end(index); at += 8) column.items.copy(bytes, at);
  }
  column.end();
}

function writeVarintList(column: ArrayColumn<FixedColumn>, bytes: Uint8Array, list: RangeList): void {
  for (let index = 0; index < list.length; index += 1) {
    const end = list.end(index);
    for (let at = list.start(index); at < end; at = varintEnd(bytes, at, end)) column.items.bigint(uint64At(bytes, at));
  }
  column.end();
}

/** How many numbers of eight bytes the list holds; NaN when one is cut off. */
function countFixed(list: RangeList): number {
  let bytes = 0;
  for (let index = 0; index < list.length; index += 1) {
    const length = list.end(index) - list.start(index);
    if (length % 8 !== 0) return Number.NaN;
    bytes += length;
  }
  return bytes / 8;
}

/** Exemplars: a value, its time, and the span that it was measured in. */
class ExemplarWriter {
  readonly #builder: ExportBuilder;
  readonly #scan = new MessageScan(metricParts.exemplar);
  readonly #writer = new AttributeWriter();

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  /** @param pointTimeAt where the point's time stands, for exemplars whose own is not usable */
  write(bytes: Uint8Array, pointTimeAt: number, context: PointContext): void {
    const list = context.exemplars;
    if (list === undefined) return;
    for (let index = 0; index < list.length; index += 1) {
      const scan = this.#scan;
      scan.read(bytes, list.start(index), list.end(index));
      const { starts, ends } = scan;
      if (!scan.has(3) && !scan.has(6)) continue;
      const block = this.#builder.block(exemplars);
      const { columns } = block;
      columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
      columns.metric.bytes(context.metric, 0, context.metric.length);
      columns.series_id.copy(context.seriesId.bytes(), 0);
      const hasTime = scan.has(2) && timeProblem(bytes, starts[2]!, context.group) === undefined;
      columns.time.copy(bytes, hasTime ? starts[2]! : pointTimeAt);
      columns.value.float(numberOf(bytes, scan, { double: 3, integer: 6 }));
      writeIdOrNothing(columns.trace_id, bytes, { start: starts[5]!, end: ends[5]!, size: 16 });
      writeIdOrNothing(columns.span_id, bytes, { start: starts[4]!, end: ends[4]!, size: 8 });
      this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, bytes, scan.list(7));
      columns.days.unsigned(context.days);
      block.endRow();
    }
  }
}

/** The value of the oneof of a double and an integer: the last on the wire. */
function numberOf(bytes: Uint8Array, scan: MessageScan, fields: { double: number; integer: number }): number {
  const doubleStart = scan.starts[fields.double]!;
  const integerStart = scan.starts[fields.integer]!;
  return doubleStart > integerStart ? doubleAt(bytes, doubleStart) : sfixed64At(bytes, integerStart);
}

/** Gauges and sums. */
export class NumberWriter implements PointWriter {
  readonly #builder: ExportBuilder;
  readonly #exemplars: ExemplarWriter;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#exemplars = new ExemplarWriter(builder);
  }

  problem(_bytes: Uint8Array, point: MessageScan, flags: number): string | undefined {
    if ((flags & noRecordedValue) !== 0 || point.has(4) || point.has(6)) return undefined;
    return "without a value";
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = pointBlock(this.#builder);
    const { columns } = block;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    const isAbsent = (context.flags & noRecordedValue) !== 0;
    columns.value.float(isAbsent ? Number.NaN : numberOf(bytes, point, { double: 4, integer: 6 }));
    block.endRow();
    this.#exemplars.write(bytes, point.starts[3]!, context);
  }
}

export class HistogramWriter implements PointWriter {
  readonly #builder: ExportBuilder;
  readonly #exemplars: ExemplarWriter;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#exemplars = new ExemplarWriter(builder);
  }

  problem(bytes: Uint8Array, point: MessageScan): string | undefined {
    const counts = countFixed(point.list(6));
    const bounds = countFixed(point.list(7));
    if (Number.isNaN(counts) || Number.isNaN(bounds)) return "with buckets that are cut off";
    if (counts !== bounds + 1 && !(counts === 0 && bounds === 0)) {
      return "with another number of bucket counts than of bounds and one";
    }
    return isIncreasing(bytes, point.list(7)) ? undefined : "with bounds that do not increase";
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = distributionBlock(this.#builder);
    const { columns } = block;
    const { starts } = point;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    if (starts[4] !== 0) columns.count.copy(bytes, starts[4]!);
    writeDouble(columns.sum, bytes, starts[5]!);
    writeDouble(columns.min, bytes, starts[11]!);
    writeDouble(columns.max, bytes, starts[12]!);
    writeFixedList(columns.bounds, bytes, point.list(7));
    writeFixedList(columns.counts, bytes, point.list(6));
    block.endRow();
    this.#exemplars.write(bytes, starts[3]!, context);
  }
}

function isIncreasing(bytes: Uint8Array, list: RangeList): boolean {
  let last = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  for (let index = 0; index < list.length; index += 1) {
    for (let at = list.start(index); at < list.end(index); at += 8) {
      const bound = doubleAt(bytes, at);
      if (Number.isNaN(bound) || (bound <= last && !isFirst)) return false;
      last = bound;
      isFirst = false;
    }
  }
  return true;
}

export class ExponentialWriter implements PointWriter {
  readonly #builder: ExportBuilder;
  readonly #exemplars: ExemplarWriter;
  readonly #buckets = new MessageScan(metricParts.buckets);

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#exemplars = new ExemplarWriter(builder);
  }

  problem(): string | undefined {
    return undefined;
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = distributionBlock(this.#builder);
    const { columns } = block;
    const { starts, ends } = point;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    if (starts[4] !== 0) columns.count.copy(bytes, starts[4]!);
    writeDouble(columns.sum, bytes, starts[5]!);
    writeDouble(columns.min, bytes, starts[12]!);
    writeDouble(columns.max, bytes, starts[13]!);
    if (starts[6] !== 0) columns.scale.signed(sint32At(bytes, starts[6]!));
    if (starts[7] !== 0) columns.zero_count.copy(bytes, starts[7]!);
    if (starts[14] !== 0) columns.zero_threshold.copy(bytes, starts[14]!);
    const buckets = this.#buckets;
    if (starts[8] !== 0) {
      buckets.read(bytes, starts[8]!, ends[8]!);
      if (buckets.has(1)) columns.positive_offset.signed(sint32At(bytes, buckets.starts[1]!));
      writeVarintList(columns.positive_counts, bytes, buckets.list(2));
    }
    if (starts[9] !== 0) {
      buckets.read(bytes, starts[9]!, ends[9]!);
      if (buckets.has(1)) columns.negative_offset.signed(sint32At(bytes, buckets.starts[1]!));
      writeVarintList(columns.negative_counts, bytes, buckets.list(2));
    }
    block.endRow();
    this.#exemplars.write(bytes, starts[3]!, context);
  }
}

export class SummaryWriter implements PointWriter {
  readonly #builder: ExportBuilder;
  readonly #quantile = new MessageScan(metricParts.valueAtQuantile);

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  problem(): string | undefined {
    return undefined;
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = distributionBlock(this.#builder);
    const { columns } = block;
    const { starts } = point;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    if (starts[4] !== 0) columns.count.copy(bytes, starts[4]!);
    if (starts[5] !== 0) columns.sum.copy(bytes, starts[5]!);
    columns.min.float(Number.NaN);
    columns.max.float(Number.NaN);
    const quantiles = point.list(6);
    for (let index = 0; index < quantiles.length; index += 1) {
      const scan = this.#quantile;
      scan.read(bytes, quantiles.start(index), quantiles.end(index));
      columns.quantiles.items.float(scan.has(1) ? doubleAt(bytes, scan.starts[1]!) : 0);
      columns.quantile_values.items.float(scan.has(2) ? doubleAt(bytes, scan.starts[2]!) : 0);
    }
    columns.quantiles.end();
    columns.quantile_values.end();
    block.endRow();
  }
}
