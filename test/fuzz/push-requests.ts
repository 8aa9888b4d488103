/**
 * Requests of Loki's push API and of Prometheus' remote write in protobuf, before compression. `damage` is the probability
 * that a value breaks a rule; with 0 the server must accept the request.
 */
import { hostileString } from "./hostile-values.ts";
import { varint } from "./protobuf-messages.ts";
import { presentMs, type Random } from "./random.ts";

const bytesField = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(content.length)), content]);
const textField = (number: number, text: string): Buffer => bytesField(number, Buffer.from(text));
const varintField = (number: number, value: bigint): Buffer =>
  Buffer.concat([varint(BigInt(number * 8)), varint(value)]);
function doubleField(number: number, value: number): Buffer {
  const field = Buffer.alloc(9);
  field[0] = number * 8 + 1;
  field.writeDoubleLE(value, 1);
  return field;
}
function several(random: Random, most: number, write: () => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: 1 + random.size(most) }, write));
}
const pair = (name: string, value: string): Buffer => Buffer.concat([textField(1, name), textField(2, value)]);

const numbers = [0, 1, -1, 1.5, NaN, Infinity, -0, 5e-324, 1e308] as const;
const integers = [0n, 1n, -1n, 2n ** 31n, 2n ** 63n - 1n, -(2n ** 63n)] as const;
const labelNames = ["app", "level", "service_name", "le", "job", "instance", "quantile", "project_name"] as const;
const wrongNames = ["", "é", "a.b", "__name__", "__proto__", "constructor"] as const;
const wrongSelectors = ["{}", '{a=~"b"}', '{a="b", a="c"}', '{app="a"} |= "x"', "", "{"] as const;
const words = ["a", "b", "error", "0.5", "+Inf", "é"] as const;

const labelName = (random: Random, damage: number): string => {
  if (!random.chance(damage)) return random.pick(labelNames);
  return random.chance(0.7) ? random.pick(wrongNames) : hostileString(random, 3000);
};
/** Any text is valid. */
const text = (random: Random): string => (random.chance(0.5) ? random.pick(words) : hostileString(random, 400));

/** Names with texts; a name occurs once, unless damaged. */
function labelPairs(random: Random, most: number, damage: number): (readonly [name: string, value: string])[] {
  const pairs = Array.from({ length: 1 + random.size(most) }, () => [labelName(random, damage), text(random)] as const);
  return random.chance(damage) ? pairs : [...new Map(pairs)];
}

function timeMs(random: Random, damage: number): bigint {
  return random.chance(damage) ? random.pick(integers) : BigInt(presentMs - random.below(3_600_000));
}

function pushEntry(random: Random, damage: number): Buffer {
  const ms = timeMs(random, damage);
  const nanos = random.chance(damage) ? random.pick(integers) : (ms % 1000n) * 1_000_000n;
  const timestamp = Buffer.concat([varintField(1, ms / 1000n), varintField(2, nanos)]);
  const metadata = random.chance(0.5)
    ? labelPairs(random, 5, damage).map(([name, value]) => bytesField(3, pair(name, value)))
    : [];
  return Buffer.concat([bytesField(1, timestamp), textField(2, text(random)), ...metadata]);
}

function streamLabels(random: Random, damage: number): string {
  if (random.chance(damage)) return random.chance(0.7) ? random.pick(wrongSelectors) : hostileString(random, 400);
  const labels = labelPairs(random, 4, 0).map(([name, value]) => `${name}=${JSON.stringify(value.toWellFormed())}`);
  return `{service="fuzz", ${labels.join(", ")}}`;
}

/** https://github.com/grafana/loki/blob/main/pkg/push/push.proto */
export function pushRequest(random: Random, damage: number): Buffer {
  return several(random, 4, () => {
    const entries = several(random, 8, () => bytesField(2, pushEntry(random, damage)));
    return bytesField(1, Buffer.concat([textField(1, streamLabels(random, damage)), entries]));
  });
}

/** Spans of buckets and the changes between their counts. */
function buckets(
  random: Random,
  damage: number,
): { readonly fields: (span: number) => Buffer[]; readonly sum: number } {
  const integer = (value: bigint): bigint => (random.chance(damage) ? random.pick(integers) : value);
  const spans = Array.from({ length: 1 + random.size(3) }, () => [random.below(5), 1 + random.size(6)] as const);
  const counts = spans.flatMap(([, length]) => Array.from({ length }, () => random.below(20)));
  const changes = counts.map((count, index) => zigzag(BigInt(count - (counts[index - 1] ?? 0))));
  return {
    sum: counts.reduce((sum, count) => sum + count, 0),
    fields: (number) => [
      ...spans.map(([offset, length]) =>
        bytesField(
          number,
          Buffer.concat([varintField(1, integer(zigzag(BigInt(offset)))), varintField(2, integer(BigInt(length)))]),
        ),
      ),
      bytesField(number + 1, Buffer.concat(changes.map((change) => varint(integer(change))))),
    ],
  };
}

const zigzag = (value: bigint): bigint => (value << 1n) ^ (value >> 63n);

/** A native histogram, with exponential or with custom buckets. */
function histogram(random: Random, damage: number): Buffer {
  const isCustom = random.chance(0.2);
  const zeros = isCustom ? 0 : random.below(10);
  const [positive, negative] = [buckets(random, damage), buckets(random, damage)];
  const hasNegative = !isCustom && random.chance(0.5);
  const count = positive.sum + (hasNegative ? negative.sum : 0) + zeros;
  const schema = random.chance(damage) ? random.pick(integers) : isCustom ? -53n : BigInt(random.between(-4, 8));
  const bounds = Array.from({ length: 60 }, (_, index) => index * 1.5);
  const fields = [
    varintField(1, BigInt(count)),
    doubleField(3, random.pick(numbers)),
    varintField(4, zigzag(schema)),
    doubleField(5, random.chance(damage) ? random.pick(numbers) : 1e-128),
    varintField(6, BigInt(zeros)),
    ...(hasNegative ? negative.fields(8) : []),
    ...positive.fields(11),
    varintField(15, timeMs(random, damage)),
    ...(isCustom ? [doublesField(16, bounds)] : []),
  ];
  return Buffer.concat(fields.filter(() => !random.chance(damage)));
}

function doublesField(number: number, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, index * 8);
  // Field numbers above 15 need two bytes.
  return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

function sample(random: Random, damage: number): Buffer {
  return Buffer.concat([doubleField(1, random.pick(numbers)), varintField(2, timeMs(random, damage))]);
}

const metricName = (random: Random): string =>
  random.pick(["fuzz_written", "fuzz_written_total", "fuzz_written_bucket", "fuzz.écrit"]);

/** Remote write 1.0. https://prometheus.io/docs/specs/prw/remote_write_spec/ */
export function writeRequest(random: Random, damage: number): Buffer {
  const series = several(random, 4, () => {
    const labels = [["__name__", metricName(random)] as const, ...labelPairs(random, 5, damage)];
    const written = Buffer.concat(labels.map(([name, value]) => bytesField(1, pair(name, value))));
    const parts = [written, several(random, 6, () => bytesField(2, sample(random, damage)))];
    if (random.chance(0.2)) {
      const exemplar = [pair("trace_id", "0a".repeat(16)), pair("x", text(random))].map((each) => bytesField(1, each));
      const time = varintField(3, timeMs(random, damage));
      parts.push(bytesField(3, Buffer.concat([...exemplar, doubleField(2, 1), time])));
    }
    if (random.chance(0.3)) parts.push(bytesField(4, histogram(random, damage)));
    return bytesField(1, Buffer.concat(parts));
  });
  if (!random.chance(0.3)) return series;
  const kind = varintField(1, BigInt(random.below(8)));
  const metadata = Buffer.concat([kind, textField(2, "fuzz_written"), textField(4, text(random))]);
  return Buffer.concat([series, bytesField(3, metadata)]);
}

/** Remote write 2.0: labels refer to a table of symbols. https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/ */
export function secondWriteRequest(random: Random, damage: number): Buffer {
  const pairs = labelPairs(random, 5, damage);
  const symbols = ["", "__name__", metricName(random), "trace_id", "0a".repeat(16), ...pairs.flat()];
  const wrong = (): bigint => random.pick([BigInt(symbols.length), 2n ** 32n - 1n, 0n]);
  const reference = (index: number): bigint => (random.chance(damage) ? wrong() : BigInt(index));
  const series = several(random, 4, () => {
    const count = random.below(pairs.length + 1);
    const references = Array.from({ length: count * 2 }, (_, index) => reference(5 + index));
    if (random.chance(damage)) references.push(reference(0));
    const parts = [bytesField(1, Buffer.concat([1n, 2n, ...references].map((each) => varint(each))))];
    if (random.chance(0.6)) parts.push(several(random, 6, () => bytesField(2, sample(random, damage))));
    else parts.push(bytesField(3, histogram(random, damage)));
    if (random.chance(0.3)) {
      const kind = varintField(1, BigInt(random.below(8)));
      parts.push(bytesField(5, Buffer.concat([kind, varintField(3, reference(2))])));
    }
    if (random.chance(0.2)) {
      const labels = bytesField(1, Buffer.concat([reference(3), reference(4)].map((each) => varint(each))));
      const time = varintField(3, timeMs(random, damage));
      parts.push(bytesField(4, Buffer.concat([labels, doubleField(2, 1), time])));
    }
    if (random.chance(0.2)) parts.push(varintField(6, timeMs(random, damage)));
    return bytesField(5, Buffer.concat(parts));
  });
  return Buffer.concat([...symbols.map((symbol) => textField(4, symbol)), series]);
}
