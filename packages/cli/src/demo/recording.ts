/** Records the sample application's activity as spans, logs and counts. */
import { randomBytes } from "node:crypto";
import type { Attributes, DemoCount, DemoLog, DemoSpan } from "./otlp.ts";
import type { Random } from "./random.ts";

export interface Recording {
  readonly spans: DemoSpan[];
  readonly logs: DemoLog[];
  readonly counts: DemoCount[];
}

/** Hexadecimal digits that differ in each run, also with the same seed, so that runs are separate traces and sessions. */
export function newId(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

type SpanStart = Pick<DemoSpan, "service" | "name" | "kind"> & { readonly attributes: Attributes };

/** A span that is being recorded: its own time advances with the work inside it. */
export class ActiveSpan {
  readonly span: DemoSpan;
  readonly #recording: Recording;
  readonly #random: Random;
  nowMs: number;

  private constructor(recording: Recording, random: Random, span: DemoSpan) {
    this.span = span;
    this.#recording = recording;
    this.#random = random;
    this.nowMs = span.startMs;
    recording.spans.push(span);
  }

  static root(recording: Recording, random: Random, start: SpanStart & { readonly startMs: number }): ActiveSpan {
    const ids = { traceId: newId(16), spanId: newId(8), parentSpanId: "" };
    return new ActiveSpan(recording, random, { ...start, ...ids, endMs: start.startMs });
  }

  /** Runs something within this span; time advances by its duration. */
  child(start: SpanStart, work: (child: ActiveSpan) => void): ActiveSpan {
    const ids = { traceId: this.span.traceId, spanId: newId(8), parentSpanId: this.span.spanId };
    const span: DemoSpan = { ...start, ...ids, startMs: this.nowMs, endMs: this.nowMs };
    const child = new ActiveSpan(this.#recording, this.#random, span);
    work(child);
    child.end();
    this.nowMs = child.nowMs;
    return child;
  }

  /** Advances time by about this much. */
  pass(medianMs: number): void {
    this.nowMs += this.#random.durationMs(medianMs);
  }

  log(severity: DemoLog["severity"], body: string, attributes: Attributes = {}): void {
    const { service, traceId, spanId } = this.span;
    this.#recording.logs.push({ service, timeMs: this.nowMs, severity, body, attributes, traceId, spanId });
  }

  add(attributes: Attributes): void {
    this.span.attributes = { ...this.span.attributes, ...attributes };
  }

  /** Marks the span as failed. */
  fail(message: string, type: string): void {
    this.span.error = message;
    this.add({ "error.type": type });
  }

  get failed(): boolean {
    return this.span.error !== undefined;
  }

  end(): void {
    this.span.endMs = this.nowMs;
  }
}
