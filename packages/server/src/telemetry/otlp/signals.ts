/** Defines OTLP's three signals: their messages, names and decoders. */
import type { ResourceScope } from "./resource-scopes.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { LogDecoder } from "./logs.ts";
import type { MessageType } from "../../protobuf/message-type.ts";
import { logExport, metricExport, traceExport } from "../../protobuf/otlp-messages.ts";
import { MetricDecoder } from "./metrics.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { SpanDecoder } from "./spans.ts";

/** Decodes the records of one request into rows. */
export interface RecordDecoder {
  /** Reads the request before its records are added. */
  prepare?(bytes: Uint8Array, yielder: CooperativeYield): Promise<void>;
  /** Adds or rejects the record's items. Returns a promise if decoding has to yield. */
  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void | Promise<void>;
  /** The number of items in the record, to count rejected ones. */
  count(bytes: Uint8Array, start: number, end: number): number;
}

export type SignalName = "traces" | "logs" | "metrics";

export interface Signal {
  readonly name: SignalName;
  readonly messages: {
    readonly request: MessageType;
    readonly resourceGroup: MessageType;
    readonly scopeGroup: MessageType;
    readonly record: MessageType;
  };
  /** What is counted, in the plural. */
  readonly items: string;
  /** JSON name of the count in a partial success. */
  readonly rejectedField: string;
  /** The service of OTLP/gRPC. */
  readonly service: string;
  readonly makeDecoder: (builder: ExportBuilder, yielder: CooperativeYield) => RecordDecoder;
}

export const traceSignal: Signal = {
  name: "traces",
  messages: traceExport,
  items: "spans",
  rejectedField: "rejectedSpans",
  service: "opentelemetry.proto.collector.trace.v1.TraceService",
  makeDecoder: (builder) => new SpanDecoder(builder),
};

export const logSignal: Signal = {
  name: "logs",
  messages: logExport,
  items: "log records",
  rejectedField: "rejectedLogRecords",
  service: "opentelemetry.proto.collector.logs.v1.LogsService",
  makeDecoder: (builder) => new LogDecoder(builder),
};

export const metricSignal: Signal = {
  name: "metrics",
  messages: metricExport,
  items: "data points",
  rejectedField: "rejectedDataPoints",
  service: "opentelemetry.proto.collector.metrics.v1.MetricsService",
  makeDecoder: (builder, yielder) => new MetricDecoder(builder, yielder),
};

export const signals: Readonly<Record<SignalName, Signal>> = {
  traces: traceSignal,
  logs: logSignal,
  metrics: metricSignal,
};
