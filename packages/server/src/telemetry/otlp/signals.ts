/** The three signals of OTLP: their messages, their words, and who decodes their records. */
import type { ResourceScope } from "./resource-scopes.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { LogDecoder } from "./logs.ts";
import type { MessageType } from "./message-type.ts";
import { logExport, metricExport, traceExport } from "./messages.ts";
import { MetricDecoder } from "./metrics.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { SpanDecoder } from "./spans.ts";

/** Turns the records of one request into rows. */
export interface RecordDecoder {
  /** Adds or rejects what the record holds. A promise when that takes more than one slice. */
  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void | Promise<void>;
  /** How many items the record holds, for the count of rejected ones. */
  count(bytes: Uint8Array, start: number, end: number): number;
}

export type SignalName = "traces" | "logs" | "metrics";

export interface Signal {
  readonly name: SignalName;
  readonly messages: {
    readonly request: MessageType;
    readonly resourceGroup: MessageType;
    readonly scopeGroup: MessageType;
  };
  /** What is counted, in words. */
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
