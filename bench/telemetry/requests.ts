/**
 * OTLP requests as an SDK would send them, each with identities of its own: encoded once by protobufjs with marks in
 * the places of ids, times and a word of the text, which are written over for every request sent.
 */
import { encode } from "../../packages/server/test/otlp/oracle.ts";

export type Signal = "traces" | "logs" | "metrics";

export interface RequestSource {
  readonly signal: Signal;
  readonly recordCount: number;
  /** The bytes of a request that was never sent before; valid until the next call. */
  next(): Buffer;
}

const markBytes = 8;
/** Appears nowhere else in a request. */
const mark = Buffer.from("\u0001\u0002@mark@");
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
  return {
    traceId: Buffer.concat([mark, Buffer.alloc(8, 7)]),
    spanId: mark,
    parentSpanId: index % 4 === 0 ? Buffer.alloc(0) : Buffer.alloc(8, 9),
    name: `chat ${models[index % models.length]}`,
    kind: 3,
    startTimeUnixNano: timeMark.toString(),
    endTimeUnixNano: timeMark.toString(),
    attributes: [
      text("gen_ai.operation.name", "chat"),
      text("gen_ai.provider.name", "openai"),
      text("gen_ai.request.model", models[index % models.length]!),
      text("gen_ai.response.model", models[index % models.length]!),
      text("gen_ai.conversation.id", `session-${index % 50}`),
      text("gen_ai.agent.name", `agent-${index % 8}`),
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

/** One metric with a series for each point: 1 000 series that are told again with every request. */
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

export function createRequests(signal: Signal, recordCount: number): RequestSource {
  const bytes = template(signal, recordCount);
  const timeBytes = Buffer.alloc(8);
  timeBytes.writeBigUInt64LE(timeMark);
  const ids = placesOf(bytes, mark);
  const times = placesOf(bytes, timeBytes);
  // Ids of other runs must differ too. In a text only printable bytes may stand.
  const printable = signal === "logs";
  let serial = BigInt(Date.now()) * 1_000_000n;
  return {
    signal,
    recordCount,
    next() {
      for (const place of ids) {
        serial += 1n;
        if (printable) bytes.write(serial.toString(36).padStart(markBytes, "0").slice(-markBytes), place, "latin1");
        else bytes.writeBigUInt64BE(serial, place);
      }
      const now = BigInt(Date.now()) * 1_000_000n;
      for (const [index, place] of times.entries()) {
        // Spans end a while after they begin; points of one series differ in time from request to request.
        const offset = signal === "traces" && index % 2 === 1 ? 250_000_000n : BigInt(index % 1000);
        bytes.writeBigUInt64LE(now + offset, place);
      }
      return bytes;
    },
  };
}
