/** Native histograms of a remote write request; the message is the same in both versions. */
import { MessageScan, type RangeList } from "../../protobuf/message-scan.ts";
import { message } from "../../protobuf/message-type.ts";
import { sint32At, uint64At } from "../../protobuf/numbers.ts";
import {
  doubleOf,
  doublesOf,
  messagesOf,
  numberOf,
  numbersOf,
  rangesOf,
  type ReadValues,
} from "../../protobuf/scan-fields.ts";
import { isStaleAt, type WrittenTime } from "./written-time.ts";

/** Buckets from the first to the last; spans can leave out any number. */
export const maximumBuckets = 16_384;
/** One more is read, so that histograms beyond the limit are recognized without reading all of them. */
const readBuckets = maximumBuckets + 1;

/** Counts of adjacent buckets from `index` on: bucket i holds values up to base^i. */
export interface WrittenBuckets {
  readonly spans: readonly { readonly offset: number; readonly length: number }[];
  readonly counts: readonly number[];
}

export interface WrittenHistogram extends WrittenTime {
  readonly count: number;
  readonly sum: number;
  /** -53: the bounds are `customBounds`. */
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly positive: WrittenBuckets;
  readonly negative: WrittenBuckets;
  readonly customBounds: readonly number[];
}

const span = message("BucketSpan", { offset: [1, "sint32"], length: [2, "uint32"] });
export const histogram = message("Histogram", {
  countInt: [1, "uint64"],
  countFloat: [2, "double"],
  sum: [3, "double"],
  schema: [4, "sint32"],
  zeroThreshold: [5, "double"],
  zeroCountInt: [6, "uint64"],
  zeroCountFloat: [7, "double"],
  negativeSpans: [8, span, "repeated"],
  negativeDeltas: [9, "int64", "repeated"],
  negativeCounts: [10, "double", "repeated"],
  positiveSpans: [11, span, "repeated"],
  positiveDeltas: [12, "int64", "repeated"],
  positiveCounts: [13, "double", "repeated"],
  timestamp: [15, "int64"],
  customValues: [16, "double", "repeated"],
  startTimestamp: [17, "int64"],
});

/** Of spans, counts and bounds, at most one more than `maximumBuckets` is read. */
export function histogramsIn(bytes: Buffer, list: RangeList, createdMs: number): ReadValues<WrittenHistogram> {
  const scan = new MessageScan(histogram);
  const { fields } = histogram;
  const countOf = (integer: number, float: number): number =>
    scan.has(float) ? doubleOf(scan, float) : scan.has(integer) ? Number(uint64At(bytes, scan.starts[integer]!)) : 0;
  const bucketsOf = (spans: number, deltas: number, counts: number): WrittenBuckets => {
    const absolute = doublesOf(bytes, scan.list(counts), readBuckets);
    const changes = numbersOf(bytes, scan.list(deltas), { limit: readBuckets, read: (at) => zigzagAt(bytes, at) });
    let running = 0;
    return {
      spans: spansIn(bytes, scan.list(spans)),
      counts: absolute.length > 0 ? absolute : changes.map((change) => (running += change)),
    };
  };
  return messagesOf(list, (start, end) => {
    scan.read(bytes, start, end);
    const startMs = numberOf(scan, fields.startTimestamp);
    return {
      timeMs: numberOf(scan, fields.timestamp),
      isStale: isStaleAt(bytes, scan.starts[fields.sum]!),
      startMs: startMs === 0 ? createdMs : startMs,
      count: countOf(fields.countInt, fields.countFloat),
      sum: doubleOf(scan, fields.sum),
      schema: scan.has(fields.schema) ? sint32At(bytes, scan.starts[fields.schema]!) : 0,
      zeroThreshold: doubleOf(scan, fields.zeroThreshold),
      zeroCount: countOf(fields.zeroCountInt, fields.zeroCountFloat),
      positive: bucketsOf(fields.positiveSpans, fields.positiveDeltas, fields.positiveCounts),
      negative: bucketsOf(fields.negativeSpans, fields.negativeDeltas, fields.negativeCounts),
      customBounds: doublesOf(bytes, scan.list(fields.customValues), readBuckets),
    };
  });
}

function spansIn(bytes: Buffer, list: RangeList): WrittenBuckets["spans"] {
  const scan = new MessageScan(span);
  const { length, offset } = span.fields;
  const spans: WrittenBuckets["spans"][number][] = [];
  for (const [start, end] of rangesOf(list)) {
    if (spans.length === readBuckets) break;
    scan.read(bytes, start, end);
    const at = scan.starts[offset]!;
    spans.push({ offset: at === 0 ? 0 : sint32At(bytes, at), length: numberOf(scan, length) });
  }
  return spans;
}

/** A sint64 as a number. */
function zigzagAt(bytes: Buffer, at: number): number {
  const value = uint64At(bytes, at);
  return Number((value >> 1n) ^ -(value & 1n));
}
