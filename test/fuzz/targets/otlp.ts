/** OpenTelemetry data: over HTTP in both encodings, over gRPC, and directly to the decoder. */
import { gzipSync } from "node:zlib";
import { ingestFixture } from "../../../packages/server/test/otlp/ingest-fixture.ts";
import { AppError } from "../../../packages/server/src/errors.ts";
import { signals, type SignalName } from "../../../packages/server/src/telemetry/otlp/signals.ts";
import { hostileString } from "../hostile-values.ts";
import { encodeBody, requestHeaders, writeMessage } from "../http-message.ts";
import { jsonText, mutateJson } from "../mutate-json.ts";
import { otlpMessage } from "../protobuf-messages.ts";
import { presentMs, type Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

const names: readonly SignalName[] = ["traces", "logs", "metrics"];
const time = `${presentMs}000000`;
const attributes = [
  { key: "service.name", value: { stringValue: "fuzz" } },
  { key: "l0", value: { arrayValue: { values: [{ intValue: "1" }] } } },
];
const point = { timeUnixNano: time, startTimeUnixNano: time, attributes };

/** A request of each signal in OTLP/JSON. */
const jsonRequests: Readonly<Record<SignalName, unknown>> = {
  traces: {
    resourceSpans: [
      {
        resource: { attributes },
        scopeSpans: [
          {
            scope: { name: "s" },
            spans: [
              {
                traceId: "ab".repeat(16),
                spanId: "cd".repeat(8),
                name: "n",
                kind: 2,
                startTimeUnixNano: time,
                endTimeUnixNano: time,
                attributes,
                events: [{ timeUnixNano: time, name: "e", attributes }],
                links: [{ traceId: "ab".repeat(16), spanId: "cd".repeat(8) }],
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  },
  logs: {
    resourceLogs: [
      {
        resource: { attributes },
        scopeLogs: [
          {
            logRecords: [
              { timeUnixNano: time, severityNumber: 9, body: { kvlistValue: { values: attributes } }, attributes },
            ],
          },
        ],
      },
    ],
  },
  metrics: {
    resourceMetrics: [
      {
        resource: { attributes },
        scopeMetrics: [
          {
            metrics: [
              { name: "fuzz_gauge", gauge: { dataPoints: [{ ...point, asInt: "7" }] } },
              {
                name: "fuzz_requests",
                sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...point, asDouble: 1.5 }] },
              },
              {
                name: "fuzz_seconds",
                histogram: {
                  aggregationTemporality: 1,
                  dataPoints: [{ ...point, count: "3", sum: 1, bucketCounts: ["1", "2"], explicitBounds: [1] }],
                },
              },
              {
                name: "fuzz_native",
                exponentialHistogram: {
                  aggregationTemporality: 2,
                  dataPoints: [{ ...point, count: "3", scale: 2, positive: { offset: 1, bucketCounts: ["1", "2"] } }],
                },
              },
            ],
          },
        ],
      },
    ],
  },
};

function jsonRequest(signal: SignalName, random: Random): Buffer {
  let value = jsonRequests[signal];
  value = mutateJson(value, random, random.size(5));
  return Buffer.from(jsonText(value, random));
}

const signalOf = (random: Random): SignalName => random.pick(names);

export const otlpHttpTarget: ServedTarget = {
  kind: "served",
  name: "otlp-http",
  perSecond: 250,
  transport: "http1",
  generate(random) {
    const signal = signalOf(random);
    const isJson = random.chance(0.4);
    const headers = requestHeaders(random, isJson ? "application/json" : "application/x-protobuf");
    const body = encodeBody(
      random,
      headers,
      isJson ? jsonRequest(signal, random) : otlpMessage(signals[signal].messages.request, random),
    );
    return writeMessage({ method: "POST", path: `/v1/${signal}`, headers, body });
  },
};

/** The input is written like an HTTP/1.1 request; its head becomes HTTP/2 headers, its body the call's bytes. */
export const otlpGrpcTarget: ServedTarget = {
  kind: "served",
  name: "otlp-grpc",
  perSecond: 300,
  transport: "http2",
  generate(random) {
    const signal = signals[signalOf(random)];
    const headers: [string, string][] = [
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ["authorization", "Bearer {key}"],
    ];
    if (random.chance(0.05)) headers.push(["grpc-timeout", random.pick(["1n", "5S", "99999999H", "x", "1"])]);
    const isZipped = random.chance(0.2);
    if (isZipped || random.chance(0.02)) headers.push(["grpc-encoding", random.chance(0.95) ? "gzip" : "snappy"]);
    const message = otlpMessage(signal.messages.request, random);
    const content = isZipped ? gzipSync(message) : message;
    const prefix = Buffer.alloc(5);
    prefix[0] = random.chance(0.97) ? Number(isZipped) : random.below(256);
    prefix.writeUInt32BE(
      random.chance(0.95) ? content.length : random.pick([0, 1, 0xffff_ffff, content.length + 1]),
      1,
    );
    const path = random.chance(0.98)
      ? `/${signal.service}/Export`
      : `/${encodeURIComponent(hostileString(random, 100).toWellFormed())}`;
    return writeMessage({
      method: "POST",
      path,
      headers,
      body: Buffer.concat([prefix, content, random.chance(0.02) ? random.bytes(9) : Buffer.alloc(0)]),
    });
  },
};

/** First byte: the signal and the encoding. */
export const otlpDecoderTarget: DirectTarget = {
  kind: "direct",
  name: "otlp-decoder",
  perSecond: 350,
  share: 2,
  generate(random) {
    const signal = random.below(3);
    const isJson = random.chance(0.3);
    const body = isJson
      ? jsonRequest(names[signal]!, random)
      : otlpMessage(signals[names[signal]!].messages.request, random);
    return Buffer.concat([Buffer.from([signal + (isJson ? 3 : 0)]), body]);
  },
  async run(input) {
    const kind = (input[0] ?? 0) % 6;
    const { send, store } = ingestFixture();
    try {
      const { rejected } = await send(names[kind % 3]!, input.slice(1), kind < 3 ? "protobuf" : "json");
      for (const { table } of store.batches) store.rows(table);
      return rejected === 0 ? "accepted" : "partial";
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return String(error.status);
      throw error;
    }
  },
};
