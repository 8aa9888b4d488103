/**
 * OTLP requests with the planned traces, the same ones for the same number of spans. A few dozen requests are encoded once by
 * protobufjs, with markers in the places of IDs, times and users, which are overwritten for each request.
 */
import { encode } from "../../packages/server/test/otlp/oracle.ts";
import { planTrace, userMark, type PlannedAttribute, type PlannedSpan } from "./planned-traces.ts";

const spansPerRequest = 2000;
const commonTemplates = 32;
/** Of so many requests, one has a rare trace. */
const requestsPerRareTrace = 600;
const dayNanos = 86_400_000_000_000n;

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return mixed(state) / 2 ** 32;
  };
}

/** Spreads an integer over 32 bits; different ones stay different. */
function mixed(value: number): number {
  let hash = value >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Eight bytes that start with these and end with an index occur nowhere else in a request. */
const marks = {
  trace: "\u0001\u0002@T",
  span: "\u0001\u0002@S",
  parent: "\u0001\u0002@P",
  start: "\u0001\u0002@B",
  end: "\u0001\u0002@E",
} as const;
type Mark = keyof typeof marks;

function marked(mark: Mark, index: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.write(marks[mark], "latin1");
  bytes.writeUInt32LE(index, 4);
  return bytes;
}

function markedTime(mark: Mark, index: number): string {
  return marked(mark, index).readBigUInt64LE().toString();
}

interface TemplateSpan extends PlannedSpan {
  readonly trace: number;
  /** The index of the first span of its trace. */
  readonly first: number;
}

/** Where a mark is, and the index of the span. */
type Place = readonly [at: number, span: number];

interface Template {
  readonly bytes: Buffer;
  readonly spans: readonly TemplateSpan[];
  readonly traceCount: number;
  readonly places: Readonly<Record<Mark, readonly Place[]>>;
  readonly users: readonly Place[];
}

function placesOf(bytes: Buffer, pattern: string, indexAt: (at: number) => number): Place[] {
  const places: Place[] = [];
  for (let at = bytes.indexOf(pattern, 0, "latin1"); at !== -1; at = bytes.indexOf(pattern, at + 8, "latin1")) {
    places.push([at, indexAt(at + 4)]);
  }
  return places;
}

function keyValue([key, value]: PlannedAttribute, span: number): object {
  if (typeof value === "number") return { key, value: { intValue: value } };
  return { key, value: { stringValue: value === userMark ? userMark + span.toString(36).padStart(4, "0") : value } };
}

function otlpSpan(span: TemplateSpan, index: number): object {
  const exception = {
    timeUnixNano: markedTime("end", index),
    name: "exception",
    attributes: [
      keyValue(["exception.type", "TimeoutError"], index),
      keyValue(["exception.message", "no answer"], index),
    ],
  };
  return {
    traceId: Buffer.concat([marked("trace", index), Buffer.alloc(8)]),
    spanId: marked("span", index),
    parentSpanId: span.parent === -1 ? Buffer.alloc(0) : marked("parent", index),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: markedTime("start", index),
    endTimeUnixNano: markedTime("end", index),
    attributes: span.attributes.map((each) => keyValue(each, index)),
    events: span.hasFailed ? [exception] : [],
    status: { code: span.hasFailed ? 2 : 0 },
  };
}

function resourceOf({ pod, service }: PlannedSpan): object {
  const attributes: PlannedAttribute[] = [
    ["service.name", service],
    ["service.version", "3.1.4"],
    ["service.instance.id", `${service}-${pod}`],
    ["k8s.pod.name", `${service}-${pod}`],
    ["k8s.namespace.name", "shop"],
    ["deployment.environment.name", "production"],
  ];
  return { attributes: attributes.map((each) => keyValue(each, 0)) };
}

function createTemplate(seed: number, isRare: boolean): Template {
  const random = randomNumbers(seed);
  const spans: TemplateSpan[] = [];
  let traceCount = 0;
  while (spans.length < spansPerRequest) {
    const first = spans.length;
    const trace = traceCount++;
    const planned = planTrace({ random, isRare: isRare && trace === 0, depth: trace === 1 ? 40 : 0 });
    spans.push(...planned.map((span) => ({ ...span, trace, first })));
  }
  // Every request has the same number, so that a request's times follow from its number.
  const kept = spans.slice(0, spansPerRequest);
  const byResource = Map.groupBy(kept.entries(), ([, { pod, service }]) => `${service} ${pod}`);
  const resourceSpans = [...byResource.values()].map((group) => ({
    resource: resourceOf(group[0]![1]),
    scopeSpans: [
      { scope: { name: "shop", version: "1.0.0" }, spans: group.map(([index, span]) => otlpSpan(span, index)) },
    ],
  }));
  const bytes = Buffer.from(encode("ExportTraceServiceRequest", { resourceSpans }));
  const placesOfMark = (mark: Mark): Place[] => placesOf(bytes, marks[mark], (at) => bytes.readUInt32LE(at));
  return {
    bytes,
    spans: kept,
    traceCount,
    places: {
      trace: placesOfMark("trace"),
      span: placesOfMark("span"),
      parent: placesOfMark("parent"),
      start: placesOfMark("start"),
      end: placesOfMark("end"),
    },
    users: placesOf(bytes, userMark, (at) => Number.parseInt(bytes.toString("latin1", at, at + 4), 36)),
  };
}

/** Spans, traces and users of a request have numbers of their own. */
const numbersPerRequest = 4096;

function writeId(bytes: Buffer, at: number, id: number, words: number): void {
  for (let word = 0; word < words; word++) bytes.writeUInt32BE(mixed(mixed(id) + word * 0x9e37_79b9), at + word * 4);
}

const traceIds = 1 << 30;

function traceNumber(request: number, trace: number): number {
  return (request * numbersPerRequest + trace + traceIds) >>> 0;
}

/** Of a trace of a request, as hex digits. */
export function traceIdOf(request: number, trace: number): string {
  const bytes = Buffer.alloc(16);
  writeId(bytes, 0, traceNumber(request, trace), 4);
  return bytes.toString("hex");
}

const userCount = 46_656;

/** The user of a trace, in eight characters. */
export function userOf(request: number, trace: number): string {
  return `u${(mixed(traceNumber(request, trace)) % userCount).toString(36).padStart(7, "0")}`;
}

export interface SpanRequests {
  readonly count: number;
  readonly spansPerRequest: number;
  /** The bytes of a request of its own. */
  request(index: number): Buffer;
}

/** @param endNanos when the newest traces start; the others are spread evenly over the day before */
export function createSpanRequests(spanCount: number, endNanos: bigint): SpanRequests {
  const count = Math.ceil(spanCount / spansPerRequest);
  const common = Array.from({ length: commonTemplates }, (_, index) => createTemplate(index + 1, false));
  const rare = createTemplate(1000, true);
  const slotNanos = dayNanos / BigInt(count);
  return {
    count,
    spansPerRequest,
    request(index) {
      const isRare = index % requestsPerRareTrace === Math.floor(requestsPerRareTrace / 2);
      const { places, spans, traceCount, users, ...template } = isRare ? rare : common[index % commonTemplates]!;
      const bytes = Buffer.from(template.bytes);
      const firstNanos = endNanos - dayNanos + slotNanos * BigInt(index);
      const startOf = ({ offsetMicros, trace }: TemplateSpan): bigint =>
        firstNanos + (slotNanos * BigInt(trace)) / BigInt(traceCount) + BigInt(offsetMicros) * 1000n;
      const spanNumber = (span: number): number => index * numbersPerRequest + span;
      for (const [at, span] of places.trace) writeId(bytes, at, traceNumber(index, spans[span]!.trace), 4);
      for (const [at, span] of places.span) writeId(bytes, at, spanNumber(span), 2);
      for (const [at, span] of places.parent) {
        const { first, parent } = spans[span]!;
        writeId(bytes, at, spanNumber(first + parent), 2);
      }
      for (const [at, span] of places.start) bytes.writeBigUInt64LE(startOf(spans[span]!), at);
      for (const [at, span] of places.end) {
        bytes.writeBigUInt64LE(startOf(spans[span]!) + BigInt(spans[span]!.durationMicros) * 1000n, at);
      }
      for (const [at, span] of users) bytes.write(userOf(index, spans[span]!.trace), at, "latin1");
      return bytes;
    },
  };
}
