/** Writes data points, with one writer for each kind of metric. */
import { distributionPoints, points } from "../../store/metric-tables.ts";
import type { ArrayColumn, FixedColumn } from "../../store/column-writers.ts";
import { ExemplarWriter } from "./exemplars.ts";
import { noRecordedValue, numberOf, type PointContext } from "./point-context.ts";
import { copyOf } from "./message-fields.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { metricParts } from "../../protobuf/otlp-messages.ts";
import { MessageScan, type RangeList, varintEnd } from "../../protobuf/message-scan.ts";
import { doubleAt, fixed64At, sint32At, uint64At } from "../../protobuf/numbers.ts";

export interface PointWriter {
  /** Why the point cannot be stored, as the end of "1 data point …". */
  problem(bytes: Uint8Array, point: MessageScan, flags: number): string | undefined;
  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void;
}

const numberField = metricParts.numberPoint.fields;
const histogramField = metricParts.histogramPoint.fields;
const exponentialField = metricParts.exponentialPoint.fields;
const bucketField = metricParts.buckets.fields;
const summaryField = metricParts.summaryPoint.fields;
const quantileField = metricParts.valueAtQuantile.fields;
/** The same in every kind of point. */
const { startTimeUnixNano, timeUnixNano } = numberField;

const largestTime = 0x8000_0000;
/** https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#exponential-histograms */
const lowestScale = -4;

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

/** The columns that all points have. */
function writeHead(
  columns: HeadColumns,
  source: { readonly bytes: Uint8Array; readonly point: MessageScan; readonly builder: ExportBuilder },
  context: PointContext,
): void {
  const { bytes, point, builder } = source;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.metric.bytes(context.metric, 0, context.metric.length);
  columns.series_id.copy(context.seriesId.bytes(), 0);
  const startAt = point.starts[startTimeUnixNano]!;
  // The store cannot represent times after 2262; such a start counts as unknown.
  if (startAt !== 0 && bytes[startAt + 7]! * 0x100_0000 < largestTime) columns.start_time.copy(bytes, startAt);
  columns.time.copy(bytes, point.starts[timeUnixNano]!);
  columns.flags.unsigned(context.flags);
  columns.days.unsigned(context.days);
}

/** Writes a double; NaN for an absent one. */
function writeDoubleOf(column: FixedColumn, point: MessageScan, field: number): void {
  const at = point.starts[field]!;
  if (at === 0) column.float(Number.NaN);
  else column.copy(point.bytes, at);
}

function writeSignedOf(column: FixedColumn, scan: MessageScan, field: number): void {
  const at = scan.starts[field]!;
  if (at !== 0) column.signed(sint32At(scan.bytes, at));
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

function sumVarints(bytes: Uint8Array, list: RangeList): number {
  let sum = 0;
  for (let index = 0; index < list.length; index += 1) {
    const end = list.end(index);
    for (let at = list.start(index); at < end; at = varintEnd(bytes, at, end)) sum += Number(uint64At(bytes, at));
  }
  return sum;
}

/** @param at 0: the field is absent */
function fixedOf(bytes: Uint8Array, at: number): number {
  return at === 0 ? 0 : fixed64At(bytes, at);
}

/** How many numbers of eight bytes the list has; NaN if one is truncated. */
function countFixed(list: RangeList): number {
  let bytes = 0;
  for (let index = 0; index < list.length; index += 1) {
    const length = list.end(index) - list.start(index);
    if (length % 8 !== 0) return Number.NaN;
    bytes += length;
  }
  return bytes / 8;
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
    const hasValue = point.has(numberField.asDouble) || point.has(numberField.asInt);
    return hasValue || (flags & noRecordedValue) !== 0 ? undefined : "without a value";
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = pointBlock(this.#builder);
    const { columns } = block;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    const isAbsent = (context.flags & noRecordedValue) !== 0;
    columns.value.float(isAbsent ? Number.NaN : numberOf(bytes, point, numberField));
    block.endRow();
    this.#exemplars.write(bytes, point.starts[numberField.timeUnixNano]!, context);
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
    const counts = countFixed(point.list(histogramField.bucketCounts));
    const bounds = countFixed(point.list(histogramField.explicitBounds));
    if (Number.isNaN(counts) || Number.isNaN(bounds)) return "with truncated buckets";
    if (counts !== bounds + 1 && !(counts === 0 && bounds === 0)) {
      return "whose number of bucket counts is not the number of bounds plus one";
    }
    return isIncreasing(bytes, point.list(histogramField.explicitBounds)) ? undefined : "whose bounds do not increase";
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = distributionBlock(this.#builder);
    const { columns } = block;
    const { starts } = point;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    copyOf(columns.count, point, histogramField.count);
    writeDoubleOf(columns.sum, point, histogramField.sum);
    writeDoubleOf(columns.min, point, histogramField.min);
    writeDoubleOf(columns.max, point, histogramField.max);
    writeFixedList(columns.bounds, bytes, point.list(histogramField.explicitBounds));
    writeFixedList(columns.counts, bytes, point.list(histogramField.bucketCounts));
    block.endRow();
    this.#exemplars.write(bytes, starts[histogramField.timeUnixNano]!, context);
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

  problem(bytes: Uint8Array, point: MessageScan): string | undefined {
    const { starts } = point;
    const scaleAt = starts[exponentialField.scale]!;
    const scale = scaleAt === 0 ? 0 : sint32At(bytes, scaleAt);
    if (scale < lowestScale) return `whose scale is below ${lowestScale}, the lowest of native histograms`;
    const count = fixedOf(bytes, starts[exponentialField.count]!);
    const inBuckets =
      fixedOf(bytes, starts[exponentialField.zeroCount]!) +
      this.#countIn(bytes, point, exponentialField.positive) +
      this.#countIn(bytes, point, exponentialField.negative);
    const sumAt = starts[exponentialField.sum]!;
    if (!Number.isSafeInteger(inBuckets)) return undefined;
    // Observations of NaN are in no bucket.
    const isCounted = sumAt !== 0 && Number.isNaN(doubleAt(bytes, sumAt)) ? inBuckets <= count : inBuckets === count;
    return isCounted ? undefined : "whose count is not that of its buckets";
  }

  #countIn(bytes: Uint8Array, { starts, ends }: MessageScan, side: number): number {
    if (starts[side] === 0) return 0;
    this.#buckets.read(bytes, starts[side]!, ends[side]!);
    return sumVarints(bytes, this.#buckets.list(bucketField.bucketCounts));
  }

  write(bytes: Uint8Array, point: MessageScan, context: PointContext): void {
    const block = distributionBlock(this.#builder);
    const { columns } = block;
    const { starts, ends } = point;
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    copyOf(columns.count, point, exponentialField.count);
    writeDoubleOf(columns.sum, point, exponentialField.sum);
    writeDoubleOf(columns.min, point, exponentialField.min);
    writeDoubleOf(columns.max, point, exponentialField.max);
    writeSignedOf(columns.scale, point, exponentialField.scale);
    copyOf(columns.zero_count, point, exponentialField.zeroCount);
    copyOf(columns.zero_threshold, point, exponentialField.zeroThreshold);
    const buckets = this.#buckets;
    if (starts[exponentialField.positive] !== 0) {
      buckets.read(bytes, starts[exponentialField.positive]!, ends[exponentialField.positive]!);
      writeSignedOf(columns.positive_offset, buckets, bucketField.offset);
      writeVarintList(columns.positive_counts, bytes, buckets.list(bucketField.bucketCounts));
    }
    if (starts[exponentialField.negative] !== 0) {
      buckets.read(bytes, starts[exponentialField.negative]!, ends[exponentialField.negative]!);
      writeSignedOf(columns.negative_offset, buckets, bucketField.offset);
      writeVarintList(columns.negative_counts, bytes, buckets.list(bucketField.bucketCounts));
    }
    block.endRow();
    this.#exemplars.write(bytes, starts[exponentialField.timeUnixNano]!, context);
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
    writeHead(columns, { bytes, point, builder: this.#builder }, context);
    copyOf(columns.count, point, summaryField.count);
    copyOf(columns.sum, point, summaryField.sum);
    columns.min.float(Number.NaN);
    columns.max.float(Number.NaN);
    const quantiles = point.list(summaryField.quantileValues);
    for (let index = 0; index < quantiles.length; index += 1) {
      const scan = this.#quantile;
      scan.read(bytes, quantiles.start(index), quantiles.end(index));
      copyOf(columns.quantiles.items, scan, quantileField.quantile);
      copyOf(columns.quantile_values.items, scan, quantileField.value);
    }
    columns.quantiles.end();
    columns.quantile_values.end();
    block.endRow();
  }
}
