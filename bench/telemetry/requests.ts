/**
 * OTLP requests as an SDK would send them, each with its own identities. Each is encoded once by protobufjs with
 * markers in the places of IDs, times and a word of the text, which are overwritten for every request. Ten spans form a
 * trace.
 */
import { encode } from "../../packages/server/test/otlp/oracle.ts";

export type Signal = "traces" | "logs" | "metrics";

export interface RequestSource {
  readonly signal: Signal;
  readonly recordCount: number;
  /** The bytes of a new request; valid until the next call. */
  next(): Buffer;
}

const markBytes = 8;
/** They occur nowhere else in a request. */
const mark = Buffer.from("\u0001\u0002@mark@");
const traceMark = Buffer.from("\u0001\u0002@trac@");
const parentMark = Buffer.from("\u0001\u0002@pare@");
const spansPerTrace = 10;
const timeMark = 0x0102407273744041n;

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const number = (key: string, intValue: number) => ({ key, value: { intValue } });
const resource = {
  attributes: [
    text("service.name", "support-agents"),
    text("service.version", "3.1.4"),
    text("service.instance.id", "instance-7"),
    text("deployment.environment.name", "production"),
    text("host.name", "node-12"),
    text("telemetry.sdk.language", "nodejs"),
    text("project.name", "bench"),
  ],
};
const scope = { name: "bench", version: "1.0.0" };
const models = ["gpt-4o", "llama-3.3-70b", "claude-sonnet", "mistral-large"];

function span(index: number) {
  const place = index % spansPerTrace;
  const isRoot = place === 0;
  const operation = isRoot ? "invoke_agent" : place % 3 === 0 ? "execute_tool" : "chat";
  const model = models[index % models.length]!;
  return {
    traceId: Buffer.concat([traceMark, Buffer.alloc(8, 7)]),
    spanId: mark,
    parentSpanId: isRoot ? Buffer.alloc(0) : parentMark,
    name: `${operation} ${operation === "chat" ? model : "support"}`,
    kind: operation === "chat" ? 3 : 1,
    startTimeUnixNano: timeMark.toString(),
    endTimeUnixNano: timeMark.toString(),
    attributes: [
      text("gen_ai.operation.name", operation),
      text("gen_ai.provider.name", "openai"),
      text("gen_ai.request.model", model),
      text("gen_ai.response.model", model),
      text("gen_ai.conversation.id", `session-${Math.floor(index / spansPerTrace) % 50}`),
      text("gen_ai.agent.name", `agent-${Math.floor(index / spansPerTrace) % 8}`),
      number("gen_ai.usage.input_tokens", 400 + (index % 300)),
      number("gen_ai.usage.output_tokens", 50 + (index % 100)),
      text("server.address", "api.example.com"),
      number("server.port", 443),
    ],
    status: { code: index % 20 === 0 ? 2 : 0 },
  };
}

function logRecord(index: number) {
  const severityNumber = [5, 9, 9, 9, 13, 17][index % 6]!;
  return {
    timeUnixNano: timeMark.toString(),
    severityNumber,
    severityText: { 5: "DEBUG", 9: "INFO", 13: "WARN", 17: "ERROR" }[severityNumber],
    body: {
      stringValue: `request ${mark.toString("latin1")} answered in ${index} ms by ${models[index % models.length]}`,
    },
    attributes: [text("http.route", "/chat"), number("http.response.status_code", 200), text("user.tier", "gold")],
    traceId: Buffer.alloc(16, 7),
    spanId: Buffer.alloc(8, 9),
  };
}

/** One metric with one series per point: 1 000 series that every request reports again. */
function metric(pointCount: number) {
  const dataPoints = Array.from({ length: pointCount }, (_, index) => ({
    startTimeUnixNano: "1795000000000000000",
    timeUnixNano: timeMark.toString(),
    asDouble: index * 1.5,
    attributes: [text("model", models[index % models.length]!), text("shard", `shard-${index}`)],
  }));
  return {
    name: "bench.requests",
    unit: "{request}",
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints },
  };
}

function template(signal: Signal, recordCount: number): Buffer {
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: recordCount }, (_, index) => make(index));
  switch (signal) {
    case "traces":
      return Buffer.from(
        encode("ExportTraceServiceRequest", {
          resourceSpans: [{ resource, scopeSpans: [{ scope, spans: many(span) }] }],
        }),
      );
    case "logs":
      return Buffer.from(
        encode("ExportLogsServiceRequest", {
          resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: many(logRecord) }] }],
        }),
      );
    case "metrics":
      return Buffer.from(
        encode("ExportMetricsServiceRequest", {
          resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [metric(recordCount)] }] }],
        }),
      );
  }
}

function placesOf(bytes: Buffer, pattern: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + markBytes)) places.push(at);
  return places;
}

function makeSerials(): () => bigint {
  // IDs must also differ between runs.
  let serial = BigInt(Date.now()) * 1_000_000n;
  return () => (serial += 1n);
}

/**
 * Writes IDs over the markers of spans; the spans of a trace share the trace ID and all but the first have the first as
 * parent.
 */
function writeSpanIds(bytes: Buffer, places: { traces: number[]; spans: number[]; parents: number[] }): () => void {
  const nextSerial = makeSerials();
  return () => {
    let root = 0n;
    let parent = 0;
    for (const [index, place] of places.spans.entries()) {
      const serial = nextSerial();
      if (index % spansPerTrace === 0) root = serial;
      else bytes.writeBigUInt64BE(root, places.parents[parent++]);
      bytes.writeBigUInt64BE(serial, place);
      bytes.writeBigUInt64BE(root, places.traces[index]);
    }
  };
}

/** Text may contain only printable bytes. */
function writeWords(bytes: Buffer, places: readonly number[]): () => void {
  const nextSerial = makeSerials();
  return () => {
    for (const place of places) {
      bytes.write(nextSerial().toString(36).padStart(markBytes, "0").slice(-markBytes), place, "latin1");
    }
  };
}

/** @param now the time of the records, in UNIX milliseconds */
export function createRequests(signal: Signal, recordCount: number, now: () => number = Date.now): RequestSource {
  const bytes = template(signal, recordCount);
  const timeBytes = Buffer.alloc(8);
  timeBytes.writeBigUInt64LE(timeMark);
  const times = placesOf(bytes, timeBytes);
  const writeIds =
    signal === "traces"
      ? writeSpanIds(bytes, {
          traces: placesOf(bytes, traceMark),
          spans: placesOf(bytes, mark),
          parents: placesOf(bytes, parentMark),
        })
      : writeWords(bytes, placesOf(bytes, mark));
  return {
    signal,
    recordCount,
    next() {
      writeIds();
      const unixNano = BigInt(Math.floor(now())) * 1_000_000n;
      for (const [index, place] of times.entries()) {
        // Spans end some time after they start; points of one series differ in time between requests.
        const offset = signal === "traces" && index % 2 === 1 ? 250_000_000n : BigInt(index % 1000);
        bytes.writeBigUInt64LE(unixNano + offset, place);
      }
      return bytes;
    },
  };
}
